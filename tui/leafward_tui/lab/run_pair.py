"""The comparison of two runs: A, and the one under the cursor."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward_tui.lab.draft_grade import graded
from leafward_tui.lab.model.runs import difference, exam_difference, run_head, run_lines
from leafward_tui.lab.model.texts import summary_lines
from leafward_tui.ui.panes.pane_lines import Block
from leafward_tui.ui.screens.screen_controller import ScreenController

if TYPE_CHECKING:
    from leafward.compaction.exam.grade import Exam
    from leafward_tui.lab.display import RunsDisplay
    from leafward_tui.lab.state import RunsState
    from leafward_tui.ui.screens.screen_controller import Means


class RunPair(ScreenController["RunsState", "RunsDisplay"]):
    """Performs the keys of the runs."""

    def __init__(self, means: Means[RunsState, RunsDisplay]) -> None:
        super().__init__(means)
        self.actions = {
            "pane.next": partial(self._step_pane, 1),
            "pane.previous": partial(self._step_pane, -1),
            "run.take": self.take,
            "run.first": self.call_first,
            "copy.text": self.copy,
            "mode.leave": partial(self._view.dismiss, None),
        }

    @property
    def second(self) -> int:
        """The run under the cursor: B."""
        _, _, number = self._view.table.key.partition(":")
        return int(number) if number else len(self._state.runs) - 1

    def show(self, at: str | None = None) -> None:
        """Draws all panes, after A or the size changed."""
        state, glyphs = self._state, self._services.glyphs
        self._show_head("each run is scored on its own facts; A beside the run under the cursor")
        self._view.table_head.show(lambda width, _height: Block([run_head(width)]))
        self._view.table.show(lambda width, _height: run_lines(state.runs, state.first, width, glyphs), at=at)
        self.show_pair()

    def _show_head(self, note: str) -> None:
        self._view.head.show(("Runs",), "Runs", note=note, focused=True)

    def show_pair(self) -> None:
        """Draws A beside B."""
        state, glyphs = self._state, self._services.glyphs
        a, b = state.first, self.second
        first, second = state.runs[a], state.runs[b]
        self._view.facts.show(lambda width, _height: difference(state.kept, a, b, width))
        self.show_exams()
        self._view.show_names(first, second)
        left, right = self._view.texts
        left.show(
            lambda width, _height: summary_lines(
                first.text, width, glyphs, against=(second.text, glyphs.minus)
            )
        )
        right.show(
            lambda width, _height: summary_lines(second.text, width, glyphs, against=(first.text, "+"))
        )

    def show_exams(self) -> None:
        """Draws the exams of A and B, and grades missing ones, one after the other."""
        exams, pair = self._state.exams, (self._state.first, self.second)
        a, b = (exams.get(number) for number in pair)
        self._view.exams.show(lambda width, _height: exam_difference(a, b, width))
        missing = next((number for number in pair if number not in exams), None)
        draft = self._state.runs[missing].draft if missing is not None else None
        if missing is not None and draft is not None:
            self._jobs.latest("exam", partial(graded, draft), partial(self._take, missing))

    def _take(self, number: int, found: Exam) -> None:
        self._state.exams[number] = found
        self.show_exams()

    def step(self, by: int) -> None:
        """Moves the cursor of the pane with the keys."""
        place = self._view.place
        self._view.panes[place].move_by(by)
        if place == 0:
            self.show_pair()

    def _step_pane(self, by: int) -> None:
        """Goes on to another pane."""
        panes = self._view.panes
        panes[(self._view.place + by) % len(panes)].focus()

    def call_first(self) -> None:
        """Makes the run under the cursor A."""
        self._state.first = self.second
        self.show()

    def take(self) -> None:
        """Closes the screen with the settings of the run under the cursor."""
        choices = self._state.runs[self.second].choices
        if choices is None:
            self._show_head("a stored compaction has no settings to take")
        else:
            self._view.dismiss(choices)

    def copy(self) -> None:
        """Copies the summary of the run under the cursor, or of the summary pane with the keys."""
        number = self._state.first if self._view.texts[0].has_focus else self.second
        self._services.copy(self._state.runs[number].text)
