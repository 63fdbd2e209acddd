"""A session as lanes: the active path is one lane, and each branch is a lane that begins after the entry it leaves.

Off the active path a lane follows the heavier child, so lanes nest no deeper than the logarithm of the number of entries,
however a session branches. Nothing here recurses or decodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.session.entries import BOOKKEEPING, DAMAGED, NO_ENTRY, EntryIndex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.session import Session


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane of a session, whole."""

    depth: int
    after: EntryIndex
    """The entry that the lane leaves; -1 for a root."""
    entries: tuple[int, ...]


class Lanes:
    """The lanes of a session whose active path leads to `leaf`."""

    def __init__(self, session: Session, leaf: int) -> None:
        self.tree = session.tree
        self.kinds = session.columns.kind
        self.leaf = leaf
        self.path_runs = {self.tree.run_of(run.start): run.stop for run in self.tree.path_runs(leaf)}
        self.bad_below: dict[int, list[int]] = {}
        """Lines that are not entries, by the entry before them in the file."""
        for index in sorted(session.columns.damage):
            if self.kinds[index] in DAMAGED:
                self.bad_below.setdefault(session.columns.parent[index], []).append(index)

    def roots(self) -> list[int]:
        """First entries of the lanes that begin with a root, in file order."""
        tree = self.tree
        return [tree.starts[run] for run in tree.run_children.get(-1, ()) if self._counts(run)]

    def lanes(self) -> Iterator[Lane]:
        """Every lane: a lane comes before those that leave it, and these come in the order of the path."""
        stack: list[tuple[int, EntryIndex, int]] = [(start, NO_ENTRY, 0) for start in reversed(self.roots())]
        while stack:
            start, after, depth = stack.pop()
            entries: list[int] = []
            leaving: list[tuple[int, EntryIndex, int]] = []
            for index, branches in self.trunk(start):
                entries.append(index)
                leaving.extend((branch, EntryIndex(index), depth + 1) for branch in branches)
            yield Lane(depth, after, tuple(entries))
            stack.extend(reversed(leaving))

    def trunk(self, start: int) -> Iterator[tuple[int, list[int]]]:
        """The entries of a lane from its first one, each with the first entries of the branches that leave after it."""
        tree = self.tree
        run, first = tree.run_of(start), start
        while True:
            stop = tree.bounds(run)[1]
            end = self.path_runs.get(run, stop)
            if end <= first:  # a lane below the leaf
                end = stop
            for index in range(first, end - 1):
                yield index, []
            if end < stop:  # the leaf: entries below it are a branch
                yield end - 1, [end] if self._goes_on(run, end) else []
                return
            children = tree.run_children.get(run, [])
            active = [child for child in children if run in self.path_runs and child in self.path_runs]
            others = [child for child in children if self._counts(child) and child not in active]
            following = -1
            if active:
                following = active[0]
            elif others and stop - 1 != self.leaf:
                following = tree.largest(others)
                others.remove(following)
            yield stop - 1, self._branch_starts(others)
            if following < 0:
                return
            run = following
            first = tree.starts[run]

    def _counts(self, run: int) -> bool:
        """Whether a run gets a lane: it holds entries of the conversation, or any entry where all entries count."""
        if self.kinds[self.tree.starts[run]] in DAMAGED:
            return False
        return bool(self.tree.subtree_content[run])

    def _goes_on(self, run: int, end: int) -> bool:
        """Whether any entry that counts lies in a run from `end` on, or below the run."""
        passed_over = BOOKKEEPING
        rest = self.kinds[end : self.tree.bounds(run)[1]]
        below = self.tree.run_children.get(run, ())
        return any(kind not in passed_over for kind in rest) or any(self._counts(child) for child in below)

    def _branch_starts(self, runs: list[int]) -> list[int]:
        """First entries of branches; bookkeeping that splits at the start of a branch gives a branch for each part."""
        tree = self.tree
        starts = []
        waiting = list(reversed(runs))
        while waiting:
            run = waiting.pop()
            begin, stop = tree.bounds(run)
            below = [child for child in tree.run_children.get(run, ()) if self._counts(child)]
            silent = all(kind in BOOKKEEPING for kind in self.kinds[begin:stop])
            if silent and len(below) > 1:
                waiting.extend(reversed(below))
            else:
                starts.append(begin)
        return starts
