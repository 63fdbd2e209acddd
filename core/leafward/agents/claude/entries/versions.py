"""Versions of Claude Code, and facts that only the version of a row tells."""

from __future__ import annotations

import re

from leafward.base.model_windows import native_window

_STORES_FILES = (2, 1, 150)
"""This version stores the files that it adds again behind a compaction; versions up to 2.1.48 hold them only in memory (tried)."""
_CLEARS_PICTURES = (2, 1, 38)
_WHOLE_SINCE = (2, 1, 285)
"""From this version on, models with a long window (4.7 and later) get it unasked; before, 2.1 gave all of them 200,000."""
_ASKED_FOR = re.compile(r"claude-(?:\d|[a-z]+-4(?:-[0-6])?(?:-20\d{6})?\Z)")
"""Models up to 4.6, which get their long window only on request."""


def numbers_of(version: object) -> tuple[int, ...] | None:
    """The three numbers of a version; None for any other value."""
    found = re.match(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})", version) if isinstance(version, str) else None
    return tuple(map(int, found.groups())) if found is not None else None


def holds_files_in_memory(version: object) -> bool:
    """Whether a version adds files again behind a compaction without storing them; an unknown version stores them."""
    numbers = numbers_of(version)
    return numbers is not None and numbers < _STORES_FILES


def clears_pictures(version: object) -> bool:
    """Whether a version's microcompaction clears pictures beside results (2.1.37 does not yet); an unknown version does not."""
    numbers = numbers_of(version)
    return numbers is not None and numbers >= _CLEARS_PICTURES


def window_of(version: object, model: str) -> int | None:
    """The window of a model in a version, in tokens; None where the model's name alone tells it."""
    numbers = numbers_of(version)
    if numbers is None or numbers < _WHOLE_SINCE or _ASKED_FOR.match(model):
        return None
    return native_window(model)
