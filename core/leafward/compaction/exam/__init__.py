"""The exam of a compaction: closed-book questions about the replaced part, graded by the context afterwards."""
