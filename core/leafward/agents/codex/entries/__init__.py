"""The lines of rollouts, and the entries that they make: their links, ids and native bodies.

In the order of reading: `records` tells the role of each line, `prompts` what a person typed, `responses` which lines are one reply;
`entry_builder` makes entries of them on the `current_path`, which `rollbacks` shorten, and `runs` does so ahead in another process.
`compactions` and `compaction_entries` find what a compaction keeps, by `message_keys`. `translation` gives the body of one entry,
by `items`, `call_ends`, `code_mode` and `tasks`.
"""
