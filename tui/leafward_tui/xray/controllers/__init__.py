"""Controllers of the X-ray: each owns a part of the state and knows the screen by its port only."""
