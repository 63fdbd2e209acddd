"""Controllers of the search; they know the screen by its port only."""
