"""What the verbs write: text in terminal cells, JSON, progress."""
