"""Writing to a session: append-only operations under a lock, their log with undo and redo, migration, new files."""
