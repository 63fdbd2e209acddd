"""The choice of lines: what each is worth, and what has room."""
