"""The tree of a session: runs of entries that follow each other, and the tree that the runs make.

A run is a longest stretch of consecutive lines in which each entry is the only child of the one before it, so nearly all of
a session is a few ranges. Nothing here recurses, and work per entry is done by C loops over whole columns.

Bookkeeping entries (`BOOKKEEPING`) are part of the tree, but where nothing else follows them they make no leaf, no branch
and no branch point.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import BOOKKEEPING_BYTES, NO_ENTRY, PROMPT_BYTES, EntryIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


class Run(NamedTuple):
    """Entries `start` … `stop - 1`, each the parent of the next."""

    start: int
    stop: int


class SessionTree:
    """Parents, paths, common ancestors, leaves and branch points over columns of `parent` and `kind`.

    `parent` holds -1 for a root; both columns have the same length and do not change while the tree is used.
    """

    def __init__(self, parent: array[int], kind: bytes | bytearray) -> None:
        self.parent = parent
        self.kind = kind
        size = len(parent)
        jumps = [index + 1 for index, above in enumerate(parent, -1) if above != index]
        heads = set(jumps)
        heads.update(parent[index] + 1 for index in jumps)
        if size:
            heads.add(0)
        heads.discard(size)
        self.starts: array[int] = array("i", sorted(heads))
        """First entry of each run, ascending."""
        starts = self.starts
        ending_at = {stop - 1: run for run, stop in enumerate(starts[1:])}
        if size:
            ending_at[size - 1] = len(starts) - 1
        self.run_parent: array[int] = array("i", [ending_at.get(parent[start], -1) for start in starts])
        """The run whose last entry is the parent of this run's first; -1 for a root."""
        self.run_children: dict[int, list[int]] = {}
        """Child runs in file order; the roots under -1."""
        for run, above in enumerate(self.run_parent):
            self.run_children.setdefault(above, []).append(run)
        self._measure()

    def _measure(self) -> None:
        """Depth and contents of every run and its subtree."""
        count = len(self.starts)
        kind, parents, below = self.kind, self.run_parent, self.run_children
        order: list[int] = []
        stack = below.get(-1, [])[::-1]
        while stack:
            run = stack.pop()
            order.append(run)
            if run in below:
                stack += reversed(below[run])
        self.preorder = order
        """Runs, each before its children, children in file order."""
        starts = self.starts
        stops = starts[1:]
        if count:
            stops.append(len(self.parent))
        content = [
            len(kind[start:stop].translate(None, BOOKKEEPING_BYTES))
            for start, stop in zip(starts, stops, strict=True)
        ]
        depth, content_above, prompts_above = [0] * count, [0] * count, [0] * count
        above_with_content = [-1] * count
        for run in order:
            if run not in below:
                continue
            start, stop = starts[run], stops[run]
            entries_to = depth[run] + stop - start
            content_to = content_above[run] + content[run]
            prompts_to = prompts_above[run] + _prompts(kind, start, stop)
            content_run = run if content[run] else above_with_content[run]
            for child in below[run]:
                depth[child], content_above[child], prompts_above[child] = entries_to, content_to, prompts_to
                above_with_content[child] = content_run
        subtree_content = content.copy()
        for run in reversed(order):
            above = parents[run]
            if above >= 0:
                subtree_content[above] += subtree_content[run]
        self.run_content: array[int] = array("i", content)
        """Entries of a run that are not bookkeeping."""
        self.subtree_content: array[int] = array("i", subtree_content)
        """Entries of a run and all runs below it that are not bookkeeping; 0 where there are only such."""
        self.run_depth: array[int] = array("i", depth)
        """Entries above a run's first one."""
        self.content_above: array[int] = array("i", content_above)
        """Entries above a run's first one that are not bookkeeping."""
        self.prompts_above: array[int] = array("i", prompts_above)
        """Prompts and commands of the user's above a run's first entry."""
        self._content_run_above: array[int] = array("i", above_with_content)
        """The nearest run above a run that has more than bookkeeping; -1 for none: chains of notes may be long."""

    def __len__(self) -> int:
        return len(self.parent)

    def bounds(self, run: int) -> tuple[int, int]:
        """The first entry of a run, and the one after its last."""
        following = run + 1
        return self.starts[run], self.starts[following] if following < len(self.starts) else len(self.parent)

    def run_of(self, index: int) -> int:
        """The run an entry lies in."""
        return bisect_right(self.starts, index) - 1

    def depth(self, index: int) -> int:
        """Entries above this one."""
        run = self.run_of(index)
        return self.run_depth[run] + index - self.starts[run]

    def children(self, index: int) -> list[EntryIndex]:
        """Children in file order; of -1, the roots."""
        if index < 0:
            return [EntryIndex(self.starts[run]) for run in self.run_children.get(-1, ())]
        run = self.run_of(index)
        if index + 1 < self.bounds(run)[1]:
            return [EntryIndex(index + 1)]
        return [EntryIndex(self.starts[child]) for child in self.run_children.get(run, ())]

    def runs_upwards(self, index: int) -> Iterator[Run]:
        """The path to an entry as runs from that entry up, for searches near it; empty for -1."""
        starts, parent, above = self.starts, self.parent, self.run_parent
        run = self.run_of(index) if index >= 0 else -1
        while run >= 0:
            start = starts[run]
            yield Run(start, index + 1)
            index, run = parent[start], above[run]

    def path_runs(self, index: int) -> list[Run]:
        """The path from the root to an entry as runs; empty for -1."""
        found = list(self.runs_upwards(index))
        found.reverse()
        return found

    def root(self, index: int) -> EntryIndex:
        """The first entry of the path to this one."""
        run = self.run_of(index)
        while self.run_parent[run] >= 0:
            run = self.run_parent[run]
        return EntryIndex(self.starts[run])

    def path(self, index: int) -> array[int]:
        """The entries from the root to this one."""
        entries = array("i")
        for run in self.path_runs(index):
            entries.extend(range(run.start, run.stop))
        return entries

    def common_ancestor(self, a: int, b: int) -> EntryIndex:
        """The deepest entry on both paths; -1 where there is none."""
        if a < 0 or b < 0:
            return NO_ENTRY
        starts, parent, above, depth = self.starts, self.parent, self.run_parent, self.run_depth
        on_a, on_b = self.run_of(a), self.run_of(b)
        while on_a != on_b:
            # The deeper run is on one of the paths alone.
            if depth[on_a] >= depth[on_b]:
                a, on_a = parent[starts[on_a]], above[on_a]
            else:
                b, on_b = parent[starts[on_b]], above[on_b]
            if on_a < 0 or on_b < 0:
                return NO_ENTRY
        return EntryIndex(min(a, b))

    def is_ancestor(self, above: int, index: int) -> bool:
        """Whether `above` lies on the path to `index` (an entry lies on its own path)."""
        return above < 0 or self.common_ancestor(above, index) == above

    def below(self, ancestor: int, index: int) -> list[Run]:
        """The path from just below an ancestor (or from the root, for -1) down to an entry, as runs."""
        found: list[Run] = []
        while index >= 0 and index != ancestor:
            start = self.starts[self.run_of(index)]
            if start <= ancestor < index:
                found.append(Run(ancestor + 1, index + 1))
                break
            found.append(Run(start, index + 1))
            index = self.parent[start]
        found.reverse()
        return found

    def subtree_spans(self, run: int) -> list[range]:
        """The entries of a run and all runs below it, as ranges."""
        found: list[range] = []
        pending = [run]
        while pending:
            at = pending.pop()
            found.append(range(*self.bounds(at)))
            pending.extend(self.run_children.get(at, ()))
        return found

    def content_in(self, runs: Iterable[Run]) -> int:
        """The number of entries of some runs that are not bookkeeping."""
        return sum(len(self.kind[run.start : run.stop].translate(None, BOOKKEEPING_BYTES)) for run in runs)

    def content_upto(self, index: int) -> int:
        """The number of entries on the path to one, itself included, that are not bookkeeping; 0 for -1."""
        if index < 0:
            return 0
        run = self.run_of(index)
        own = self.kind[self.starts[run] : index + 1].translate(None, BOOKKEEPING_BYTES)
        return self.content_above[run] + len(own)

    def prompts_upto(self, index: int) -> int:
        """The number of the user's prompts and commands on the path to an entry, itself included; 0 for -1."""
        if index < 0:
            return 0
        run = self.run_of(index)
        return self.prompts_above[run] + _prompts(self.kind, self.starts[run], index + 1)

    def joins(self, stops: Mapping[int, int], index: int) -> EntryIndex:
        """The first entry of a path on the way up from an entry; -1 where they never meet.

        `stops` is the path as runs, each with the entry after its last on the path. Only runs off the path are walked.
        """
        while index >= 0:
            run = self.run_of(index)
            stop = stops.get(run)
            if stop is not None:
                return EntryIndex(min(index, stop - 1))
            index = self.parent[self.starts[run]]
        return NO_ENTRY

    def content_at(self, index: int) -> EntryIndex:
        """The nearest entry at or above this one that is not bookkeeping; -1 where there is none."""
        if index < 0:
            return NO_ENTRY
        run = self.run_of(index)
        start, stop = self.starts[run], index + 1
        kept = len(self.kind[start:stop].rstrip(BOOKKEEPING_BYTES))
        if not kept:
            run = self._content_run_above[run]
            if run < 0:
                return NO_ENTRY
            start, stop = self.bounds(run)
            kept = len(self.kind[start:stop].rstrip(BOOKKEEPING_BYTES))
        return EntryIndex(start + kept - 1)

    def content_from(self, run: int) -> EntryIndex:
        """The first entry of a run that is not bookkeeping, by which it is named; its first where all are bookkeeping."""
        start, stop = self.bounds(run)
        kept = len(self.kind[start:stop].lstrip(BOOKKEEPING_BYTES))
        return EntryIndex(stop - kept if kept else start)

    def content_children(self, run: int) -> list[int]:
        """The runs with which the conversation goes on below a run; for -1, the roots.

        A child with only bookkeeping is skipped: its children follow the run itself.
        """
        below = self.run_children.get(run, ())
        if not below:
            return []
        found: list[int] = []
        pending = list(reversed(below))
        while pending:
            child = pending.pop()
            if self.run_content[child]:
                found.append(child)
            elif self.subtree_content[child]:
                pending.extend(reversed(self.run_children.get(child, ())))
        return found

    def largest(self, runs: Iterable[int]) -> int:
        """The run with the most conversation in and below it, the earlier of equals: a lane follows it.

        Lanes that do so nest no deeper than the logarithm of the number of entries. -1 where there is none.
        """
        return max(runs, key=lambda run: (self.subtree_content[run], -run), default=-1)

    def leaves(self) -> Iterator[EntryIndex]:
        """The ends of branches: conversation entries with none of the conversation below them, in tree order."""
        for run in self.preorder:
            if self.run_content[run] and self.subtree_content[run] == self.run_content[run]:
                yield self.content_at(self.bounds(run)[1] - 1)

    def branch_points(self) -> list[EntryIndex]:
        """Conversation entries after which the conversation goes on in more than one way, in file order."""
        return sorted(
            self.content_at(self.bounds(run)[1] - 1)
            for run, content in enumerate(self.run_content)
            if content and run in self.run_children and len(self.content_children(run)) > 1
        )


def _prompts(kind: bytes | bytearray, start: int, stop: int) -> int:
    return stop - start - len(kind[start:stop].translate(None, PROMPT_BYTES))
