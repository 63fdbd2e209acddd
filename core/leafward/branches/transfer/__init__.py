"""Content carried over or left out by hand: context edits, grafts, merged summaries. All is appended, and undone like a move."""
