"""What a user carries on or leaves out by hand: context edits, grafts, merged summaries. All of it is appended, and undone as any move is."""

from __future__ import annotations
