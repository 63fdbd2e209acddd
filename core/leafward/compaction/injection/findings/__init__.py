"""Findings on a path: read once for all builders, and kept for the next time."""
