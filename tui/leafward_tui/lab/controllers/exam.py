"""The exam of the draft on show, graded when its page opens; a model sits it on request."""

from __future__ import annotations

from dataclasses import replace
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
        found.draft, found.result = draft, None
        self._jobs.latest(
            "grade",
            partial(graded, draft),
            partial(self._take, draft, then),
            lambda text: self._view.tell(text, "bad"),
        )

    def ask_model(self, exchange: Callable[[Draft, Draft], object]) -> None:
        """Has a model sit the exam of the draft, after showing the request.

        `exchange` puts the draft with its answers in the place of the one without.
        """
        from leafward.compaction.exam.sitting import sitting_of_draft
        from leafward_tui.ui.sheets.exam_request import ExamRequest, Subject

        exam = self._state.exam
        draft = exam.draft
        if draft is None:
            return

        def keep(sat: ExamAnswers, words: str, _refused: Callable[[str], object]) -> None:
            made = replace(draft, exams=(*draft.exams, sat.result))
            if exam.draft is draft:
                exam.draft = made
            exchange(draft, made)
            self._view.tell(words)

        subject = Subject(
            self._state.session.path,
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
