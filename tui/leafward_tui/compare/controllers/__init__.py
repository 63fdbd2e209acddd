"""What the keys of the comparison do: each controller owns a part of the state and knows the screen by its port only."""
