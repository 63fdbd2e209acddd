"""The compaction lab: the effect of a compaction at some point, before and without compacting."""
