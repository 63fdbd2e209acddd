"""The widgets of the catalogue."""
