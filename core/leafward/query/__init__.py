"""Finds sessions and entries by a query, and the turns that wrote the lines of a file.

Public: `grammar` (one language, read as one tree; `vocabulary` has its words), `search` (all text of all sessions, and their
cards), `select` (entries of one session by an expression), `blame` (which turn wrote each line of a file).
"""
