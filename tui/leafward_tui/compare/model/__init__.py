"""Two entries compared, as values: the content of each pane of the Compare screen. Pure."""
