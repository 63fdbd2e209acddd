"""Where opencode keeps sessions: its databases, its trees of files, its exports, and the records in all of them.

`store` finds them below the `data_root`; `database`, `trees` and `exports` open the three kinds, and give `records`. `sessions` lists what a
database holds, `newer_engine` reads that engine's messages, `recovery` what a damaged one still has, `excerpts` copies one session
out of it. `spool` keeps the bytes of a session while it is open; `row_seals` and `row_changes` tell what was written since.
"""
