"""Compaction of a path by the rules of pi, Codex or opencode: planned, carried out and judged.

In the order in which one is made: `measure` reads a path once; `strategies` divide it by an agent's rules; `plan` is what a
compaction would do, fast enough to follow a slider, and `plan/onset` when an agent makes the next one by itself; `injection`
is the context beside a summary, `stored_summary` what an entry stores, `draft` a compaction before it is written, with its
gate. Afterwards `xray` shows what one replaced, `exam` asks what the model still knows, `aftermath` finds what it did again.
`branch_summary` summarises the branch that a move leaves.
"""
