"""Entries that compactions keep beside their summaries.

A compaction is a row that begins it, perhaps attachments, and a summary. The kept rows lie before it, and it names them: they
come behind the summary, or before it where only later rows were summarised (Claude Code 2.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from leafward.agents.claude.inferred_parents import going_on
from leafward.agents.claude.records import Role
from leafward.session.entries import BOOKKEEPING, Kind

if TYPE_CHECKING:
    from array import array

    from leafward.agents.claude.row_notes import Boundary
    from leafward.agents.claude.row_parents import Rows
    from leafward.session.columns import Columns


_BETWEEN = BOOKKEEPING | {Kind.INJECTED, Kind.UNKNOWN, Kind.CONTEXT_EDIT}
"""Kinds that may stand between the row that begins a compaction and its summary."""


class KeptEntries(NamedTuple):
    """The entries beside a summary, in the order of the context."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    between: tuple[int, ...] = ()
    """Entries of `before` that were added with the compaction itself."""


class PlacedRows(Protocol):
    """The rows of a transcript once they are entries."""

    rows: Rows
    columns: Columns
    order: array[int]
    """The row of each entry."""
    entry: array[int]
    """The first entry of each row; -1 for a row without one."""
    kept: dict[int, KeptEntries]
    """The entries kept beside the summary of each compaction; filled here."""
    boundary: dict[int, int]
    """Offset of the row that begins each compaction, in bytes; filled here."""
    kept_until: dict[int, int]
    """Entries that continue from inside a compaction's kept entries, with the last kept entry that is sent there; filled here."""


def find_kept(placed: PlacedRows) -> None:
    """Fills in the kept entries of every compaction; a boundary without a summary counts as one itself."""
    rows, columns = placed.rows, placed.columns
    if not rows.boundaries and Kind.COMPACTION not in columns.kind:
        return
    keys = {key for one in rows.boundaries.values() for key in (*one.kept, one.anchor)}
    keys |= {key for one in rows.boundaries.values() if one.segment and not one.kept for key in one.segment}
    found = rows.find(keys)
    claimed: set[int] = set()
    for entry in [index for index, kind in enumerate(columns.kind) if kind == Kind.COMPACTION]:
        between: list[int] = []
        at = columns.parent[entry]
        while at >= 0 and rows.role[placed.order[at]] != Role.BOUNDARY and columns.kind[at] in _BETWEEN:
            between.append(at)
            at = columns.parent[at]
        row = placed.order[at] if at >= 0 else -1
        if row in rows.boundaries:
            claimed.add(row)
            _keep(placed, entry, row, rows.boundaries[row], between[::-1], found)
        else:
            placed.kept[entry] = KeptEntries((), ())
    for row, boundary in rows.boundaries.items():
        if row not in claimed:
            entry = placed.entry[row]
            columns.kind[entry] = Kind.COMPACTION
            _keep(placed, entry, row, boundary, [], found)
    for row in going_on(rows, rows.kept_until):
        _shorten(placed, row, rows.kept_until[row])


def _shorten(placed: PlacedRows, row: int, last: int) -> None:
    """Notes how many kept entries of a compaction are sent below a row that follows one of its kept rows."""
    compaction = placed.columns.parent[placed.entry[row]]
    while compaction >= 0 and compaction not in placed.kept:
        compaction = placed.columns.parent[compaction]
    after = placed.kept[compaction].after if compaction >= 0 else ()
    end = placed.entry[last] + placed.rows.parts.get(last, 1)
    sent = [entry for entry in after if entry < end]
    if len(sent) < len(after):
        placed.kept_until[placed.entry[row]] = sent[-1] if sent else -1


def _keep(
    placed: PlacedRows,
    entry: int,
    row: int,
    boundary: Boundary,
    between: list[int],
    found: dict[bytes, int],
) -> None:
    placed.boundary[entry] = placed.rows.start[row]
    kept = _entries(placed, [found[key] for key in boundary.kept if key in found])
    if not boundary.kept and boundary.segment is not None:
        kept = _stretch(placed, *(found.get(key, -1) for key in boundary.segment))
    spoken = [index for index in between if placed.columns.kind[index] == Kind.INJECTED]
    anchor = found.get(boundary.anchor, -1)
    place = placed.entry[anchor] if anchor >= 0 else -1
    if kept and (anchor == row or place in between):
        ahead = [
            index for index in spoken if place in between and between.index(index) <= between.index(place)
        ]
        rest = [index for index in spoken if index not in ahead]
        placed.kept[entry] = KeptEntries((*ahead, *kept, *rest), (), tuple(spoken))
    else:
        placed.kept[entry] = KeptEntries(tuple(spoken), tuple(kept), tuple(spoken))


def _entries(placed: PlacedRows, rows: list[int]) -> list[int]:
    """The entries of some rows that have content, each once."""
    found: dict[int, None] = {}
    for row in rows:
        for index in range(placed.entry[row], placed.entry[row] + placed.rows.parts.get(row, 1)):
            if placed.columns.kind[index] not in BOOKKEEPING:
                found.setdefault(index)
    return list(found)


def _stretch(placed: PlacedRows, head: int, tail: int) -> list[int]:
    """The entries from one row up to another one below it."""
    if head < 0 or tail < 0:
        return []
    found: list[int] = []
    at, first = placed.entry[tail], placed.entry[head]
    while at >= 0:
        if placed.columns.kind[at] not in BOOKKEEPING:
            found.append(at)
        if at == first:
            return found[::-1]
        at = placed.columns.parent[at]
    return []
