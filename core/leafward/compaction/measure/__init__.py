"""The messages of a path, measured once; everything that plans, compares or draws a compaction reads these columns."""
