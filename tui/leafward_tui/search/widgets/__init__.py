"""What the search of all text is drawn with."""
