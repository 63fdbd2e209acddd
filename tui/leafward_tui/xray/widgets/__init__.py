"""The widgets of the X-ray screen, drawn line by line."""
