"""Panes of lines, what parts them and what stands over them."""
