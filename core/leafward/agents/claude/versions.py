"""Versions of Claude Code, and facts that only the version of a row tells."""

from __future__ import annotations

import re

_STORES_FILES = (2, 1, 150)
"""This version stores the files that it adds again behind a compaction; versions up to 2.1.48 hold them only in memory (tried)."""


def numbers_of(version: object) -> tuple[int, ...] | None:
    """The three numbers of a version; None for any other value."""
    found = re.match(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})", version) if isinstance(version, str) else None
    return tuple(map(int, found.groups())) if found is not None else None


def holds_files_in_memory(version: object) -> bool:
    """Whether a version adds files again behind a compaction without storing them; an unknown version stores them."""
    numbers = numbers_of(version)
    return numbers is not None and numbers < _STORES_FILES
