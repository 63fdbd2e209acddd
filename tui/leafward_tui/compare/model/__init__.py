"""Two entries compared, as values: what stands in each pane of the Compare screen."""
