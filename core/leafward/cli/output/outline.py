"""Rows of a session as the command line prints them: the explorer's layout, with archived branches and long streaks folded.

Nothing here is recursive.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from leafward.query.select import sets
from leafward.session.entries import EntryIndex, Kind
from leafward.session.tree.density import Density
from leafward.session.tree.tree_layout import STREAK, Layout, arrange

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.session.session import Session


@dataclass(slots=True)
class OutlineRow:
    """One row: a turn, or one entry with a row of its own."""

    entry: EntryIndex
    """The entry that the row names and whose text it shows."""
    entries: Sequence[int]
    end: EntryIndex
    """The target of a move to the row: the last entry of the conversation in it."""
    lane: int
    junction: bool
    """Whether this is the first row of a branch."""
    rooted: bool
    """Whether its root is that of the leaf, so that lane 0 is the active path."""
    ongoing: tuple[bool, ...]
    """For each lane to the left, whether it continues below this row."""
    hidden: int = 0
    """Number of entries of an archived branch that this row replaces, without Leafward's notes."""
    folded: int = 0
    """Number of consecutive compactions that this row replaces."""


class _Outline:
    """Makes the rows of a session from its layout; archived branches are one row each."""

    def __init__(self, session: Session, layout: Layout, hidden: frozenset[EntryIndex]) -> None:
        self.session = session
        self.layout = layout
        tree = session.tree
        off_path = [entry for entry in hidden if not layout.on_path(entry)]
        self.concealed = sets.below(tree, sets.of(off_path, len(session)), itself=True) if off_path else b""
        """A byte for each entry, 1 in an archived branch; empty if there is none."""
        self.archived: dict[int, list[EntryIndex]] = {}
        """First entries of archived branches, by the row in which each begins."""
        for entry in sorted(off_path):
            above = session.columns.parent[entry]
            if above < 0 or not self.concealed[above]:
                self.archived.setdefault(layout.row_of(entry), []).append(EntryIndex(entry))
        self._ongoing: dict[int, tuple[bool, ...]] = {}

    def rows(self) -> Iterator[OutlineRow]:
        """All rows from the root down."""
        layout = self.layout
        for row in range(len(layout)):
            head = layout.head[row]
            if not self.concealed:
                yield self._row(row, head, [entry for span in layout.entries_of(row) for entry in span])
                continue
            if not self.concealed[head]:
                shown = [
                    entry for span in layout.entries_of(row) for entry in span if not self.concealed[entry]
                ]
                yield self._row(row, head, shown)
            for entry in self.archived.get(row, ()):
                inside = self._inside(entry)
                stands_for = self._row(row, entry, [at for span in inside for at in span])
                stands_for.hidden = self.session.columns.entries_in(inside)
                stands_for.junction = head == entry and stands_for.junction
                yield stands_for

    def _row(self, row: int, entry: int, entries: Sequence[int]) -> OutlineRow:
        layout = self.layout
        at = layout.branch_of(row)
        branch = layout.branches[at]
        outermost = at
        while layout.branches[outermost].above >= 0:
            outermost = layout.branches[outermost].above
        return OutlineRow(
            EntryIndex(entry),
            entries,
            # A broken line is no part of the conversation, and would have the end of the row above.
            EntryIndex(max(entry, layout.last_entry_of(row)) if entry == layout.head[row] else entry),
            lane=branch.lane,
            junction=row == branch.first_row and branch.above >= 0,
            rooted=layout.on_path(layout.branches[outermost].first_entry),
            ongoing=self._ongoing_beside(at),
        )

    def _ongoing_beside(self, branch: int) -> tuple[bool, ...]:
        """For each lane left of a branch, outermost first, whether its rail passes beside the branch."""
        found = self._ongoing.get(branch)
        if found is None:
            layout = self.layout
            passing: list[bool] = []
            at = branch
            while (above := layout.branches[at].above) >= 0:
                passing.append(layout.branch_rows[at] < layout.branch_rows[above])
                at = above
            found = self._ongoing[branch] = tuple(reversed(passing))
        return found

    def _inside(self, entry: int) -> list[range]:
        """The ranges of an entry and everything below it."""
        tree = self.session.tree
        first, *others = tree.subtree_spans(tree.run_of(entry))
        return sorted([range(entry, first.stop), *others], key=lambda span: span.start)


def outline_rows(
    session: Session,
    *,
    every_entry: bool = False,
    hidden: frozenset[EntryIndex] = frozenset(),
    only: frozenset[int] | None = None,
) -> list[OutlineRow]:
    """The rows of a session from the root down: one for each turn or entry, and one for each `hidden` branch off the path.

    With `only`, just the rows with one of these entries, and the rows where their branches leave and begin.
    """
    density = Density.ENTRIES if every_entry else Density.TURNS
    layout = arrange(session.tree, session.leaf, density, everything=every_entry)
    rows = list(_Outline(session, layout, hidden).rows())
    if only is not None:
        rows = _holding(rows, layout, only)
    return rows if every_entry else _streaks_folded(session, rows)


def _holding(rows: list[OutlineRow], layout: Layout, only: frozenset[int]) -> list[OutlineRow]:
    holding = {row.entry for row in rows if not only.isdisjoint(row.entries)}
    for entry in tuple(holding):
        branch = layout.branches[layout.branch_of(layout.row_of(entry))]
        while branch.above >= 0:
            holding.add(EntryIndex(layout.head[branch.first_row]))
            holding.add(EntryIndex(layout.head[layout.row_of(branch.leaves_at)]))
            branch = layout.branches[branch.above]
    return [row for row in rows if row.entry in holding]


def _streaks_folded(session: Session, rows: list[OutlineRow]) -> list[OutlineRow]:
    """The rows with one row for all compactions between the first and the last of a long streak.

    An agent that cannot make its context small enough compacts again and again: hundreds of rows without new information.
    """
    kinds, labels, place = session.columns.kind, session.labels, session.place

    def streak_of(row: OutlineRow) -> int:
        """The lane of a compaction without label or leaf; -1 for any other row."""
        plain = (
            kinds[row.entry] == Kind.COMPACTION
            and not row.hidden
            and place not in row.entries
            and labels.keys().isdisjoint(row.entries)
        )
        return row.lane if plain else -1

    shown: list[OutlineRow] = []
    for lane, group in groupby(rows, streak_of):
        streak = list(group)
        if lane >= 0 and len(streak) > STREAK:
            within = streak[1:-1]
            first = within[0]
            first.entries = [entry for row in within for entry in row.entries]
            first.folded = len(within)
            streak[1:-1] = [first]
        shown.extend(streak)
    return shown
