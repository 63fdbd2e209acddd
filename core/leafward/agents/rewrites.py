"""Tells a session whose file only grew since it was read from one whose file was rewritten: its entries are other ones now."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from leafward.agents.recognition import agent_behind
from leafward.base.errors import NotASession, Refused

if TYPE_CHECKING:
    from leafward.session.session import Session


def only_grew(session: Session) -> bool:
    """Whether the file, read anew, begins with the entries of a session, each in its place, and goes on behind them.

    A file that changed and neither got longer nor has more entries was written over, also where each entry kept its place. That it
    was written over and grew as well cannot be told: the bytes from before are gone.
    """
    try:
        with closing(agent_behind(session).open(session.path)) as now:
            before, size = session.columns, len(session)
            return (
                (len(now) > size or (len(now) == size and _length(now) > _length(session)))
                and now.columns.ids.startswith(before.ids)
                and now.columns.kind.startswith(before.kind)
                and now.columns.parent[:size] == before.parent
                and now.columns.start[:size] == before.start
                and before.other_ids.items() <= now.columns.other_ids.items()
            )
    except (NotASession, OSError):
        return False


def _length(session: Session) -> int:
    """The bytes that were read of a session, with an entry that is being written."""
    scan = session.source.scan
    return scan.end + (scan.pending.size if scan.pending is not None else 0)


def refuse_rewritten(session: Session) -> None:
    """Raises Refused where the file does not hold the entries that were read any more: what is read of them would be of others.

    An unchanged file costs a stat, a changed one is read anew. A file that is gone is no change: the open one stays readable.
    """
    if session.changed_on_disk() and not only_grew(session):
        raise Refused(f"{session.path.name} was rewritten since it was read: reload it")
