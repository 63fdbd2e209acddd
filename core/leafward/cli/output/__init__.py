"""The output of the verbs: text in terminal cells, JSON, progress."""
