"""Leafward among the programs that an agent runs around a compaction: what a hook is, and the two forms in which agents keep theirs."""
