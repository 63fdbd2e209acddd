"""Searches of sessions: by their cards on every key press, and by all text in them."""
