"""The widgets of the explorer."""
