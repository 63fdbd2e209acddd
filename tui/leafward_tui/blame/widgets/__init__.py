"""The lines of a file with their authors, and the facts of one of them."""
