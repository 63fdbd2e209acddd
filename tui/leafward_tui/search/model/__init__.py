"""The content of the search of all text, as values. Pure."""
