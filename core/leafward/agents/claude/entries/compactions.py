"""Entries that compactions keep beside their summaries.

A compaction is a row that begins it, perhaps attachments, and a summary. The kept rows lie before it, and it names them: they
come behind the summary, or before it where only later rows were summarised (Claude Code 2.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.claude.entries.inferred_parents import going_on
from leafward.agents.claude.entries.records import Role
from leafward.session.entries import BOOKKEEPING, Kind

if TYPE_CHECKING:
    from array import array

    from leafward.agents.claude.entries.row_notes import Boundary
    from leafward.agents.claude.entries.transcript_rows import Rows
    from leafward.session.columns import Columns


_BETWEEN = BOOKKEEPING | {Kind.INJECTED, Kind.UNKNOWN, Kind.CONTEXT_EDIT}
"""Kinds that may stand between the row that begins a compaction and its summary."""


class KeptEntries(NamedTuple):
    """The entries beside a summary, in the order of the context."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    between: tuple[int, ...] = ()
    """Entries of `before` that were added with the compaction itself."""


class Compactions:
    """The compactions of a transcript whose rows are entries."""

    def __init__(self, rows: Rows, columns: Columns, order: array[int], entry: array[int]) -> None:
        """`order` is the row of each entry, `entry` the first entry of each row.

        A boundary without a summary becomes a compaction itself.
        """
        self._rows, self._columns, self._order, self._entry = rows, columns, order, entry
        self.kept: dict[int, KeptEntries] = {}
        """The entries kept beside the summary of each."""
        self.boundary: dict[int, int] = {}
        """The offset of the row that begins each, in bytes."""
        self.kept_until: dict[int, int] = {}
        """Entries that continue from inside the kept entries, each with the last kept entry that is sent there, or -1."""
        boundaries = rows.notes.boundaries
        if not boundaries and Kind.COMPACTION not in columns.kind:
            return
        keys = {key for one in boundaries.values() for key in (*one.kept, one.anchor)}
        keys |= {key for one in boundaries.values() if one.segment and not one.kept for key in one.segment}
        found = rows.find(keys)
        claimed: set[int] = set()
        for compaction in [index for index, kind in enumerate(columns.kind) if kind == Kind.COMPACTION]:
            between: list[int] = []
            at = columns.parent[compaction]
            while at >= 0 and rows.role[order[at]] != Role.BOUNDARY and columns.kind[at] in _BETWEEN:
                between.append(at)
                at = columns.parent[at]
            row = order[at] if at >= 0 else -1
            if row in boundaries:
                claimed.add(row)
                self._keep(compaction, row, boundaries[row], between[::-1], found)
            else:
                self.kept[compaction] = KeptEntries((), ())
        for row, boundary in boundaries.items():
            if row not in claimed:
                columns.kind[entry[row]] = Kind.COMPACTION
                self._keep(entry[row], row, boundary, [], found)
        for row in going_on(rows, rows.kept_until):
            self._shorten(row, rows.kept_until[row])

    def _shorten(self, row: int, last: int) -> None:
        """Notes how many kept entries of a compaction are sent below a row that follows one of its kept rows."""
        compaction = self._columns.parent[self._entry[row]]
        while compaction >= 0 and compaction not in self.kept:
            compaction = self._columns.parent[compaction]
        after = self.kept[compaction].after if compaction >= 0 else ()
        end = self._entry[last] + self._rows.parts.get(last, 1)
        sent = [entry for entry in after if entry < end]
        if len(sent) < len(after):
            self.kept_until[self._entry[row]] = sent[-1] if sent else -1

    def _keep(
        self, entry: int, row: int, boundary: Boundary, between: list[int], found: dict[bytes, int]
    ) -> None:
        self.boundary[entry] = self._rows.start[row]
        kept = self._entries([found[key] for key in boundary.kept if key in found])
        if not boundary.kept and boundary.segment is not None:
            kept = self._stretch(*(found.get(key, -1) for key in boundary.segment))
        spoken = [index for index in between if self._columns.kind[index] == Kind.INJECTED]
        anchor = found.get(boundary.anchor, -1)
        place = self._entry[anchor] if anchor >= 0 else -1
        if kept and (anchor == row or place in between):
            ahead = [
                index for index in spoken if place in between and between.index(index) <= between.index(place)
            ]
            rest = [index for index in spoken if index not in ahead]
            self.kept[entry] = KeptEntries((*ahead, *kept, *rest), (), tuple(spoken))
        else:
            self.kept[entry] = KeptEntries(tuple(spoken), tuple(kept), tuple(spoken))

    def _entries(self, rows: list[int]) -> list[int]:
        """The entries of some rows that have content, each once."""
        found: dict[int, None] = {}
        for row in rows:
            for index in range(self._entry[row], self._entry[row] + self._rows.parts.get(row, 1)):
                if self._columns.kind[index] not in BOOKKEEPING:
                    found.setdefault(index)
        return list(found)

    def _stretch(self, head: int, tail: int) -> list[int]:
        """The entries from one row up to another one below it."""
        if head < 0 or tail < 0:
            return []
        found: list[int] = []
        at, first = self._entry[tail], self._entry[head]
        while at >= 0:
            if self._columns.kind[at] not in BOOKKEEPING:
                found.append(at)
            if at == first:
                return found[::-1]
            at = self._columns.parent[at]
        return []
