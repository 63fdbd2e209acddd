"""The lines of the tree, the overview of the path, the ghost of a move, the choices of a fork or summary. Pure."""
