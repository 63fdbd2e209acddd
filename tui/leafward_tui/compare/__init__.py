"""The Compare screen: two entries of a session over their common ancestor.

It compares files, contents, contexts, summaries and outcome, and hands a task back to the explorer, which alone writes.
"""
