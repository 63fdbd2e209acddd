"""What a compaction would do, and when one is due: a pure function of a measured path and of settings."""
