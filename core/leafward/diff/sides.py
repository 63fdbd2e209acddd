"""Two nodes and what lies between them and their common ancestor, decoded once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.diff.outcomes import OutcomeReader, Outcomes
from leafward.entries import BOOKKEEPING_BYTES, EntryIndex, Kind, tool_calls
from leafward.files import did_run
from leafward.rebuilding import Outcome, StepReader
from leafward.sizes import Cancelled, entries_below

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable

    from leafward.rebuilding import Step
    from leafward.session import Session


@dataclass(frozen=True, slots=True)
class Side:
    """One of the nodes that are compared: what its path adds to the common ancestor."""

    node: EntryIndex
    """-1 is before everything."""
    entries: array[int]
    """Below the ancestor, in order, the node among them."""
    said: int
    """How many of them belong to the conversation."""
    turns: int
    """Prompts of the user among them."""
    steps: tuple[Step, ...]
    outcomes: Outcomes

    @property
    def edits(self) -> int:
        """Calls that changed a file and did not fail."""
        done = (one for one in self.steps if one.deed.changes and one.outcome is Outcome.DONE)
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


def sides(session: Session, a: int, b: int, stop: Callable[[], bool] = lambda: False) -> Sides:
    """Two nodes; each entry of their paths is decoded once. Raises Cancelled once `stop` turns true."""
    ancestor = session.tree.common_ancestor(a, b)
    parts = (
        side(session, above, node, stop) for above, node in ((-1, ancestor), (ancestor, a), (ancestor, b))
    )
    return Sides(session, ancestor, *parts)


def side(session: Session, ancestor: int, node: int, stop: Callable[[], bool] = lambda: False) -> Side:
    """What the path to a node adds below an entry of it. Raises Cancelled once `stop` turns true."""
    kinds = session.columns.kind
    entries = entries_below(session, EntryIndex(ancestor), EntryIndex(node))
    step_reader, outcome_reader = StepReader(session), OutcomeReader(session)
    wanted = step_reader.KINDS | outcome_reader.KINDS
    for index, body in session.bodies(at for at in entries if kinds[at] in wanted):
        if stop():
            raise Cancelled
        message = body.get("message") if body is not None else None
        if body is None or not isinstance(message, dict):
            continue
        calls = tool_calls(message) if kinds[index] == Kind.ASSISTANT and did_run(message) else []
        step_reader.take(index, body, message, calls)
        outcome_reader.take(index, body, message, calls)
    return Side(
        EntryIndex(node),
        entries,
        sum(1 for at in entries if kinds[at] not in BOOKKEEPING_BYTES),
        sum(1 for at in entries if kinds[at] == Kind.USER),
        tuple(step_reader.steps()),
        outcome_reader.outcomes(),
    )
