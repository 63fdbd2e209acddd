"""Differences between two entries of a session: files, their contents, contexts, summaries, outcomes.

The common ancestor is the base: both share the entries above it, and each side is the entries that its path adds below.
"""
