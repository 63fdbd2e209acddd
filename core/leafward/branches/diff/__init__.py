"""Differences between two entries of a session: files, their contents, contexts, summaries, outcomes.

The common ancestor is the base: what lies above it is shared, and each side is what its path adds below.
"""
