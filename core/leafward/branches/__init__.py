"""Branches of one session: two entries compared, work carried from one to the other, a new session from any entry.

Public: `diff` (differences of two entries), `transfer` (context edits, grafts, merged summaries, pinned facts), `fork` (a new session),
`relocation` (forks for a renamed folder), `healing` (changes that make a refused context acceptable), `line_reason` (why a turn wrote a line).
"""
