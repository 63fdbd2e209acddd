"""The widgets of the Compare screen."""
