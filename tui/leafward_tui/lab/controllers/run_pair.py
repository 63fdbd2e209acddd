"""The comparison of two runs: A, and the one under the cursor."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol

from leafward_tui.lab.controllers.exam import graded
from leafward_tui.lab.model.runs import FactsKept, difference, exam_difference, run_head, run_lines
from leafward_tui.lab.model.texts import summary_lines
from leafward_tui.ui.panes.pane_lines import Block

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from leafward.compaction.exam.grade import Exam
    from leafward_tui.lab.model.choices import Choices
    from leafward_tui.lab.model.runs import Run
    from leafward_tui.ui.jobs import Jobs
    from leafward_tui.ui.panes.lines_view import LinesView
    from leafward_tui.ui.services import AppServices


class RunsPort(Protocol):
    """The screen of the runs."""

    @property
    def table(self) -> LinesView:
        """The lines of the runs."""

    @property
    def table_head(self) -> LinesView:
        """The names of its columns."""

    @property
    def facts(self) -> LinesView:
        """The facts that survive in each."""

    @property
    def exams(self) -> LinesView:
        """The questions that can be answered after each."""

    @property
    def texts(self) -> tuple[LinesView, LinesView]:
        """Both summaries."""

    @property
    def place(self) -> int:
        """The number of the pane with the keys: 0 the table, 1 and 2 the summaries."""

    def focus_place(self, place: int) -> None:
        """Gives the keys to the table or a summary."""

    def show_head(self, note: str) -> None:
        """Shows the head of the table."""

    def show_names(self, first: Run, second: Run) -> None:
        """Shows the heads of both summaries."""

    def dismiss(self, choices: Choices | None) -> object:
        """Closes the screen with the choices to go on with."""


@dataclass(slots=True)
class RunsState:
    """The runs. Written by `RunPair` alone."""

    runs: tuple[Run, ...]
    first: int = field(init=False)
    """The number of the run called A."""
    kept: FactsKept = field(init=False)
    exams: dict[int, Exam] = field(init=False)
    """The graded exams, by the number of the run."""

    def __post_init__(self) -> None:
        self.exams = {number: run.exam for number, run in enumerate(self.runs) if run.exam is not None}
        self.first = max(0, len(self.runs) - 2)
        self.kept = FactsKept(self.runs)


class RunPair:
    """Performs the keys of the runs."""

    def __init__(self, state: RunsState, view: RunsPort, services: AppServices, jobs: Jobs) -> None:
        self._state = state
        self._jobs = jobs
        self._view = view
        self._services = services
        self.actions: Mapping[str, Callable[[], object]] = {
            "pane.next": partial(self._step_pane, 1),
            "pane.previous": partial(self._step_pane, -1),
            "run.take": self.take,
            "run.first": self.call_first,
            "copy.text": self.copy,
            "mode.leave": partial(view.dismiss, None),
        }

    @property
    def second(self) -> int:
        """The run under the cursor: B."""
        _, _, number = self._view.table.key.partition(":")
        return int(number) if number else len(self._state.runs) - 1

    def show(self, at: str | None = None) -> None:
        """Draws all panes, after A or the size changed."""
        state, glyphs = self._state, self._services.glyphs
        self._view.show_head("each run is scored on its own facts; A beside the run under the cursor")
        self._view.table_head.show(lambda width, _height: Block([run_head(width)]))
        self._view.table.show(lambda width, _height: run_lines(state.runs, state.first, width, glyphs), at=at)
        self.show_pair()

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
        (self._view.table, *self._view.texts)[place].move_by(by)
        if place == 0:
            self.show_pair()

    def _step_pane(self, by: int) -> None:
        """Goes on between the table, the summary of A and that of B."""
        self._view.focus_place((self._view.place + by) % 3)

    def call_first(self) -> None:
        """Makes the run under the cursor A."""
        self._state.first = self.second
        self.show()

    def take(self) -> None:
        """Closes the screen with the settings of the run under the cursor."""
        self._view.dismiss(self._state.runs[self.second].choices)

    def copy(self) -> None:
        """Copies the summary of the run under the cursor, or of the summary pane with the keys."""
        number = self._state.first if self._view.place == 1 else self.second
        self._services.copy(self._state.runs[number].text)
