"""Versions of opencode, and facts that only the version of a session tells."""

from __future__ import annotations

import re

_TAIL_BEHIND = (1, 14, 41)
"""This version sends the kept messages of a compaction behind its summary; 1.14.34 sends them in the order of time (tried)."""


def sends_tail_first(version: str) -> bool:
    """Whether a version sends the kept messages of a compaction before its summary; an unknown version sends them behind."""
    found = re.match(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})", version)
    return found is not None and tuple(map(int, found.groups())) < _TAIL_BEHIND
