"""The list of results, and the text of a hit."""
