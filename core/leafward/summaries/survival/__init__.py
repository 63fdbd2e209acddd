"""What survival is judged by: the messages of a span, read once, and whether a text still has a fact."""
