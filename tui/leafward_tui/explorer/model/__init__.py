"""The content of the explorer, as values. Pure."""
