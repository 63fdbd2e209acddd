"""Which entries of the path the model reads otherwise than they were said: those that context edits leave out or replace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.entries import EntryIndex, Kind
from leafward.session.messages import edit_targets

if TYPE_CHECKING:
    from leafward.session.session import Session


def edited_entries(session: Session) -> tuple[int, ...]:
    """The entries that edits on the path to the leaf name, ascending. Of bodies, only those of the edits are decoded."""
    kind = session.tree.kind
    edits = []
    for run in session.tree.path_runs(session.place):
        at = kind.find(Kind.CONTEXT_EDIT, run.start, run.stop)
        while at >= 0:
            edits.append(EntryIndex(at))
            at = kind.find(Kind.CONTEXT_EDIT, at + 1, run.stop)
    names = {
        name
        for _, body in session.bodies(edits)
        if body is not None and "replacement" in body
        for name in edit_targets(body)
    }
    return tuple(sorted(at for name in names if (at := session.columns.index(name)) >= 0))
