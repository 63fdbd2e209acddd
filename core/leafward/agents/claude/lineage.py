"""The source that a transcript was copied from.

A copy keeps the ids of its rows (Claude Code 1.0 to 2.1): rows of `/branch` and of newer forks name their source; those of older
forks and old resumptions only share ids. Where 1.0.38 and 1.0.60 resume, rows get new ids: those copies have no source here.
"""

from __future__ import annotations

import os
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.base import is_folder
from leafward.agents.claude.entries.records import KEY, NAMED, key_of
from leafward.agents.claude.file_cache import OfFiles, OfFolders
from leafward.agents.claude.store import PROJECTS, SUFFIX, is_uuid, stem, transcripts_in
from leafward.agents.storage.lines import pieces_of
from leafward.base.late_pattern import late
from leafward.base.regular_files import open_regular
from leafward.base.times import milliseconds
from leafward.session.entries import FORK, INFERRED

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    from leafward.agents.claude.entries.transcript_rows import Rows

_UUID = late(rb'"uuid"\s*:\s*"([^"\\]{1,80})"')
_TIME = late(rb'"timestamp"\s*:\s*"([^"\\]{1,40})"')
_COST = late(rb'"totalCostUSD"\s*:\s*([0-9.eE+-]{1,30})')
_BEGAN = late(rb'"startTime"\s*:\s*(\d{1,20})')
_HEAD = 1 << 15
_HEADS_AT_MOST = 1 << 19
"""Bytes at either end that are searched for a row with an id."""
_LATER = 1000
"""Milliseconds from the first row to the beginning of the file, from which the row counts as older than the file."""


class ForkParent(NamedTuple):
    """The source of a transcript."""

    path: str
    relation: str
    """`fork`, or `inferred` where only shared rows show it."""
    copied: int
    """Rows from the first on that the source holds too."""


class Ends(NamedTuple):
    """The ids that a transcript begins and ends with."""

    first: bytes
    last: bytes
    copied: bool
    """Whether the file is younger than its first row."""


class _Project(NamedTuple):
    """The transcripts of a folder, by their first row."""

    paths: list[str]
    by_first: dict[bytes, list[str]]
    silent: list[str]
    """Transcripts that held no row yet."""


class SourceFinder:
    """Finds sources among the transcripts of a project; keeps the ends that it read."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._ends = OfFiles(_read_ends)
        self._projects = OfFolders(self._project, clock)

    def origin(self, path: str, rows: Rows) -> ForkParent | None:
        """The source of a transcript; None where nothing shows that it is a copy."""
        named = rows.notes.facts.source
        if named is not None and named != stem(path):
            source = _named(path, named)
            if source is None:
                # Nobody else counts the copied rows.
                return ForkParent(named, FORK, 0)
            return ForkParent(source, FORK, max(_shared(source, rows), rows.notes.facts.copied))
        source = self._like(path, rows)
        return ForkParent(source, INFERRED, _shared(source, rows)) if source is not None else None

    def _like(self, path: str, rows: Rows) -> str | None:
        """The transcript beside it that holds its first row and was not copied from it."""
        first = next((row for row, flags in enumerate(rows.flags) if flags & NAMED), -1)
        if first < 0:
            return None
        name = bytes(rows.keys[first * KEY : (first + 1) * KEY])
        mine = self._ends.of(path)
        cut = first in rows.notes.boundaries and rows.notes.boundaries[first].missing
        ended: list[tuple[int, str]] = []
        marked: list[tuple[int, str]] = []
        project = self._projects.of(os.path.dirname(path))
        like = project.paths if cut else [*project.by_first.get(name, ()), *project.silent]
        for sibling in like:
            if sibling == path:
                continue
            ends = self._ends.of(sibling)
            if ends is None or (ends.first != name and not (cut and _holds(sibling, name))):
                continue
            at = rows.find({ends.last}).get(ends.last, -1)
            if at >= 0 and mine is not None and (ends.last != mine.last or _younger(path, sibling)):
                ended.append((at, sibling))
            elif at < 0 and mine is not None and (mine.copied or cut) and not ends.copied:
                marked.append((_shared(sibling, rows), sibling))
        found = ended or marked
        return max(found, key=lambda one: (one[0], -len(one[1]), one[1]))[1] if found else None

    def _project(self, folder: str) -> _Project:
        """The transcripts of a folder."""
        found = _Project(transcripts_in(folder, of_subagents=False), {}, [])
        for path in found.paths:
            ends = self._ends.of(path)
            if ends is None:
                found.silent.append(path)
            else:
                found.by_first.setdefault(ends.first, []).append(path)
        return found


def _named(path: str, session: str) -> str | None:
    """The transcript of a session: beside another one, else in another project."""
    folder, name = os.path.dirname(path), session + SUFFIX
    if not is_uuid(session) and os.sep in session:
        return None
    beside = os.path.join(folder, name)
    if os.path.exists(beside):
        return beside
    above = os.path.dirname(folder)
    if os.path.basename(above) == PROJECTS:
        try:
            with os.scandir(above) as entries:
                places = [os.path.join(entry.path, name) for entry in entries if is_folder(entry)]
        except OSError:
            return None
        return next(filter(os.path.exists, places), None)
    return None


def _younger(path: str, other: str) -> bool:
    """Whether a transcript was written behind another one with the same rows, or has the later name; False where one is gone."""
    try:
        return (os.stat(path).st_mtime_ns, path) > (os.stat(other).st_mtime_ns, other)
    except OSError:
        return False


def _read_ends(path: str, size: int) -> Ends | None:
    with open_regular(path) as file:
        head, step = b"", _HEAD
        while (found := _UUID.search(head)) is None and len(head) < min(size, _HEADS_AT_MOST):
            more = file.read(step)
            if not more:
                break
            head += more
            step *= 2
        if found is None:
            return None
        line = head.rfind(b"\n", 0, found.start()) + 1
        end = head.find(b"\n", line)
        own = _TIME.search(head, line, end if end >= 0 else len(head))
        before = _TIME.search(head, 0, line)
        tail, step = b"", _HEAD
        last: deque[re.Match[bytes]] = deque()
        while not last and step <= _HEADS_AT_MOST:
            file.seek(max(0, size - step))
            tail = file.read(step)
            last = deque(_UUID.finditer(tail), 1)
            step *= 4
    began = milliseconds(before[1].decode("ascii", "replace")) if before is not None else None
    spoken = milliseconds(own[1].decode("ascii", "replace")) if own is not None else None
    copied = began is not None and spoken is not None and began > spoken + _LATER
    return Ends(
        key_of(found[1].decode("utf-8", "replace")),
        key_of((last[0] if last else found)[1].decode("utf-8", "replace")),
        copied,
    )


def _written(key: bytes) -> bytes:
    """An id as rows contain it."""
    name = key.hex()
    return f'"uuid":"{name[:8]}-{name[8:12]}-{name[12:16]}-{name[16:20]}-{name[20:]}"'.encode()


def _holds(path: str, key: bytes) -> bool:
    try:
        written = _written(key)
        return any(written in piece for piece in pieces_of(path))
    except (OSError, ValueError):
        return False


def spent_before(path: str, total: float, began: object) -> float:
    """The largest cost that a transcript records, up to a total, in US dollars; 0 where it records none.

    `began` is the start recorded beside the total: a total continues a total of the same start; any other one began at 0.
    """
    found = 0.0
    try:
        for content in pieces_of(path):
            for one in _COST.finditer(content):
                spent = float(one[1])
                end = content.find(b"\n", one.end())
                line = content[content.rfind(b"\n", 0, one.start()) + 1 : end if end >= 0 else len(content)]
                start = _BEGAN.search(line)
                if start is not None and isinstance(began, int) and int(start[1]) != began:
                    continue
                found = spent if found < spent <= total else found
    except (OSError, ValueError):
        return 0.0
    return found


def _shared(path: str, rows: Rows) -> int:
    """The number of rows from the first on that another transcript holds; copies stand together at the beginning."""
    named = [row for row, flags in enumerate(rows.flags) if flags & NAMED]
    low, high = 0, len(named)
    try:
        while low < high:
            middle = (low + high) // 2
            row = named[middle]
            written = _written(bytes(rows.keys[row * KEY : (row + 1) * KEY]))
            if any(written in piece for piece in pieces_of(path)):
                low = middle + 1
            else:
                high = middle
    except (OSError, ValueError):
        return 0
    return named[low - 1] + 1 if low else 0
