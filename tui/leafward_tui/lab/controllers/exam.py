"""The exam of the draft on show, graded when its page is; a model sits it where it is asked to."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward_tui.lab.jobs import graded

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.draft import Draft
    from leafward.compaction.exam import Exam
    from leafward.compaction.exam.sitting import Sat
    from leafward_tui.lab.ports import LabPort
    from leafward_tui.lab.state import LabState
    from leafward_tui.ui.services import AppServices, Jobs

__all__ = ["DraftGrader"]


class DraftGrader:
    """Owns `state.exam`."""

    def __init__(self, state: LabState, view: LabPort, jobs: Jobs, services: AppServices) -> None:
        self._state = state
        self._view = view
        self._jobs = jobs
        self._services = services

    def grade(self, draft: Draft, then: Callable[[], object]) -> None:
        """Grades a draft where that was not done; `then` is called when it is."""
        found = self._state.exam
        if found.draft is draft:
            return
        found.draft, found.result, found.answers = draft, None, ()
        self._jobs.latest(
            "exam",
            partial(graded, draft),
            partial(self._take, draft, then),
            lambda text: self._view.tell(text, "bad"),
        )

    def ask_model(self, then: Callable[[], object]) -> None:
        """Has a model sit the exam of the draft, after showing what it would be sent; `then` is called when it answered."""
        from leafward.compaction.exam.sitting import kept_as, sitting_of_draft
        from leafward_tui.ui.exam_request import ExamRequest, Subject

        state, draft = self._state, self._state.exam.draft
        if draft is None:
            return

        def keep(sat: Sat, words: str, _refused: Callable[[str], object]) -> None:
            if state.exam.draft is draft:
                state.exam.answers = (*state.exam.answers, kept_as(sat))
                self._view.tell(words)
                then()

        subject = Subject(
            state.session.path, partial(sitting_of_draft, draft), keep, "the answer is told beside the draft"
        )
        ExamRequest(self._services, self._jobs, self._view.open_sheet, subject).begin()

    def _take(self, draft: Draft, then: Callable[[], object], result: Exam) -> None:
        found = self._state.exam
        if found.draft is draft:
            found.result = result
            then()
