"""The grade of a draft's exam, as a job: the lab asks for it, and so does the comparison of its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leafward.compaction.draft.draft import Draft
    from leafward.compaction.exam.grade import Exam
    from leafward_tui.ui.jobs import Job


def graded(draft: Draft, job: Job) -> Exam:
    """The exam of a draft: the knowledge that a model would have after it. Raises Cancelled where it is no longer wanted."""
    from leafward.compaction.exam.grade import exam_of_draft

    return exam_of_draft(draft, job.unwanted)
