"""Widgets of the search of all text."""
