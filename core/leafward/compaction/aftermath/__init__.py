"""The aftermath: work that was repeated after a compaction because its results were gone, for one compaction and added up over many."""
