"""Runs side by side: one line for each, then the facts that survive in two of them and their summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal, Vertical

from leafward_tui.lab.controllers.run_pair import RunPair, RunsState
from leafward_tui.lab.model.choices import Choices
from leafward_tui.ui.bars.title_bar import Fact
from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.keys.key_bar import Hint
from leafward_tui.ui.keys.row_keys import RowSteps
from leafward_tui.ui.panes.hairline import ColumnRule, RowRule
from leafward_tui.ui.panes.lines_view import LinesView
from leafward_tui.ui.panes.tab_head import TabHead
from leafward_tui.ui.screens.screen import BaseScreen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward_tui.lab.model.runs import Run


class RunsScreen(BaseScreen[Choices | None]):
    """The runs of a lab. Ends with the choices of the run to go on with, or with None."""

    NAME: ClassVar[str] = "runs"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("runs")]

    DEFAULT_CSS = """
    RunsScreen {
        #runs-head { height: 2; }
        #table-head { height: 1; }
        #table { height: 4; margin-bottom: 1; }
        #counts { height: 10; }
        #facts, #exams { width: 1fr; height: 1fr; }
        #texts { height: 1fr; }
        #texts > Vertical { width: 1fr; height: 1fr; }
        &.-short #counts { height: 4; }
    }
    """

    def __init__(self, runs: tuple[Run, ...]) -> None:
        super().__init__()
        self.state = RunsState(runs)

    def compose_content(self) -> ComposeResult:
        """The table, below it two summaries."""
        self.head = TabHead(id="runs-head")
        self.table_head = LinesView(id="table-head", cursor=False)
        self.table = LinesView(id="table")
        self.facts = LinesView(id="facts", cursor=False)
        self.exams = LinesView(id="exams", cursor=False)
        self.names = (TabHead(), TabHead())
        self.texts = (LinesView(), LinesView())
        self.pair = RunPair(self.state, self, self.services, self.services.jobs(self))
        steps = RowSteps(self.pair.step, lambda: (self.table, *self.texts)[self.place].size.height)
        self.route(steps, self.pair)
        yield self.head
        yield self.table_head
        yield self.table
        with Horizontal(id="counts"):
            yield self.facts
            yield self.exams
        yield RowRule()
        with Horizontal(id="texts"):
            with Vertical():
                yield self.names[0]
                yield self.texts[0]
            yield ColumnRule()
            with Vertical():
                yield self.names[1]
                yield self.texts[1]

    def mounted(self) -> None:
        """Compares the last run with the one before."""
        number = len(self.state.runs)
        self.title_bar.show("Runs", crumb="Compaction lab", facts=[Fact(f"{number}", "runs made so far")])
        self.table.styles.height = min(8, number)
        self.table.focus()
        self.pair.show(at=f"run:{number - 1}")

    def on_resize(self) -> None:
        """Fits the lines to the new size."""
        self.call_after_refresh(self.pair.show)

    def on_lines_view_chosen(self, message: LinesView.Chosen) -> None:
        """Makes a clicked run B; a double click takes it."""
        message.stop()
        if message.view is self.table:
            self.pair.show_pair()
            if message.twice:
                self.pair.take()

    # --- for the controller -------------------------------------------------------------------------------------------

    @property
    def place(self) -> int:
        """The number of the pane with the keys: 0 the table, 1 and 2 the summaries."""
        return next((at for at, view in enumerate(self.texts, 1) if view.has_focus), 0)

    def focus_place(self, place: int) -> None:
        """Gives the keys to the table or a summary."""
        (self.table, *self.texts)[place].focus()

    def show_head(self, note: str) -> None:
        """Shows the head of the table."""
        self.head.show(("Runs",), "Runs", note=note, focused=True)

    def show_names(self, first: Run, second: Run) -> None:
        """Shows the heads of both summaries."""
        for letter, head, run in zip("AB", self.names, (first, second), strict=True):
            head.show((f"{letter}   {run.name}",), "", right=f"{run.tokens:,} tok")

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        return (
            Hint("run.take", "take its settings", "take"),
            Hint("mode.leave", "back"),
            Hint("run.first", "mark as A", "mark"),
            Hint("pane.next", "summaries"),
            Hint("copy.text"),
        )
