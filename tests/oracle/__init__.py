"""Tests against the real agents, and results of the real pi as data."""
