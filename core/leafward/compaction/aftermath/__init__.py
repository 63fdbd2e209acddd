"""What was done again after a compaction because it was gone, for one compaction and added up over many."""
