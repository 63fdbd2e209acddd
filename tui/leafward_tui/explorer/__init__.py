"""The explorer: a session as a tree, the content of its entries, and the effect of a move of the leaf."""
