"""Two nodes and what lies between them and their common ancestor, decoded once."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from leafward.base.errors import Cancelled
from leafward.base.gc_pause import gc_paused
from leafward.branches.diff.outcomes import OutcomeReader, Outcomes
from leafward.context.sizes import entries_below
from leafward.files.file_replay import Outcome, StepReader
from leafward.session.entries import BOOKKEEPING_BYTES, PROMPTS, EntryIndex, Kind

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable

    from leafward.files.file_replay import Step
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
    """One of the nodes that are compared: what its path adds to the common ancestor."""

    node: EntryIndex
    """-1 is before everything."""
    entries: array[int]
    """Below the ancestor, in order, the node among them; without what Leafward noted."""
    spoken: bool
    """Whether any of them belongs to the conversation."""
    turns: int
    """Prompts and commands of the user among them."""
    steps: tuple[Step, ...]
    _outcomes: _Outcomes

    @property
    def outcomes(self) -> Outcomes:
        """What came of it; added up when first asked for, and decodes only what the steps had no need of."""
        return self._outcomes.get(self.entries)

    @property
    def edits(self) -> int:
        """Calls that changed a file and did not fail; one without a result counts, as in the tree and in a file's row."""
        done = (one for one in self.steps if one.operation.changes and one.outcome is not Outcome.FAILED)
        return len({(one.entry, one.call_id) for one in done})


@dataclass(frozen=True, slots=True)
class Sides:
    """Two nodes with their common ancestor."""

    session: Session
    ancestor: EntryIndex
    """The deepest entry on both paths; -1 where they have none."""
    shared: Side
    """What both paths have: from the root to the ancestor."""
    a: Side
    b: Side

    @property
    def ancestor_side(self) -> str:
        """`A` or `B`: the side that is an ancestor of the other; empty where neither is, or both are one entry."""
        if self.ancestor < 0 or self.a.node == self.b.node:
            return ""
        return {self.a.node: "A", self.b.node: "B"}.get(self.ancestor, "")


def sides(session: Session, a: int, b: int, stop: Callable[[], bool] = lambda: False) -> Sides:
    """Two nodes; of their paths each entry that says something of files is decoded once. Raises Cancelled once `stop` turns true.

    What only keeps books behind a node's place belongs to neither side, as in the price of a move; what was spent there does.
    """
    a, b = _place(session, a), _place(session, b)
    ancestor = session.tree.common_ancestor(a, b)
    reader = StepReader(session)
    with gc_paused():
        parts = [
            _side(reader, session, above, node, stop)
            for above, node in ((-1, ancestor), (ancestor, a), (ancestor, b))
        ]
    return Sides(session, ancestor, *parts)


def _place(session: Session, node: int) -> int:
    """The nearest entry of the conversation at or above a node, or the entry between them that says what was spent."""
    place, kinds = session.tree.content_at(node), session.columns.kind
    if place < 0:
        return node
    while node != place and kinds[node] != Kind.USAGE:
        node = session.columns.parent[node]
    return node


def side(session: Session, ancestor: int, node: int, stop: Callable[[], bool] = lambda: False) -> Side:
    """What the path to a node adds below an entry of it. Raises Cancelled once `stop` turns true."""
    with gc_paused():
        return _side(StepReader(session), session, ancestor, node, stop)


def _side(reader: StepReader, session: Session, ancestor: int, node: int, stop: Callable[[], bool]) -> Side:
    below = entries_below(session, EntryIndex(ancestor), EntryIndex(node))
    entries = session.columns.without_notes(below)
    kinds = bytes(map(session.columns.kind.__getitem__, entries))
    outcomes = OutcomeReader(session)
    made = tuple(reader.read(entries, stop, outcomes.take))
    if stop():
        raise Cancelled
    return Side(
        EntryIndex(node),
        entries,
        bool(kinds.translate(None, BOOKKEEPING_BYTES)),
        sum(map(kinds.count, PROMPTS)),
        made,
        _Outcomes(outcomes),
    )
