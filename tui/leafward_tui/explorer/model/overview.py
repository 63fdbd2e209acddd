"""The overview of a session: its active path turn by turn, and the branches that hang on it. Pure; made in a worker.

A column begins with whatever begins a turn, and with a compaction, so that a cliff in the sizes stands where its
compaction does. Sizes are those at the end of each column. Nothing is drawn here: see `strip`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import Kind
from leafward.session.tree.tree import Run
from leafward_tui.explorer.model.axis import Axis
from leafward_tui.explorer.model.path_columns import CONTENT, HEAD, HEADS, PathColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from leafward.context.entry_metrics import EntryMetrics
    from leafward.session.session import Session
    from leafward.session.tree.tree import SessionTree


_KEPT_SAMPLES = 8
_FAR = 2_000
"""Turns after a proposed leaf that are counted: more than any screen is wide."""


@dataclass(frozen=True, slots=True)
class SideBranch:
    """A branch that leaves the active path, along its main line: where it forks again, the larger side."""

    turn: int
    """The turn it leaves from; -1 before the first."""
    heads: array[int]
    """The first entry of each of its turns."""
    tip: int
    """Its last entry in the conversation."""

    @property
    def end(self) -> int:
        """The turn of the axis above its tip."""
        return self.turn + len(self.heads)


class Fork(NamedTuple):
    """The branches that leave the path in one column."""

    longest: SideBranch
    """The first of those with the most turns."""
    number: int


@dataclass(frozen=True, slots=True)
class Detour:
    """A proposed move on the axis."""

    turn: int
    """The last turn of the path that stays; -1 for none."""
    entered: int
    """Turns that would be entered; 0 where the target lies on the path."""
    beyond: int
    """Turns of the same branch after the target, at most a few thousand."""


MOST = 9
"""Compactions of one column that are counted."""


@dataclass(frozen=True, slots=True)
class Sample:
    """An overview brought down to columns."""

    axis: Axis
    bars: tuple[int, ...]
    """The largest context of each column, in tokens; 0 where it is not known yet."""
    compacted: bytes
    """A byte for each column: the number of its compactions, at most `MOST`."""
    failed: bytes
    """A byte for each column: whether its errors get a mark. All do, except where turns share columns and most would."""
    forks: Mapping[int, Fork]
    """The branches by the column they leave; those before the first turn are in the first column."""
    extent: int
    """Turns from the first of the path to the last of it or of a branch."""


@dataclass(frozen=True, slots=True, eq=False)
class Overview:
    """The active path in columns of turns, with the branches that leave it."""

    tree: SessionTree
    place: int
    """The entry in the conversation that the path ends at; -1 in an empty session."""
    heads: array[int]
    """The first entry of each turn."""
    sizes: array[int]
    """Context in tokens at the end of each turn, as pi 1.5.2 counts it; 0 where it is not known yet."""
    compacted: bytes
    failed: bytes
    """A byte for each turn: whether something failed in it."""
    hanging: tuple[SideBranch, ...]
    """Branches that leave the path, in the order of their turns."""
    starts: array[int]
    """The beginning of each turn, in entries from the root."""
    offsets: dict[int, int]
    """Offset of each run of the path: added to an entry, it gives the entry's place on the path."""
    stops: dict[int, int]
    """For each run of the path, the entry after its last on the path."""
    samples: dict[int, Sample] = field(default_factory=dict, repr=False)
    """Results of `resample`, by columns."""

    def __len__(self) -> int:
        return len(self.heads)

    @classmethod
    def of(
        cls,
        session: Session,
        metrics: EntryMetrics,
        archived: Collection[int] = (),
        stop: Callable[[], bool] = lambda: False,
    ) -> Overview | None:
        """The overview of a session as far as `metrics` know it; None once `stop` turns true.

        Branches that begin with an entry in `archived` are left out. Of bodies, only compactions are decoded.
        """
        from leafward.context.entry_metrics import FAILED

        tree = session.tree
        runs = tree.path_runs(session.place)
        path = PathColumns(session, metrics, runs)
        starts = path.turn_starts()
        sizes = path.sizes(starts, stop)
        if sizes is None:
            return None
        failed = bytearray(len(starts))
        is_failed = bytes(bool(value & FAILED) for value in range(256))
        for position in compress(range(len(path.kinds)), path.flags.translate(is_failed)):
            failed[bisect_right(starts, position) - 1] = 1
        heads = path.heads(starts)
        bare = cls(
            tree,
            session.place,
            heads,
            sizes,
            bytes(tree.kind[head] == Kind.COMPACTION for head in heads),
            bytes(failed),
            (),
            starts,
            path.offsets,
            {tree.run_of(run.start): run.stop for run in runs},
        )
        hanging = _hanging(bare, set(archived), stop)
        return replace(bare, hanging=hanging) if hanging is not None else None

    # --- where entries stand ------------------------------------------------------------------------------------------

    def turn_of(self, entry: int) -> int:
        """The turn of the path that an entry belongs to; -1 where it is not on the path."""
        run = self.tree.run_of(entry) if entry >= 0 else -1
        if entry >= self.stops.get(run, -1):
            return -1
        return bisect_right(self.starts, entry + self.offsets[run]) - 1

    def number_of(self, turn: int) -> int:
        """The number of a column's turn, from 1, as every screen counts it: compactions are no turns."""
        return self.tree.prompts_upto(self.heads[turn])

    def turns_of(self, entries: Iterable[int]) -> array[int]:
        """The turns of the entries that are on the path, ascending and without repeats: for the hits of a search."""
        found = {self.turn_of(entry) for entry in entries}
        found.discard(-1)
        return array("i", sorted(found))

    def detour(self, target: int) -> Detour | None:
        """A move of the leaf to an entry; None where it is there already."""
        tree = self.tree
        target = tree.content_at(target)
        if target == self.place:
            return None
        ancestor: int = target
        while ancestor >= 0 and (run := tree.run_of(ancestor)) not in self.stops:
            ancestor = tree.parent[tree.starts[run]]
        if ancestor >= 0:
            ancestor = min(ancestor, self.stops[tree.run_of(ancestor)] - 1)
        below = tree.below(ancestor, target)
        entered = sum(_turns_in(tree.kind, run.start, run.stop) for run in below)
        first = next(filter(None, (CONTENT.search(tree.kind, run.start, run.stop) for run in below)), None)
        if first is not None and tree.kind[first.start()] not in HEADS:
            entered += 1
        return Detour(self.turn_of(ancestor), entered, _beyond(tree, target) if below else 0)

    # --- fewer columns than turns -------------------------------------------------------------------------------------

    def resample(self, columns: int) -> Sample:
        """The path in at most `columns` columns. A bar is the maximum of its bucket."""
        if columns not in self.samples:
            if len(self.samples) >= _KEPT_SAMPLES:
                self.samples.clear()
            self.samples[columns] = self._sample(columns)
        return self.samples[columns]

    def _sample(self, columns: int) -> Sample:
        turns = len(self)
        axis = Axis(turns, max(0, min(columns, turns)))
        forks = _forks(axis, self.hanging)
        extent = max(turns, max((branch.end + 1 for branch in self.hanging), default=0))
        if not axis.shared:
            return Sample(axis, tuple(self.sizes), self.compacted, self.failed, forks, extent)
        spans = [axis.span(column) for column in range(axis.columns)]
        sizes = self.sizes
        errors = [self.failed.count(1, span.start, span.stop) for span in spans]
        return Sample(
            axis,
            tuple(max(sizes[span.start : span.stop]) for span in spans),
            bytes(min(MOST, self.compacted.count(1, span.start, span.stop)) for span in spans),
            _worth_a_mark(errors),
            forks,
            extent,
        )


def _forks(axis: Axis, hanging: Iterable[SideBranch]) -> dict[int, Fork]:
    found: dict[int, Fork] = {}
    for branch in hanging:
        column = axis.column(branch.turn) if branch.turn >= 0 else 0
        known = found.get(column)
        if known is None:
            found[column] = Fork(branch, 1)
        else:
            longest = branch if len(branch.heads) > len(known.longest.heads) else known.longest
            found[column] = Fork(longest, known.number + 1)
    return found


def _worth_a_mark(errors: list[int]) -> bytes:
    """Columns with the most errors: all that have any, if those are no more than a quarter."""
    least = 1
    most = max(errors, default=0)
    while least < most and sum(number >= least for number in errors) > max(1, len(errors) // 4):
        least += 1
    return bytes(number >= least for number in errors)


def _turns_in(kind: bytes | bytearray, start: int, stop: int) -> int:
    return sum(kind.count(head, start, stop) for head in HEADS)


def _beyond(tree: SessionTree, target: int) -> int:
    """Turns of a branch after an entry of it."""
    run = tree.run_of(target)
    start = target + 1
    found = 0
    while run >= 0 and found < _FAR:
        stop = tree.bounds(run)[1]
        found += _turns_in(tree.kind, start, stop)
        run = tree.largest(tree.content_children(run))
        start = tree.starts[run] if run >= 0 else 0
    return found


def _branch(tree: SessionTree, turn: int, run: int, start: int) -> SideBranch:
    """The branch that begins with an entry of a run."""
    heads = array("i")
    begin = tip = start
    while run >= 0:
        stop = tree.bounds(run)[1]
        heads.extend(match.start() for match in HEAD.finditer(tree.kind, begin, stop))
        tip = stop - 1
        run = tree.largest(tree.content_children(run))
        begin = tree.starts[run] if run >= 0 else 0
    content = CONTENT.search(tree.kind, start)
    if content is not None and (not heads or heads[0] != content.start()):
        # It begins in the middle of a turn: with a reply, as a rule.
        heads.insert(0, content.start())
    return SideBranch(turn, heads, tree.content_at(tip))


def _hanging(
    overview: Overview, archived: set[int], stop: Callable[[], bool]
) -> tuple[SideBranch, ...] | None:
    """All branches of the path, including those before the first turn."""
    tree = overview.tree
    found: list[SideBranch] = []
    for number, (run, end) in enumerate(overview.stops.items()):
        if stop():
            return None
        content = tree.run_content[run]
        if number and not content:
            # Entries below bookkeeping belong to the entry above it.
            continue
        turn = overview.turn_of(end - 1) if content else -1
        behind = tree.bounds(run)[1]
        if tree.content_in([Run(end, behind)]):
            # The leaf was moved up: the branch that it left goes on below it.
            found.append(_branch(tree, turn, run, end))
            continue
        found.extend(
            _branch(tree, turn, child, tree.starts[child])
            for child in tree.content_children(run)
            if child not in overview.stops and tree.starts[child] not in archived
        )
    found.sort(key=lambda branch: branch.turn)
    return tuple(found)
