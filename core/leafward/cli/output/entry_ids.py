"""Short ids of entries, as lists of them show: what is shown can be typed."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.session.entries import EntryIndex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.session.session import Session

_SHORTEST_ID, _LONGEST_ID = 8, 20


def shown_ids(session: Session, entries: Iterable[int]) -> dict[int, str]:
    """Short ids of entries for a list: as much of each id as distinguishes it from all others, so that it can be typed.

    At least eight characters; opencode's ids begin with the time and need more. None is longer than `_LONGEST_ID`.
    """
    listed = {entry: session.columns.id(EntryIndex(entry)) for entry in entries if entry >= 0}
    every = sorted({session.columns.id(EntryIndex(entry)) for entry in range(len(session))})
    sizes: dict[str, int] = {}
    for name in listed.values():
        at = bisect_left(every, name)
        beside = (*every[max(0, at - 1) : at], *every[at + 1 : at + 2])
        alike = max((_alike(name, other) for other in beside), default=0)
        sizes[name] = min(max(_SHORTEST_ID, alike + 1), _LONGEST_ID)
    return {entry: safe_line(name[: sizes[name]], _LONGEST_ID) for entry, name in listed.items()}


def _alike(one: str, other: str) -> int:
    """Length of the common beginning of two ids."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
