"""Files that summarised messages read and modified: carried on from compaction to compaction, and bounded.

Paths are as the agent wrote them in its calls, so that pi can continue the lists. pi 1.5.2 lets them grow for ever; here
both together stay within a budget of code points, with modified and recent files first.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import chain, compress
from typing import TYPE_CHECKING

from leafward.files.file_names import utf16_order

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Sequence

    from leafward.session.entries import Body

_SHARE_OF_READ = 4
"""Part of the budget, one in so many, reserved for read files if there are any."""
_READS = bytes(not modifies for modifies in range(256))


@dataclass(frozen=True, slots=True)
class Touches:
    """Files named by calls, in the order of the calls, as columns. Positions never decrease."""

    position: array[int]
    path: tuple[str, ...]
    modifies: bytes
    """1 if the call writes or edits, 0 if it reads."""

    def __len__(self) -> int:
        return len(self.path)


@dataclass(frozen=True, slots=True)
class FileLists:
    """Files read and modified, each sorted as pi sorts them; a modified file is not listed as read (pi 1.5.2)."""

    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    omitted_read: int = 0
    """Number of files that do not fit the budget."""
    omitted_modified: int = 0

    @property
    def omitted(self) -> int:
        """Number of files left out of both lists."""
        return self.omitted_read + self.omitted_modified

    @property
    def size(self) -> int:
        """Code points of both lists, with one line for each file."""
        return sum(len(path) + 1 for path in (*self.read, *self.modified))

    @classmethod
    def stored(cls, compaction: Body) -> FileLists | None:
        """The lists in a compaction entry; None if an extension wrote it, or if it has none (pi 1.5.2)."""
        details = compaction.get("details")
        if compaction.get("fromHook") or not isinstance(details, dict):
            return None
        return cls(_paths(details.get("readFiles")), _paths(details.get("modifiedFiles")))


def _paths(listed: object) -> tuple[str, ...]:
    return tuple(path for path in listed if isinstance(path, str)) if isinstance(listed, list) else ()


def file_lists(touches: Touches, stop: int, previous: FileLists | None, budget: int | None) -> FileLists:
    """The files of all calls before a position and of an earlier compaction; `budget` in code points, None for all."""
    only_read, changed = recent_first(touches, stop, previous)
    if budget is None:
        return FileLists(_sorted(only_read), _sorted(changed))
    for_read = min(budget // _SHARE_OF_READ, sum(len(path) + 1 for path in only_read))
    kept_changed = _within(changed, budget - for_read)
    kept_read = _within(only_read, budget - sum(len(path) + 1 for path in kept_changed))
    return FileLists(
        _sorted(kept_read),
        _sorted(kept_changed),
        len(only_read) - len(kept_read),
        len(changed) - len(kept_changed),
    )


def stored_lists(read: Iterable[str], modified: Iterable[str]) -> dict[str, list[str]]:
    """The lists in the form of an entry's details, sorted as pi 1.5.2 sorts them."""
    return {
        "readFiles": sorted(read, key=utf16_order),
        "modifiedFiles": sorted(modified, key=utf16_order),
    }


def recent_first(touches: Touches, stop: int, previous: FileLists | None) -> tuple[list[str], list[str]]:
    """The files before a position as two lists, only read and modified, the most recent first."""
    end = bisect_left(touches.position, stop)
    paths, modifies = touches.path[:end][::-1], touches.modifies[:end][::-1]
    # Carried files are older than everything on the path.
    carried = previous if previous is not None else FileLists()
    modified, read = (
        dict.fromkeys(chain(compress(paths, those), reversed(dict.fromkeys(older))))
        for those, older in ((modifies, carried.modified), (modifies.translate(_READS), carried.read))
    )
    return [path for path in read if path not in modified], list(modified)


def _sorted(paths: Sequence[str]) -> tuple[str, ...]:
    # In ASCII both orders are the same, and a step of a slider sorts some hundred paths.
    return tuple(sorted(paths) if all(map(str.isascii, paths)) else sorted(paths, key=utf16_order))


def _within(paths: list[str], budget: int) -> list[str]:
    """The first paths that fit; a path that is too long is skipped."""
    kept = []
    for path in paths:
        if len(path) + 1 <= budget:
            budget -= len(path) + 1
            kept.append(path)
    return kept
