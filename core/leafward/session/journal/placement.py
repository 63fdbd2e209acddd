"""The parents of an operation's entries, and their form in the file: the keys that pi writes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from leafward.base.errors import Refused
from leafward.base.times import iso_stamp
from leafward.session.entries import MARK, Body, EntryId, EntryIndex, Kind, Usage
from leafward.session.journal.lines import Clock, new_id
from leafward.session.journal.targets import refuse_unreachable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from leafward.session.columns import Columns
    from leafward.session.session import Session


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a future entry, and the session's state when that was decided."""

    id: EntryId
    """The entry's id, which is the operation's as well."""
    parent: EntryIndex
    parent_id: EntryId | None
    leaf: EntryId | None
    """The leaf at that time."""
    stands: EntryId | None
    """The conversation's place at that time."""
    moves: bool
    """Whether it leaves entries of the conversation."""


def place_at(session: Session, at: int, before: Place | None = None) -> Place:
    """The place of an entry that is to follow `at` directly.

    Changes of the model or the thinking level between `at` and the leaf stay on the path: then the parent is the leaf.
    Raises Refused where the conversation went on since an earlier decision `before`, and where nothing can follow `at`.
    """
    stands = session.columns.id_at(session.place)
    if before is not None and stands != before.stands:
        raise Refused(f"{session.path.name} has changed since this was made; make it again")
    tree, here = session.tree, session.leaf
    stays = tree.content_at(at) == session.place
    parent = EntryIndex(at)
    if stays and tree.is_ancestor(at, here):
        between = {
            session.columns.kind[entry]
            for run in tree.below(at, here)
            for entry in range(run.start, run.stop)
        }
        if between & _SETTINGS or (before is not None and session.columns.id_at(at) == before.leaf):
            parent = here
    refuse_unreachable(session, parent)
    free = before is not None and session.columns.index(before.id) < 0
    entry = before.id if before is not None and free else new_id(session.columns)
    return Place(
        entry, parent, session.columns.id_at(parent), session.columns.id_at(here), stands, moves=not stays
    )


_SETTINGS = {Kind.MODEL_CHANGE, Kind.THINKING_CHANGE}


def mark(place: Place) -> Body:
    """Leafward's note on the lines of an operation that moves the place."""
    return {MARK: {"op": place.id, "from": place.leaf}}


def usage_body(usage: Usage | None, cost: float | None) -> Body:
    """Usage as pi stores it; all zero where no model was used."""
    used = usage if usage is not None else Usage()
    dollars = cost if cost is not None else used.cost
    return {
        "input": used.input,
        "output": used.output,
        "cacheRead": used.cache_read,
        "cacheWrite": used.cache_write,
        "totalTokens": used.total,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": dollars},
    }


def stamped(kind: str, place: Place, moment: datetime, body: Body) -> Body:
    """An entry with its keys in pi's order."""
    head = {"type": kind, "id": place.id, "parentId": place.parent_id, "timestamp": iso_stamp(moment)}
    return {**head, **body, **mark(place)}


def edit_lines(
    columns: Columns, place: Place, moment: datetime, edits: Sequence[tuple[EntryId, list[Body] | None]]
) -> tuple[list[Body], Place]:
    """Context edits with their targets and replacements, None to remove; each is the parent of the next.

    Also returns the place after them.
    """
    lines: list[Body] = []
    parent = place.parent_id
    taken = {place.id}
    for target, content in edits:
        entry = new_id(columns, taken)
        taken.add(entry)
        head = {"type": "context_edit", "id": entry, "parentId": parent, "timestamp": iso_stamp(moment)}
        replacement = {"content": content} if content is not None else None
        lines.append({**head, "targetId": target, "replacement": replacement, **mark(place)})
        parent = entry
    return lines, replace(place, parent_id=parent)


def milliseconds(now: Clock) -> tuple[datetime, int]:
    """A time, and the same as pi writes it into messages."""
    moment = now()
    return moment, int(moment.timestamp() * 1000)
