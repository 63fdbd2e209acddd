"""What a compaction entry stores: the text with its lines, the file lists, the pins, and where all of it came from."""
