"""A model's exam of a compaction: begun from its line in the inspector, the answers kept in the session.

The request is shown first (`ui/sheets/exam_request`); the questions and the right answers stand in
`leafward.compaction.exam.sitting`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.session.entries import EntryIndex
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.exam.sitting import ExamAnswers
    from leafward.session.journal.write import Write, Writing
    from leafward.session.session import Session
    from leafward_tui.explorer.controllers.followed_file import FollowedFile
    from leafward_tui.explorer.controllers.write import SessionWrite


class CompactionExam(ExplorerController):
    """Has a model sit an exam."""

    def __init__(self, means: ExplorerMeans, followed: FollowedFile, write: SessionWrite) -> None:
        super().__init__(means)
        self._followed = followed
        self._write = write

    def ask_model(self, compaction: int) -> None:
        """Has a model sit the exam of a compaction, after showing the request; its answers are kept."""
        from leafward.compaction.exam.sitting import sitting
        from leafward_tui.ui.sheets.exam_request import ExamRequest, Subject

        session, write = self._state.session, self._write
        if session is None or write.is_read_only() or write.waits_for_summary() or write.waits_for_write():
            return
        index = EntryIndex(compaction)
        make, keep = partial(sitting, session, index), partial(self._keep, index)
        subject = Subject(session.path, make, keep, "the answer is kept with the compaction")
        ExamRequest(self._services, self._jobs, self._view.open_sheet, subject).begin()

    def _keep(
        self, compaction: EntryIndex, sat: ExamAnswers, done: str, refused: Callable[[str], object]
    ) -> None:
        """Keeps the answers, which were paid for, even where the agent went on while the model answered."""
        session = self._state.session

        def once_more(problem: str) -> None:
            if session is not None and session is self._state.session and session.changed_on_disk():
                self._followed.reread(
                    (compaction,), lambda found: self._append(found[0], sat, done, refused), refused
                )
            else:
                refused(problem)

        self._append(compaction, sat, done, once_more)

    def _append(self, compaction: int, sat: ExamAnswers, done: str, refused: Callable[[str], object]) -> None:
        from leafward.compaction.exam.sitting import keep_exam

        def keep(session: Session, writing: Writing) -> Write:
            return keep_exam(session, compaction, sat.result, writing)

        self._write.start(f"{done}; kept with the compaction", keep, self._view.inspector.reload, refused)
