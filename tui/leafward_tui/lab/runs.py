"""Runs side by side: a line a run, then what survives in two of them and their summaries."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal, Vertical

from leafward_tui.lab.model.choices import Choices
from leafward_tui.lab.model.runs import FactsKept, difference, run_head, run_lines
from leafward_tui.lab.model.texts import summary_lines
from leafward_tui.ui.hairline import ColumnRule, RowRule
from leafward_tui.ui.intents import bindings_for
from leafward_tui.ui.key_bar import Hint
from leafward_tui.ui.lines_view import LinesView
from leafward_tui.ui.pane_head import PaneHead
from leafward_tui.ui.pane_lines import Block
from leafward_tui.ui.row_keys import RowKeys
from leafward_tui.ui.screen import BaseScreen
from leafward_tui.ui.title_bar import Fact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward_tui.lab.model.runs import Run
    from leafward_tui.ui.glyphs import Glyphs


class RunsScreen(RowKeys, BaseScreen[Choices | None]):
    """The runs of a lab. Ends with the choices of the one to go on with, or with None."""

    NAME: ClassVar[str] = "runs"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("runs")]

    DEFAULT_CSS = """
    RunsScreen {
        #runs-head { height: 2; }
        #table-head { height: 1; }
        #table { height: 4; margin-bottom: 1; }
        #facts { height: 10; }
        #texts { height: 1fr; }
        #texts > Vertical { width: 1fr; height: 1fr; }
        &.-short #facts { height: 4; }
    }
    """

    def __init__(self, runs: tuple[Run, ...]) -> None:
        super().__init__()
        self.runs = runs
        self.kept = FactsKept(runs)
        self.shares = self.kept.shares()
        self.first = max(0, len(runs) - 2)
        """The run that is called A."""

    def compose_content(self) -> ComposeResult:
        """The table, below it two summaries."""
        self.head = PaneHead(id="runs-head")
        self.table_head = LinesView(id="table-head", cursor=False)
        self.table = LinesView(id="table")
        self.facts = LinesView(id="facts", cursor=False)
        self.names = (PaneHead(), PaneHead())
        self.texts = (LinesView(), LinesView())
        yield self.head
        yield self.table_head
        yield self.table
        yield self.facts
        yield RowRule()
        with Horizontal(id="texts"):
            with Vertical():
                yield self.names[0]
                yield self.texts[0]
            yield ColumnRule()
            with Vertical():
                yield self.names[1]
                yield self.texts[1]

    def on_mount(self) -> None:
        """The last run against the one before."""
        super().on_mount()
        self.title_bar.show(
            "Runs", crumb="Compaction lab", facts=[Fact(f"{len(self.runs)}", "runs made so far")]
        )
        self.table.styles.height = min(8, len(self.runs))
        self.table.focus()
        self.show_runs(at=f"run:{len(self.runs) - 1}")

    @property
    def second(self) -> int:
        """The run under the cursor: B."""
        _, _, number = self.table.key.partition(":")
        return int(number) if number else len(self.runs) - 1

    def show_runs(self, at: str | None = None) -> None:
        """Everything, after A or the cursor changed."""
        glyphs = self.shell.glyphs
        self.head.show(
            ("Runs",),
            "Runs",
            note="facts of all spans together; A is held against the one under the cursor",
            focused=True,
        )
        self.table_head.show(lambda width, _height: Block([run_head(width)]))
        self.table.show(
            lambda width, _height: run_lines(self.runs, self.shares, self.first, width, glyphs), at=at
        )
        self.show_pair()

    def show_pair(self) -> None:
        """A beside B."""
        glyphs = self.shell.glyphs
        a, b = self.first, self.second
        pair = (self.runs[a], self.runs[b])
        self.facts.show(lambda width, _height: difference(self.kept, a, b, width))
        signs = (glyphs.minus, "+")
        for letter, head, view, sign, run, other in zip(
            "AB", self.names, self.texts, signs, pair, reversed(pair), strict=True
        ):
            head.show((f"{letter}   {run.name}",), "", right=f"{run.tokens:,} tok")
            view.show(partial(_beside, run.text, other.text, sign, glyphs))

    def on_resize(self) -> None:
        """Lines fit the new size."""
        self.call_after_refresh(self.show_runs)

    def on_lines_view_chosen(self, message: LinesView.Chosen) -> None:
        """A click on a run makes it B, a double click takes it."""
        message.stop()
        if message.view is self.table:
            self.show_pair()
            if message.twice:
                self.action_run_take()

    @property
    def lines(self) -> LinesView:
        """The pane that row keys go to."""
        return next((view for view in self.texts if view.has_focus), self.table)

    def step_rows(self, by: int) -> None:
        """Moves the cursor of the pane with the keys."""
        self.lines.move_by(by)
        if self.lines is self.table:
            self.show_pair()

    def rows_seen(self) -> int:
        """Lines of that pane on the screen."""
        return self.lines.size.height

    def action_pane_next(self) -> None:
        """The table, the summary of A, that of B."""
        self._pane(1)

    def action_pane_previous(self) -> None:
        """The pane before."""
        self._pane(-1)

    def _pane(self, step: int) -> None:
        views = (self.table, *self.texts)
        views[(views.index(self.lines) + step) % len(views)].focus()

    def action_run_first(self) -> None:
        """The run under the cursor is A from now on."""
        self.first = self.second
        self.show_runs()

    def action_run_take(self) -> None:
        """Back to the lab, with the settings of the run under the cursor."""
        self.dismiss(self.runs[self.second].choices)

    def action_copy_text(self) -> None:
        """Copies the summary of the run under the cursor, or of the one with the keys."""
        run = self.runs[self.first if self.texts[0].has_focus else self.second]
        self.shell.copy(run.text)

    def action_mode_leave(self) -> None:
        """Back to the lab, nothing changed."""
        self.dismiss(None)

    def action_app_back(self) -> None:
        """As leaving."""
        self.dismiss(None)

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        return (
            Hint("run.take", "take its settings", "take"),
            Hint("mode.leave", "back"),
            Hint("run.first"),
            Hint("row.down"),
        )


def _beside(text: str, other: str, sign: str, glyphs: Glyphs, width: int, _height: int) -> Block:
    """A summary, with a sign at the lines that another one lacks."""
    return summary_lines(text, width, glyphs, against=(other, sign))
