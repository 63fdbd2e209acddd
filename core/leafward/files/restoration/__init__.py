"""Restoring files in the project to their state at an entry: the planned changes, writing them with copies, and the undo."""
