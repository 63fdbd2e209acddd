"""The tree that the entries of a session make, and the places of its rows."""
