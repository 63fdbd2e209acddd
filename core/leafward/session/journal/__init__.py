"""Writing to a session: append-only operations under a lock, their log with undo and redo, migration, new files.

`session_operations` are the user's; `write` has the options and the result of any write. A write goes through `placement` (parents and form
of its lines), `open_file` (`lock`, and the proof that it is the file that was read) and `file_append` to `short_write`. `migration` is the one
exception to appending, `creation` makes new files. `operation_log` reads what was done.
"""
