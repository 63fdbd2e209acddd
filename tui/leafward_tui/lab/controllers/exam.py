"""The exam of the draft on show, graded when its page opens; a model sits it on request."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward_tui.lab.controllers.controller import LabController
from leafward_tui.lab.draft_grade import graded

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.draft.draft import Draft
    from leafward.compaction.exam.grade import Exam
    from leafward.compaction.exam.sitting import ExamAnswers


class DraftGrader(LabController):
    """Owns `state.exam`."""

    def grade(self, draft: Draft, then: Callable[[], object]) -> None:
        """Grades a draft once, and calls `then` afterwards."""
        found = self._state.exam
        if found.draft is draft:
            return
        found.draft, found.result, found.answers, found.results = draft, None, (), ()
        self._jobs.latest(
            "grade",
            partial(graded, draft),
            partial(self._take, draft, then),
            lambda text: self._view.tell(text, "bad"),
        )

    def ask_model(self, then: Callable[[], object]) -> None:
        """Has a model sit the exam of the draft, after showing the request; calls `then` when it has answered."""
        from leafward.compaction.exam.sitting import kept_as, sitting_of_draft
        from leafward_tui.ui.sheets.exam_request import ExamRequest, Subject

        state, draft = self._state, self._state.exam.draft
        if draft is None:
            return

        def keep(sat: ExamAnswers, words: str, _refused: Callable[[str], object]) -> None:
            if state.exam.draft is draft:
                state.exam.answers = (*state.exam.answers, kept_as(sat))
                state.exam.results = (*state.exam.results, sat.result)
                self._view.tell(words)
                then()

        subject = Subject(
            state.session.path,
            partial(sitting_of_draft, draft),
            keep,
            "the answer is kept with the compaction when you accept it",
        )
        ExamRequest(self._services, self._jobs, self._view.open_sheet, subject).begin()

    def _take(self, draft: Draft, then: Callable[[], object], result: Exam) -> None:
        found = self._state.exam
        if found.draft is draft:
            found.result = result
            then()
