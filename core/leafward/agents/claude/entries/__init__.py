"""The rows of a transcript, and the entries that they make: their parents, ids and native bodies.

In the order of reading: `blocks` reads many lines at once by their `shapes`, `records` tells the role of each row, `transcript_rows` has all of
a file as columns, with `row_notes` of what rows say about others; `inferred_parents` hangs up the rows whose parent is missing.
`entry_builder` and `row_entries` make entries of rows, `compactions`, `left_out` and `requests` find what was really sent,
`position` where the conversation stands. `translation` gives the body of one entry, by `contents` and `attachments`.
"""
