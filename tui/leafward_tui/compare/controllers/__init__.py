"""Controllers of the comparison: each owns a part of the state and knows the screen by its port only."""
