"""Usage recorded in replies: whether it is valid where the reply stands, and sums of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.context.projection import latest
from leafward.session import foreign
from leafward.session.entries import CONTEXT_CHANGES, EntryIndex, Usage
from leafward.session.messages import usage_of, written_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.session.session import Session


def believed(session: Session, reply: EntryIndex) -> bool:
    """Whether a reply was made after the last context change above it; a reply copied there counted another context."""
    return made_since(session, reply, latest(session, reply, CONTEXT_CHANGES))


def made_since(session: Session, reply: EntryIndex, stale: EntryIndex) -> bool:
    """Whether a reply was made after the last context change above it, which is given; -1: none."""
    if stale < 0:
        return True
    made, changed = (written_at(session.body(entry) or {}) for entry in (reply, stale))
    return made is None or changed is None or made >= changed


def usage_total(session: Session, entries: Sequence[int]) -> Usage:
    """Summed usage and cost of many entries. Decodes each of them, or only what tells its usage."""
    return usage_totals(session, entries)[0]


def usage_totals(session: Session, *groups: Sequence[int]) -> list[Usage]:
    """Summed usage and cost of each group of entries. An entry in several groups is decoded once."""
    entries = groups[0] if len(groups) == 1 else sorted(set().union(*groups))
    tell = foreign.usages(session)
    found = (
        ((index, usage_of(body) if body is not None else None) for index, body in session.bodies(entries))
        if tell is None
        else zip(entries, map(tell, entries), strict=True)
    )
    usages: dict[int, Usage] = {index: usage for index, usage in found if usage is not None}
    return [sum((usages[index] for index in group if index in usages), Usage()) for group in groups]
