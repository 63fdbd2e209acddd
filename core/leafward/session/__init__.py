"""One session as a value: columns and tree of its entries, its file, its sidecar, and the one road for all writing.

`session` has the value, `source` what it is read from: a `native_file`, or another agent's files (`foreign`) with our `sidecar`.
`scan` reads bytes to `columns`, over which `tree` and `tree_layout` stand; `entry_decoding` makes one entry of its line.
`entries` has the vocabulary of all, `messages` what an entry says to a model, `tokens` its estimate, `entry_headline` and
`session_title` its words on a screen. `journal` writes: append, undo, migration.
"""
