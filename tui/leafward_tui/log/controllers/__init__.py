"""The operation log: its reading, undo and redo, and the keys of its rows."""
