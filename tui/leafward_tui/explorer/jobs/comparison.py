"""The branches of a session for their table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.branches.diff.sides import side
from leafward.session.entries import EntryIndex, Kind
from leafward.session.headline import headline
from leafward_tui.explorer.model.branch_table import BranchRow

if TYPE_CHECKING:
    from leafward.session.session import Session
    from leafward_tui.ui.services import Job


def read_branches(session: Session, job: Job) -> tuple[BranchRow, ...]:
    """What came of every leaf. Raises Cancelled."""
    kinds = session.columns.kind
    branch_points = frozenset(int(at) for at in session.tree.branch_points())
    found = []
    for leaf in session.tree.leaves():
        made = side(session, _own_part(session, leaf, branch_points), leaf, job.stop)
        # Made here, and not where they are drawn.
        _ = made.outcomes
        first = next((at for at in made.entries if kinds[at] == Kind.USER), leaf)
        label = next((session.labels[at] for at in map(EntryIndex, made.entries) if at in session.labels), "")
        words = f"[{label}] " if label else ""
        found.append(BranchRow(leaf, words + headline(session, first).text, made))
    return tuple(found)


def _own_part(session: Session, leaf: int, branch_points: frozenset[int]) -> int:
    """The nearest branch point above a leaf; -1 where it is alone."""
    return next((at for at in reversed(session.tree.path(leaf)) if at != leaf and at in branch_points), -1)
