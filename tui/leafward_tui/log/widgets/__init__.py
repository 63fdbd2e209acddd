"""The list of operations."""
