"""Runs side by side: one line for each, then the facts that survive in two of them and their summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal, Vertical

from leafward_tui.lab.display import RunsDisplay
from leafward_tui.lab.model.choices import Choices
from leafward_tui.lab.run_pair import RunPair
from leafward_tui.lab.state import RunsState
from leafward_tui.ui.bars.key_bar import Hint
from leafward_tui.ui.bars.title_bar import Fact
from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.panes.hairline import ColumnRule, RowRule
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.screens.screen import BaseScreen
from leafward_tui.ui.screens.screen_controller import Means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward_tui.lab.model.runs import Run
    from leafward_tui.ui.panes.lines_view import LinesView


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
        view = self.view = RunsDisplay(self)
        means = Means(self.state, view, self.services, self.services.jobs(self))
        self.pair = RunPair(means)
        self.route(RowSteps(self.pair.step, lambda: view.panes[view.place].size.height), self.pair)
        yield view.head
        yield view.table_head
        yield view.table
        with Horizontal(id="counts"):
            yield view.facts
            yield view.exams
        yield RowRule()
        with Horizontal(id="texts"):
            with Vertical():
                yield view.names[0]
                yield view.texts[0]
            yield ColumnRule()
            with Vertical():
                yield view.names[1]
                yield view.texts[1]

    def mounted(self) -> None:
        """Compares the last run with the one before."""
        number = len(self.state.runs)
        self.title_bar.show("Runs", crumb="Compaction lab", facts=[Fact(f"{number}", "runs made so far")])
        self.view.table.styles.height = min(8, number)
        self.view.table.focus()
        self.pair.show(at=f"run:{number - 1}")

    def on_resize(self) -> None:
        """Fits the lines to the new size."""
        self.call_after_refresh(self.pair.show)

    def on_lines_view_chosen(self, message: LinesView.Chosen) -> None:
        """Makes a clicked run B; a double click takes it."""
        message.stop()
        if message.view is self.view.table:
            self.pair.show_pair()
            if message.twice:
                self.pair.take()

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        return (
            Hint("run.take", "take its settings", "take"),
            Hint("mode.leave", "back"),
            Hint("run.first", "mark as A", "mark"),
            Hint("pane.next", "next pane", "pane"),
            Hint("copy.text"),
        )
