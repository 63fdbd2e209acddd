"""The X-ray screen: the context before a compaction beside the one after it, and summaries compared.

It hands a task back to its opener.
"""
