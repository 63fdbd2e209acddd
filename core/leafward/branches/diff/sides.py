"""Two entries, and the entries between each and their common ancestor, decoded once."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from leafward.base.errors import Cancelled
from leafward.base.gc_pause import gc_paused
from leafward.branches.diff.outcomes import OutcomeReader, Outcomes
from leafward.context.sizes import entries_below
from leafward.files.file_replay.step_reader import StepReader
from leafward.files.file_replay.steps import StepOutcome
from leafward.session.entries import BOOKKEEPING_BYTES, PROMPTS, EntryIndex, Kind

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable

    from leafward.files.file_replay.steps import ReplayStep
    from leafward.session.session import Session


@dataclass(slots=True)
class _Outcomes:
    """Outcomes that are made once, by whichever thread asks first."""

    reader: OutcomeReader
    made: Outcomes | None = None
    lock: Lock = field(default_factory=Lock)

    def get(self, entries: array[int]) -> Outcomes:
        with self.lock:
            if self.made is None:
                self.made = self.reader.outcomes(entries)
            return self.made


@dataclass(frozen=True, slots=True)
class Side:
    """One of the compared entries, with the entries that its path adds to the common ancestor."""

    entry: EntryIndex
    """-1 stands before all entries."""
    entries: array[int]
    """Entries below the ancestor, in order, including `entry`; without Leafward's own notes."""
    spoken: bool
    """Whether any of them belongs to the conversation."""
    turns: int
    """Prompts and commands of the user among them."""
    steps: tuple[ReplayStep, ...]
    _outcomes: _Outcomes

    @property
    def outcomes(self) -> Outcomes:
        """The outcome of the branch, worked out on first use by decoding only the bodies that the steps did not need."""
        return self._outcomes.get(self.entries)

    @property
    def edits(self) -> int:
        """Calls that changed a file and did not fail; calls without a result count, as in the tree and in a file's row."""
        done = (one for one in self.steps if one.operation.changes and one.outcome is not StepOutcome.FAILED)
        return len({(one.entry, one.call_id) for one in done})


@dataclass(frozen=True, slots=True)
class Sides:
    """Two entries with their common ancestor."""

    session: Session
    ancestor: EntryIndex
    """The deepest entry on both paths; -1 where they have none."""
    shared: Side
    """The entries of both paths: from the root to the ancestor."""
    a: Side
    b: Side

    @property
    def ancestor_side(self) -> str:
        """`A` or `B`: the side that is an ancestor of the other; empty where neither is, or both are one entry."""
        if self.ancestor < 0 or self.a.entry == self.b.entry:
            return ""
        return {self.a.entry: "A", self.b.entry: "B"}.get(self.ancestor, "")


def sides(session: Session, a: int, b: int, stop: Callable[[], bool] = lambda: False) -> Sides:
    """Compares two entries by the entries that each path adds below the common ancestor. Raises Cancelled once `stop` turns true.

    Each entry of the paths that concerns files is decoded once. Metadata below the place of `a` or `b` belongs to neither
    side, as in the price of a move; usage recorded there counts.
    """
    a, b = _place(session, a), _place(session, b)
    ancestor = session.tree.common_ancestor(a, b)
    reader = StepReader(session)
    with gc_paused():
        parts = [
            _side(reader, session, above, entry, stop)
            for above, entry in ((-1, ancestor), (ancestor, a), (ancestor, b))
        ]
    return Sides(session, ancestor, *parts)


def _place(session: Session, entry: int) -> int:
    """The nearest entry of the conversation at or above `entry`, or an entry between the two that records usage."""
    place, kinds = session.tree.content_at(entry), session.columns.kind
    if place < 0:
        return entry
    while entry != place and kinds[entry] != Kind.USAGE:
        entry = session.columns.parent[entry]
    return entry


@gc_paused()
def side(session: Session, ancestor: int, entry: int, stop: Callable[[], bool] = lambda: False) -> Side:
    """The entries that the path to `entry` adds below its ancestor. Raises Cancelled once `stop` turns true."""
    return _side(StepReader(session), session, ancestor, entry, stop)


def _side(reader: StepReader, session: Session, ancestor: int, entry: int, stop: Callable[[], bool]) -> Side:
    below = entries_below(session, EntryIndex(ancestor), EntryIndex(entry))
    entries = session.columns.without_notes(below)
    kinds = bytes(map(session.columns.kind.__getitem__, entries))
    outcomes = OutcomeReader(session)
    made = tuple(reader.read(entries, stop, outcomes.take))
    if stop():
        raise Cancelled
    return Side(
        EntryIndex(entry),
        entries,
        bool(kinds.translate(None, BOOKKEEPING_BYTES)),
        sum(map(kinds.count, PROMPTS)),
        made,
        _Outcomes(outcomes),
    )
