"""The context before and after a compaction, aligned: the fate of each message, and the sources of each line."""
