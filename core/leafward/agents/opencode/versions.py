"""Versions of opencode, and what only the version tells that began a session."""

from __future__ import annotations

import re

_TAIL_BEHIND = (1, 14, 41)
"""This version sends what a compaction keeps behind its summary; 1.14.34 sends it in the order of time (tried)."""


def sends_tail_first(version: str) -> bool:
    """Whether a version sends what a compaction keeps before its summary; one that is not known sends it behind."""
    found = re.match(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})", version)
    return found is not None and tuple(map(int, found.groups())) < _TAIL_BEHIND
