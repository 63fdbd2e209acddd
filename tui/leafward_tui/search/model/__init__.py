"""The results of a search of all text as lines, by session. Pure."""
