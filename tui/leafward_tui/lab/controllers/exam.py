"""The exam of the draft on show, graded when its page is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward_tui.lab.jobs import graded

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.draft import Draft
    from leafward.compaction.exam import Exam
    from leafward_tui.lab.ports import LabPort
    from leafward_tui.lab.state import LabState
    from leafward_tui.ui.services import Jobs

__all__ = ["DraftGrader"]


class DraftGrader:
    """Owns `state.exam`."""

    def __init__(self, state: LabState, view: LabPort, jobs: Jobs) -> None:
        self._state = state
        self._view = view
        self._jobs = jobs

    def grade(self, draft: Draft, then: Callable[[], object]) -> None:
        """Grades a draft where that was not done; `then` is called when it is."""
        found = self._state.exam
        if found.draft is draft:
            return
        found.draft, found.result = draft, None
        self._jobs.latest(
            "exam",
            partial(graded, draft),
            partial(self._take, draft, then),
            lambda text: self._view.tell(text, "bad"),
        )

    def _take(self, draft: Draft, then: Callable[[], object], result: Exam) -> None:
        found = self._state.exam
        if found.draft is draft:
            found.result = result
            then()
