"""The panes of the lab and the line of its state; they show lines made by the model."""
