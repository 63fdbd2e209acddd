"""What the X-ray does beside the screen: functions of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Cancelled
from leafward.compaction.summary_comparison import compare_summaries, summary_at
from leafward.compaction.xray import xray_edited, xray_of, xray_planned
from leafward.session.journal.operations import marks, operations, undoable
from leafward_tui.ui.survival_cache import survivals_of
from leafward_tui.xray.model.captions import Fates
from leafward_tui.xray.model.matching import rows_holding

if TYPE_CHECKING:
    from leafward.compaction.draft import Draft
    from leafward.compaction.plan import Plan
    from leafward.compaction.summary_comparison import SummaryDiff
    from leafward.compaction.xray import XRay
    from leafward.session.session import Session
    from leafward_tui.ui.services import Job
    from leafward_tui.xray.model.arrangement import Side

__all__ = [
    "MadeXRay",
    "edits_xray",
    "fates_of",
    "found_rows",
    "planned_xray",
    "stored_xray",
    "summary_difference",
    "traced",
]


class MadeXRay(NamedTuple):
    """An X-ray, and the operation that made its context edits where an undo would take that one back."""

    xray: XRay
    undo_op: str = ""


def stored_xray(session: Session, compaction: int, _job: Job) -> MadeXRay:
    """The X-ray of a stored compaction. Raises LeafwardError, OSError."""
    return MadeXRay(xray_of(session, compaction))


def planned_xray(session: Session, plan: Plan, draft: Draft | None, _job: Job) -> MadeXRay:
    """The X-ray of a compaction that is not written. Raises LeafwardError, OSError."""
    return MadeXRay(xray_planned(session, plan, draft))


def edits_xray(session: Session, entry: int, _job: Job) -> MadeXRay:
    """The X-ray of context edits. Raises LeafwardError, OSError."""
    xray = xray_edited(session, entry)
    made = marks(session.body(xray.compaction) or {}).get("op")
    last = undoable(operations(session))
    return MadeXRay(xray, last.op if last is not None and last.op == made else "")


def traced(xray: XRay, job: Job) -> None:
    """Finds the sources of the summary's lines. Raises Cancelled."""
    xray.origins.fill(job.unwanted)
    if job.unwanted():
        raise Cancelled


def fates_of(session: Session, compaction: int, draft: Draft | None, job: Job) -> Fates:
    """What became of the facts that a compaction, or a draft of one, replaced. Raises Cancelled, LeafwardError, OSError."""
    if draft is not None:
        return Fates.of(draft.survival)
    return Fates.of(survivals_of(session).report(session, compaction, job.unwanted))


def found_rows(session: Session, xray: XRay, words: str, job: Job) -> list[tuple[Side, int]]:
    """The rows that hold words, with the side they stand on. Raises LeafwardError, OSError."""
    return rows_holding(session, xray, words, job.unwanted)


def summary_difference(session: Session, other: int, summary: str, earlier: bool, _job: Job) -> SummaryDiff:
    """A summary compared with another one of the session, the earlier first. Raises LeafwardError, OSError."""
    found = summary_at(session, other)
    before, after = (found, summary) if earlier else (summary, found)
    return compare_summaries(before, after, session.cwd)
