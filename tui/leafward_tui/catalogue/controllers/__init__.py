"""Controllers of the catalogue, each with a state of its own; they know the screen by its port only."""
