"""The rows of a session: one row a turn, the active path straight in lane 0, each branch right after the turn it leaves.

Lanes count nesting of branches, never age. Nothing here recurses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from leafward.session.entries import BOOKKEEPING, NO_ENTRY, TURN_STARTS, EntryIndex, Kind
from leafward.session.lanes import BAD_LINES, Lanes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.session import Session

OWN_ROW = frozenset({Kind.COMPACTION, Kind.BRANCH_SUMMARY})
"""Kinds that have a row to themselves."""
_STREAK = 8
"""Compactions in one turn up to which each has its row."""


@dataclass(slots=True)
class Row:
    """One row: a turn, or one entry that stands for itself."""

    entry: EntryIndex
    """The entry that the row names and whose text it shows; -1 while none is worth it."""
    entries: list[int]
    branches: list[int] = field(default_factory=list)
    """First entries of the branches that leave here."""
    firm: bool = False
    """False while a later entry may still take the row over (system prompts and bookkeeping before a turn)."""
    lane: int = 0
    junction: bool = False
    """The first row of a branch."""
    hidden: int = 0
    """Entries of an archived branch that this row stands for."""
    folded: int = 0
    """Compactions one after the other that this row stands for."""
    rooted: bool = False
    """Its root is that of the leaf: lane 0 is the active path."""
    ongoing: tuple[bool, ...] = ()
    """For each lane to the left, whether it goes on below this row."""


class _Outline:
    def __init__(self, session: Session, every_entry: bool, hidden: frozenset[EntryIndex]) -> None:
        self.tree = session.tree
        self.kinds = session.columns.kind
        self.every_entry = every_entry
        self.hidden = hidden
        self.place = session.place
        self.labels = session.labels
        self.lanes = Lanes(session, session.leaf, every_entry=every_entry)

    def lane(self, start: int) -> list[Row]:
        """The rows of one lane, branches noted where they leave."""
        rows: list[Row] = []
        current = Row(NO_ENTRY, [])
        index = -1
        for index, branches in self.lanes.trunk(start):
            if index in self.hidden and not self.tree.is_ancestor(index, self.lanes.leaf):
                break
            kind = Kind(self.kinds[index])
            if kind not in BAD_LINES:
                if current.entries and self._opens(kind, current):
                    rows.append(current)
                    current = Row(NO_ENTRY, [])
                current.entries.append(index)
                if not current.firm and (self.every_entry or kind not in BOOKKEEPING):
                    current.entry, current.firm = (
                        EntryIndex(index),
                        self.every_entry or kind is not Kind.SYSTEM,
                    )
            current.branches.extend(branches)
            bad = self.lanes.bad_below.get(index)
            if bad:
                # Damage is shown where it is: the turn goes on in a row of its own after it.
                if current.entries:
                    rows.append(current)
                rows.extend(Row(EntryIndex(line), [line], firm=True) for line in bad)
                current = Row(NO_ENTRY, [])
        else:
            index = -1
        if current.entries:
            rows.append(current)
        shown = self._worth_showing(rows)
        if index >= 0:
            shown.append(Row(EntryIndex(index), [index], firm=True, hidden=self._size(index)))
        return shown if self.every_entry else self._streaks_folded(shown)

    def _streaks_folded(self, rows: list[Row]) -> list[Row]:
        """The rows with one for all compactions between the first and the last of many in one turn.

        An agent that cannot get its context small enough compacts over and over: hundreds of rows that say nothing new.
        """
        shown: list[Row] = []
        for alike, group in groupby(rows, self._may_fold):
            streak = list(group)
            if alike and len(streak) > _STREAK:
                within = streak[1:-1]
                entries = [entry for row in within for entry in row.entries]
                streak[1:-1] = [Row(within[0].entry, entries, firm=True, folded=len(within))]
            shown.extend(streak)
        return shown

    def _may_fold(self, row: Row) -> bool:
        """Whether a row is a compaction that nothing is said at: no branch, no label, not the leaf."""
        return (
            self.kinds[row.entry] == Kind.COMPACTION
            and not row.branches
            and not row.hidden
            and self.place not in row.entries
            and self.labels.keys().isdisjoint(row.entries)
        )

    def _size(self, index: int) -> int:
        """Entries of a subtree."""
        run = self.tree.run_of(index)
        return self.tree.subtree_size[run] - (index - self.tree.starts[run])

    def _opens(self, kind: Kind, current: Row) -> bool:
        """Whether an entry of that kind begins a new row after `current`."""
        if self.every_entry:
            return True
        if kind in BOOKKEEPING:
            return False
        if not current.firm and not current.branches:
            return False
        return (
            not current.firm or kind in TURN_STARTS or kind in OWN_ROW or self.kinds[current.entry] in OWN_ROW
        )

    @staticmethod
    def _worth_showing(rows: list[Row]) -> list[Row]:
        shown: list[Row] = []
        for row in rows:
            if row.entry < 0:
                if not row.branches and shown:
                    shown[-1].entries.extend(row.entries)
                    continue
                if not row.branches:
                    continue
                row.entry = EntryIndex(row.entries[0])
            shown.append(row)
        return shown

    def rows(self) -> Iterator[Row]:
        """All rows, depth first, the branches of a turn before the path goes on."""
        for line in self.lanes.bad_below.get(NO_ENTRY, ()):
            yield Row(EntryIndex(line), [line], firm=True)
        for root in self.lanes.roots():
            yield from self._walk(root)

    def _walk(self, root: int) -> Iterator[Row]:
        stack: list[tuple[list[Row], int, bool]] = [(self.lane(root), 0, True)]
        waiting: list[list[int]] = [[]]
        rooted = self.tree.run_of(root) in self.lanes.path_runs
        while stack:
            rows, position, fresh = stack.pop()
            branches = waiting[-1]
            if branches:
                start = branches.pop()
                stack.append((rows, position, fresh))
                stack.append((self.lane(start), 0, True))
                waiting.append([])
                continue
            if position == len(rows):
                waiting.pop()
                continue
            row = rows[position]
            row.lane = len(stack)
            row.rooted = rooted
            row.junction = fresh and bool(stack)
            row.ongoing = tuple(
                bool(waiting[lane]) or at < len(others) for lane, (others, at, _) in enumerate(stack)
            )
            yield row
            waiting[-1] = row.branches[::-1]
            stack.append((rows, position + 1, False))


def outline_rows(
    session: Session, *, every_entry: bool = False, hidden: frozenset[EntryIndex] = frozenset()
) -> Iterator[Row]:
    """The rows of a session from the root down: a turn each, or an entry each; one for each `hidden` branch off the path."""
    return _Outline(session, every_entry, hidden).rows()
