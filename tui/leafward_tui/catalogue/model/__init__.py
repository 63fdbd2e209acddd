"""The content of the catalogue, as values. Pure."""
