"""The user's requests: open, answered, taken back or passed over, and how each is told."""
