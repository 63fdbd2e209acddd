"""The right pane of the explorer: pure builders of pages, and the widget that shows them."""
