"""The controller of the inspector; it knows the pane by its port only."""
