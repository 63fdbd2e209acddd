"""Rebuilt contents: the files as the recorded calls of a path left them, each exact, partial or unknown."""
