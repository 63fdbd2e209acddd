"""The rows of a transcript that make up a session which ends at one of them.

Claude Code goes back from the last row by `parentUuid`, over a compaction by `logicalParentUuid`. That alone would lose
parallel calls: each of their results hangs on its own row, so the rows of a reply and the results on them are included.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from leafward.agents.claude.entries.inferred_parents import settle
from leafward.agents.claude.entries.left_out import leave_out
from leafward.agents.claude.entries.records import NAMED, NO_KEY, REPLIES, SIDECHAIN, Role
from leafward.agents.claude.entries.transcript_rows import Rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.agents.claude.source import TranscriptFile
    from leafward.session.columns import Columns

_SILENT = frozenset({Role.QUIET})


def rows_again(file: TranscriptFile, size: int) -> Rows:
    """The rows in the first bytes of a transcript, with the parents that they name."""
    rows = Rows()
    for data, whole, at in file.blocks():
        if not whole:
            rows.read_unterminated(data, at)
        end = at + file.extent(at, whole)
        if whole and end > size:
            whole, end = data.find(b"\n", size - at - 1) + 1, size
        rows.feed(data, whole, at)
        if end >= size:
            break
    leave_out(rows, file.line)
    settle(rows)
    rows.spread()
    return rows


def row_at(rows: Rows, offset: int) -> int:
    """The row that begins at an offset of the file; -1 without one."""
    row = bisect_left(rows.start, offset)
    return row if row < len(rows) and rows.start[row] == offset else -1


def row_of(rows: Rows, columns: Columns, entry: int) -> int:
    """The row in the chain that an entry ends with; -1 for an entry without one: metadata, or a damaged line."""
    row = row_at(rows, columns.start[entry])
    if row < 0 or not rows.flags[row] & NAMED or rows.role[row] not in REPLIES:
        return row if row >= 0 and rows.flags[row] & NAMED else -1
    first = rows.reply[row]
    return max(other for other in range(row, len(rows)) if rows.reply[other] == first)


def following(rows: Rows, row: int, roles: frozenset[Role]) -> int:
    """The last row that follows a row in the chain while nobody speaks: only rows of these roles."""
    below: dict[int, int] = {}
    for other in range(len(rows) - 1, -1, -1):
        if rows.flags[other] & NAMED and rows.role[other] in roles:
            below[rows.parent[other]] = other
    seen = {row}
    while (further := below.get(row, -1)) >= 0 and further not in seen:
        row = further
        seen.add(row)
    return row


class ResumedRows:
    """The rows that make up a session which ends at a row."""

    def __init__(self, rows: Rows, target: int) -> None:
        self.rows = rows
        self.marks = bytearray(len(rows))
        """A byte for each row: whether it is kept."""
        self._fresh: list[int] = []
        self._spoken_above: dict[int, int] = {}
        """The nearest row above a row of progress that is none itself."""
        replies, results, doubles = self._groups()
        keys = {key for one in rows.notes.boundaries.values() for key in (*one.kept, *(one.segment or ()))}
        named = rows.find(keys - {NO_KEY})
        self._left_out = {rows.reply[row] for row in rows.left_out} - {rows.reply[target]}
        self._climb(target)
        while self._fresh:
            row = self._fresh.pop()
            if rows.role[row] in REPLIES:
                # Once for the whole reply: it may have thousands of rows.
                self._all(replies.pop(rows.reply[row], ()))
            self._all(results.get(row, ()))
            for other in doubles.get(row, ()):
                self.marks[other] = 1
            boundary = rows.notes.boundaries.get(row)
            if boundary is not None:
                ends = boundary.kept or boundary.segment or ()
                self._all(named[key] for key in ends if key in named)
        for row, first in enumerate(rows.reply):
            if first in self._left_out and rows.role[row] in REPLIES:
                self.marks[row] = 0

    def _groups(self) -> tuple[dict[int, list[int]], dict[int, list[int]], dict[int, list[int]]]:
        """Rows of each reply, results on each row, rows that share the id of another row."""
        rows = self.rows
        replies: dict[int, list[int]] = {}
        results: dict[int, list[int]] = {}
        for row, role in enumerate(rows.role):
            if not rows.flags[row] & NAMED:
                continue
            if role in REPLIES:
                replies.setdefault(rows.reply[row], []).append(row)
            elif role == Role.RESULT:
                results.setdefault(self._caller(row), []).append(row)
        doubles: dict[int, list[int]] = {}
        for row, first in rows.doubled.items():
            doubles.setdefault(first, []).append(row)
        return replies, results, doubles

    def _caller(self, row: int) -> int:
        """The parent of a result; rows of progress between the two do not count."""
        rows = self.rows
        above, passed = rows.parent[row], list[int]()
        for _ in range(len(rows)):
            if above < 0 or rows.role[above] not in _SILENT:
                break
            passed.append(above)
            # Over rows that an earlier result passed in one step: a run of progress may be long, and have many results.
            above = self._spoken_above.get(above, rows.parent[above])
        self._spoken_above.update(dict.fromkeys(passed, above))
        side = rows.flags[row] & SIDECHAIN
        return above if above >= 0 and rows.flags[above] & SIDECHAIN == side else -1

    def _all(self, some: Iterable[int]) -> None:
        for row in some:
            self._climb(row)

    def _climb(self, row: int) -> None:
        while row >= 0 and not self.marks[row]:
            self.marks[row] = 1
            self._fresh.append(row)
            row = self.rows.parent[row]
