"""A module for each verb, or for each kind of verb; none imports another."""
