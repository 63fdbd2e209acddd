"""Compaction of a path by the rules of pi, Codex or opencode: planned, carried out and judged.

`measure` reads a path once; `plan` is a pure function of that and of settings, fast enough to follow a slider. `draft` is a
compaction with its summary before it is written, `repair` the correction of one that is stored, `branch_summary` the summary of
a branch that a move leaves, `injection` the context beside a summary. `onset` tells when an agent compacts next by itself,
`gate` what a summary would lose, `xray` what one replaced; `exam` asks what the model still knows afterwards, `aftermath`
finds what it did again.
"""
