"""The places of rows in a session's tree: order, lanes, folds and filters. Pure; knows neither text nor colour.

Depth first, root at the top, leaf at the bottom. A branch is shown right after the entry it leaves from, one lane further
right; then the branch that it left goes on in its own lane. So a lane counts how deep branches are nested, the active path
never leaves lane 0, and every lane left of a row has a rail that goes on below it.

Rows are columns: a session of a million entries has a layout of a few arrays, and a fold changes prefix sums only.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import compress, pairwise
from operator import and_
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.session.entries import BOOKKEEPING, BOOKKEEPING_BYTES, DAMAGED, TURN_STARTS, Kind
from leafward.session.tree.density import Density

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.session.tree.tree import SessionTree


MARKS = frozenset({Kind.COMPACTION, Kind.BRANCH_SUMMARY, Kind.CONTEXT_EDIT, Kind.UNKNOWN})
"""Kinds with a row of their own between turns."""


def _set(kinds: Iterable[Kind]) -> bytes:
    return b"".join(re.escape(bytes([kind])) for kind in sorted(kinds))


STREAK = 8
"""Compactions in one turn up to which each is a landmark."""
_BOOKS = BOOKKEEPING - DAMAGED
_LONE = MARKS | DAMAGED
_HEADS = TURN_STARTS | _LONE
_REST = late(b"[" + _set(_LONE) + b"][" + _set(_BOOKS) + b"]*([^" + _set(_HEADS | _BOOKS) + b"])")
"""A turn that goes on after a mark: the rest has a row of its own."""
_HEAD_MASK = bytes(kind in _HEADS for kind in range(256))
_MARK_MASK = bytes(kind in _LONE for kind in range(256))
_ENTRY_MASK = bytes(kind not in _BOOKS for kind in range(256))
_EVERYTHING_MASK = bytes([1]) * 256
_NOT = bytes([1]) + bytes(255)
_IS_RESULT = bytes(kind == Kind.TOOL_RESULT for kind in range(256))


class Branch(NamedTuple):
    """A branch: its runs in one lane, from where it leaves to its tip."""

    lane: int
    above: int
    """The branch it leaves; -1 for a root."""
    first_entry: int
    first_row: int
    leaves_at: int
    """The entry it leaves from; -1 for a root."""


@dataclass(slots=True)
class Layout:
    """All rows in display order, nothing folded."""

    tree: SessionTree
    density: Density
    leaf: int
    """The leaf's place: the entry in the conversation that the active path ends at; -1 where there is none."""
    head: array[int] = field(default_factory=lambda: array("i"))
    """The entry each row begins with."""
    stretch_row: array[int] = field(default_factory=lambda: array("i"))
    """First row of each stretch; a stretch is the rows of one run of the tree."""
    stretch_run: array[int] = field(default_factory=lambda: array("i"))
    stretch_branch: array[int] = field(default_factory=lambda: array("i"))
    stretch_of_run: dict[int, int] = field(default_factory=dict)
    branches: list[Branch] = field(default_factory=list)
    branch_rows: list[int] = field(default_factory=list)
    """The row after each branch's last one, its own branches included."""
    landmarks: list[int] = field(default_factory=list)
    """Rows that are never folded into a run: marks and first rows of branches, ascending."""
    dropped: bytes = b""
    """A byte for each entry without a row of its own, because its calls are shown with their results."""
    path_stop: dict[int, int] = field(default_factory=dict)
    """Runs on the active path, each with the entry after its last on the path."""
    _stretches: dict[int, list[int]] = field(default_factory=dict, compare=False, repr=False)
    """The stretches of each branch, ascending; made when they are first asked for."""
    _onward: dict[int, int] = field(default_factory=dict, compare=False, repr=False)
    """The run that each run goes on with, -1 for none, as far as they were asked for."""

    def __len__(self) -> int:
        return len(self.head)

    def branch_of(self, row: int) -> int:
        """The branch of a row."""
        return self.stretch_branch[bisect_right(self.stretch_row, row) - 1]

    def own_row_from(self, branch: int, row: int) -> int:
        """The first row at or below a row that is the branch's own, not one of a branch that leaves it; -1 for none."""
        own = self._stretches_of(branch)
        at = bisect_right(own, row, key=self.stretch_row.__getitem__)
        if at and row < self._rows_of(own[at - 1])[1]:
            return row
        return self.stretch_row[own[at]] if at < len(own) else -1

    def own_row_before(self, branch: int, row: int) -> int:
        """The last row above a row that is the branch's own; -1 for none."""
        own = self._stretches_of(branch)
        at = bisect_left(own, row, key=self.stretch_row.__getitem__)
        return min(row, self._rows_of(own[at - 1])[1]) - 1 if at else -1

    def _stretches_of(self, branch: int) -> list[int]:
        if not self._stretches:
            for stretch, of in enumerate(self.stretch_branch):
                self._stretches.setdefault(of, []).append(stretch)
        return self._stretches[branch]

    def on_path(self, entry: int) -> bool:
        """Whether an entry lies on the active path."""
        return entry < self.path_stop.get(self.tree.run_of(entry), -1)

    def row_of(self, entry: int) -> int:
        """The row of an entry; that of the nearest entry above it where it has none.

        Before the first row of a tree, that row; -1 where there are no rows.
        """
        tree = self.tree
        below = 0 if len(self.head) else -1
        entry = self._answer_of(entry)
        while entry >= 0:
            run = tree.run_of(entry)
            stretch = self.stretch_of_run.get(run, -1)
            if stretch >= 0:
                first, stop = self._rows_of(stretch)
                at = bisect_right(self.head, entry, first, stop) - 1
                if at >= first:
                    return at
                below = first
            entry = tree.parent[tree.starts[run]]
        return below

    def _answer_of(self, entry: int) -> int:
        """The result whose row shows a silent reply, also for an entry between the two; else the entry itself."""
        if not self.dropped or entry < 0:
            return entry
        reply = self.tree.content_at(entry) if self.tree.kind[entry] in _BOOKS else entry
        if reply < 0 or not self.dropped[reply]:
            return entry
        return self.tree.kind.index(Kind.TOOL_RESULT, reply)

    def _rows_of(self, stretch: int) -> tuple[int, int]:
        following = stretch + 1
        stop = self.stretch_row[following] if following < len(self.stretch_row) else len(self.head)
        return self.stretch_row[stretch], stop

    def entries_of(self, row: int) -> list[range]:
        """The entries of a row, as ranges along its branch."""
        if self.density is Density.ENTRIES:
            return [self._with_reply(self.head[row])]
        tree = self.tree
        stretch = bisect_right(self.stretch_row, row) - 1
        _, stop_row = self._rows_of(stretch)
        run = self.stretch_run[stretch]
        stop = tree.bounds(run)[1]
        if row + 1 < stop_row:
            return [range(self.head[row], self.head[row + 1])]
        found = [range(self.head[row], stop)]
        while True:
            run = self._goes_on(run)
            if run < 0:
                return found
            first, stop = tree.bounds(run)
            following = self.stretch_of_run.get(run, -1)
            if following >= 0:
                row_entry = self.head[self.stretch_row[following]]
                if row_entry > first:
                    found.append(range(first, row_entry))
                return found
            found.append(range(first, stop))

    def _goes_on(self, run: int) -> int:
        """The run that a run goes on with in its lane; -1 for none. Kept: a run may have very many children."""
        found = self._onward.get(run)
        if found is None:
            children = self.tree.content_children(run)
            found = self._onward[run] = self.main_child(children) if children else -1
        return found

    def _with_reply(self, entry: int) -> range:
        """An entry, with the silent reply before it whose call it answers."""
        if self.dropped and self.tree.kind[entry] == Kind.TOOL_RESULT:
            above = self.tree.content_at(self.tree.parent[entry])
            if above >= 0 and self.dropped[above]:
                return range(above, entry + 1)
        return range(entry, entry + 1)

    def entries_between(self, row: int, rows: int) -> list[range]:
        """The entries of some rows of one branch, as few ranges."""
        found: list[range] = []
        stop_row = row + rows
        while row < stop_row:
            stretch = bisect_right(self.stretch_row, row) - 1
            last = min(stop_row, self._rows_of(stretch)[1]) - 1
            tail = self.entries_of(last)
            found.append(range(self.entries_of(row)[0].start, tail[0].stop))
            found.extend(tail[1:])
            row = last + 1
        return found

    def last_entry_of(self, row: int) -> int:
        """The last conversation entry of a row: the target of a move to this row."""
        return self.tree.content_at(self.entries_of(row)[-1].stop - 1)

    def main_child(self, children: list[int]) -> int:
        """The child that stays in its parent's lane: the active one, else the largest."""
        if len(children) == 1:
            return children[0]
        for child in children:
            if child in self.path_stop:
                return child
        return self.tree.largest(children)


def arrange(
    tree: SessionTree,
    leaf: int,
    density: Density = Density.TURNS,
    *,
    everything: bool = False,
    dropped: bytes | bytearray | None = None,
) -> Layout:
    """Lays out a tree whose active path ends at `leaf`.

    `everything` gives bookkeeping entries rows as well (entries only). `dropped` marks entries that need no row in the
    entries density, a byte each: replies without text, because their calls are shown with their results.
    """
    layout = Layout(tree, density, tree.content_at(leaf))
    layout.path_stop = {tree.run_of(run.start): run.stop for run in tree.path_runs(leaf)}
    shown: bytes | None = None
    if density is Density.ENTRIES:
        shown = bytes(tree.kind).translate(_EVERYTHING_MASK if everything else _ENTRY_MASK)
        if dropped is not None:
            layout.dropped = _with_their_results(tree, dropped, everything=everything)
            kept = layout.dropped.translate(_NOT)
            shown = bytes(map(and_, shown, kept))
    _Arranger(layout, shown).place()
    layout.landmarks = sorted(set(layout.landmarks))
    return layout


def _with_their_results(tree: SessionTree, silent: bytes | bytearray, *, everything: bool) -> bytes:
    """The silent replies that need no row: a result follows in the same run, with no row between the two."""
    size = len(tree)
    found = bytearray(silent[:size].ljust(size, b"\0"))
    for start, stop in pairwise((*tree.starts, size)):
        # Where the conversation branches or ends here, the reply has a row.
        kept = len(tree.kind[start:stop].rstrip(BOOKKEEPING_BYTES))
        if kept:
            found[start + kept - 1] = 0
    if everything:
        return bytes(map(and_, found, tree.kind[1:].translate(_IS_RESULT) + b"\0"))
    return bytes(found)


class _Arranger:
    """The walk over the runs of a tree that lays out their rows."""

    def __init__(self, layout: Layout, shown: bytes | None) -> None:
        self.layout = layout
        self.tree = layout.tree
        self.kind = layout.tree.kind
        self.shown = shown
        """A byte for each entry: whether it has a row; None where rows are turns."""
        turns = bytes(self.kind) if shown is None else b""
        # Of all entries at once: most trees have thousands of short runs.
        self.heads = turns.translate(_HEAD_MASK)
        """For rows that are turns, a byte for each entry: whether it begins a turn or is a mark or damage."""
        self.marks = turns.translate(_MARK_MASK)
        """The same for marks and damage alone."""
        self.content = turns.translate(_ENTRY_MASK)
        """The same for what is not bookkeeping."""

    def place(self) -> None:
        """Lays out everything: extra roots first, the root of the active path last, so that the leaf is at the bottom."""
        layout, tree = self.layout, self.tree
        self._asides(-1, -1)
        # (run, its branch or -1 for a new one, the branch that it leaves); a run of -1 closes a branch.
        stack: list[tuple[int, int, int]] = []
        self._push(stack, tree.content_children(-1), -1, fresh=True)
        while stack:
            run, branch, above = stack.pop()
            if run < 0:
                layout.branch_rows[branch] = len(layout.head)
                continue
            begins = branch < 0
            if begins:
                branch = len(layout.branches)
                stack.append((-1, branch, above))
                lane = layout.branches[above].lane + 1 if above >= 0 else 0
                start = tree.starts[run]
                layout.branches.append(
                    Branch(lane, above, start, len(layout.head), tree.content_at(tree.parent[start]))
                )
                layout.branch_rows.append(0)
            self._rows(run, branch, begins)
            if run in tree.run_children:
                self._asides(run, branch)
                # The path ends at the leaf: everything below is a branch.
                ends = layout.leaf >= 0 and tree.run_of(layout.leaf) == run
                self._push(stack, tree.content_children(run), branch, fresh=False, ends=ends)

    def _push(
        self,
        stack: list[tuple[int, int, int]],
        children: list[int],
        branch: int,
        *,
        fresh: bool,
        ends: bool = False,
    ) -> None:
        if not children:
            return
        main = -1 if ends else self.layout.main_child(children)
        if main >= 0:
            stack.append((main, -1 if fresh else branch, -1))
        if len(children) > 1 or ends:
            stack.extend((child, -1, branch) for child in reversed(children) if child != main)

    def _rows(self, run: int, branch: int, begins: bool) -> None:
        """Adds the rows of a run; a branch has one even where its first run has none of its own."""
        layout = self.layout
        head = layout.head
        before = len(head)
        start, stop = self.tree.bounds(run)
        if self.shown is not None:
            head.extend(compress(range(start, stop), self.shown[start:stop]))
            if len(head) == before and begins:
                head.append(start)
        else:
            self._turns(start, stop, begins)
        if begins:
            layout.landmarks.append(before)
        if len(head) > before:
            self._stretch(run, before, branch)

    def _turns(self, start: int, stop: int, begins: bool) -> None:
        """Adds a row for each turn of a run, for each mark, and for the rest of a turn after a mark."""
        kind, head = self.kind, self.layout.head
        before = len(head)
        found = list(compress(range(start, stop), self.heads[start:stop]))
        marked = self.marks.find(1, start, stop) >= 0
        if marked:
            found = sorted({*found, *(match.start(1) for match in _REST.finditer(kind, start, stop))})
        if begins:
            content = self.content.find(1, start, stop)
            first = content if content >= 0 else start
            if not found or first < found[0]:
                found.insert(0, first)
        head.extend(found)
        if marked:
            within = self._within_streaks(found)
            self.layout.landmarks.extend(
                before + at for at, entry in enumerate(found) if kind[entry] in _LONE and at not in within
            )

    def _within_streaks(self, found: list[int]) -> set[int]:
        """The compactions between the first and the last of many in one turn. Rows are given by their first entries.

        An agent that cannot get its context small enough compacts again and again: hundreds of rows that say nothing new.
        """
        kind = self.kind
        streak: list[int] = []
        within: set[int] = set()
        for at, entry in enumerate((*found, -1)):
            what = kind[entry] if entry >= 0 else Kind.USER
            if what == Kind.COMPACTION:
                streak.append(at)
            elif what in TURN_STARTS or what in MARKS or what in DAMAGED:
                if len(streak) > STREAK:
                    within.update(streak[1:-1])
                streak = []
        return within

    def _stretch(self, run: int, before: int, branch: int) -> None:
        layout = self.layout
        layout.stretch_of_run[run] = len(layout.stretch_row)
        layout.stretch_row.append(before)
        layout.stretch_run.append(run)
        layout.stretch_branch.append(branch)

    def _asides(self, run: int, branch: int) -> None:
        """Adds the rows of bookkeeping that hangs on a run: damage always, the rest where it is shown."""
        layout, tree = self.layout, self.tree
        below = tree.run_children.get(run, ())
        if all(tree.run_content[child] for child in below):
            return
        pending = [child for child in reversed(below) if not tree.run_content[child]]
        while pending:
            aside = pending.pop()
            pending.extend(
                child for child in reversed(tree.run_children.get(aside, ())) if not tree.run_content[child]
            )
            start, stop = tree.bounds(aside)
            before = len(layout.head)
            if self.shown is not None:
                layout.head.extend(compress(range(start, stop), self.shown[start:stop]))
            else:
                layout.head.extend(entry for entry in range(start, stop) if self.kind[entry] in DAMAGED)
            if len(layout.head) == before:
                continue
            if branch < 0:
                branch = len(layout.branches)
                layout.branches.append(Branch(0, -1, start, before, -1))
                layout.branch_rows.append(0)
            layout.branch_rows[branch] = len(layout.head)
            layout.landmarks.extend(range(before, len(layout.head)))
            self._stretch(aside, before, branch)
