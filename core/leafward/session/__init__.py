"""One session as a value: columns and tree of its entries, its file, its sidecar, and the one road for all writing.

`session` has the value, `source` what it is read from: a `native_file`, or another agent's files (`foreign`) with our `sidecar`.
`lines` reads bytes to `columns`, and a single line to an entry; over the columns stands the `tree`. `entries` has the vocabulary
of all, `messages` what an entry says to a model, `tokens` its estimate, `headlines` its words on a screen. `journal` writes:
append, undo, migration.
"""
