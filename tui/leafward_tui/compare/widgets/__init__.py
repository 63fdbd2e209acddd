"""The head of the comparison, and its page of files."""
