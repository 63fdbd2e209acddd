"""Versions of Claude Code, and what only the version tells that wrote a row."""

from __future__ import annotations

import re

_STORES_FILES = (2, 1, 150)
"""This version stores the files that it puts in again behind a compaction; up to 2.1.48 they are in memory alone (tried)."""


def numbers_of(version: object) -> tuple[int, ...] | None:
    """The three numbers of a version; None where it is none."""
    found = re.match(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})", version) if isinstance(version, str) else None
    return tuple(map(int, found.groups())) if found is not None else None


def holds_files_in_memory(version: object) -> bool:
    """Whether a version puts files in again behind a compaction without storing them; one that is not known stores them."""
    numbers = numbers_of(version)
    return numbers is not None and numbers < _STORES_FILES
