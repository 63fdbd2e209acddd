"""What the keys of the X-ray do: each controller owns a part of the state and knows the screen by its port only."""
