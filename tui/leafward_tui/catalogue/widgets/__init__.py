"""The list of sessions with its head, and the preview beside it."""
