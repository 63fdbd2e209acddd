"""Content that a user carries over or leaves out by hand: context edits, grafts, merged summaries. All of it is appended, and undone like any move."""

from __future__ import annotations
