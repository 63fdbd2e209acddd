"""Controllers of the blame; they know the screen by its port only."""
