"""What a filter shows: entries that a query chooses, or that touch a file; and the files to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.base.safe_text import safe_line
from leafward.files.file_replay import steps, timeline
from leafward.query.select import select

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.files.file_replay import Step
    from leafward.session.session import Session
    from leafward_tui.ui.services import Job


class Chosen(NamedTuple):
    """Entries that a filter shows."""

    words: str
    """What chose them."""
    entries: tuple[int, ...]
    touching: tuple[Step, ...] = ()
    """The steps of the file that was asked for."""


def choose(session: Session, query: str, job: Job) -> Chosen:
    """The entries that a query chooses. Raises Cancelled, QueryError."""
    return Chosen(safe_line(query, 200), tuple(select(session, query, job.stop).entries))


def choose_touching(session: Session, path: str, job: Job) -> Chosen:
    """The entries of all branches that read or change a file. Raises Cancelled."""
    found = timeline(session, path, stop=job.stop)
    entries = tuple(sorted({int(one.entry) for one in found}))
    return Chosen(safe_line(path, 200), entries, tuple(found))


def files_touched(session: Session, entries: Sequence[int], job: Job) -> tuple[str, ...]:
    """The files that entries touch, those first that are changed: that is what is asked for most. Raises Cancelled."""
    found = sorted(steps(session, entries, job.stop), key=lambda step: not step.deed.changes)
    return tuple(dict.fromkeys(step.path for step in found))
