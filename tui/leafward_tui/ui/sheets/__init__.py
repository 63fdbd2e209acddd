"""Sheets and modals: choices, a line of text, a text to read, the list of keys."""
