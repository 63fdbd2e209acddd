"""The compaction lab as values: the choices, the rows of a plan, and the lines of the panes. No widget.

Nothing here reads a file or decodes an entry: the path was measured once, and the headline of a line is handed in.
"""
