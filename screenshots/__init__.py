"""Pictures of the real screens for the README: `python -m screenshots` makes all of them."""
