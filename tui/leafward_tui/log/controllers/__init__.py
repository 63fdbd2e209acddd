"""Controllers of the operation log; they know the screen by its port only."""
