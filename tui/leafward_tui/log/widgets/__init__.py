"""The widgets of the operation log."""
