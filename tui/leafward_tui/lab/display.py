"""The widgets of the lab and of its runs, its title and notes: all that the controllers see of the two screens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.lab.hints import title_facts
from leafward_tui.lab.widgets.panes import LabPanes
from leafward_tui.ui.bars.price_line import PriceLine
from leafward_tui.ui.panes.lines_view import LinesView
from leafward_tui.ui.panes.tab_head import TabHead
from leafward_tui.ui.text.session_crumb import session_crumb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward_tui.lab.model.choices import Choices
    from leafward_tui.lab.model.runs import Run
    from leafward_tui.lab.state import LabState
    from leafward_tui.ui.bars.price_line import KeyHint
    from leafward_tui.ui.screen_results import LabResult
    from leafward_tui.ui.screens.screen import BaseScreen


class LabDisplay:
    """The screen as its controllers see it."""

    def __init__(self, screen: BaseScreen[LabResult | None], state: LabState) -> None:
        self._screen, self._state = screen, state
        self.panes = LabPanes()
        self.note = PriceLine(id="note")
        self.open_sheet, self.show_hints = screen.open_sheet, screen.show_hints
        self.dismiss, self.set_timer = screen.dismiss, screen.set_timer

    @property
    def on_top(self) -> bool:
        """Whether no other screen lies over this one."""
        return self._screen.is_active

    def tell(self, text: str, tone: str = "", keys: Sequence[KeyHint] = ()) -> None:
        """Shows a note in the row over the keys.

        An empty text shows why there is nothing to plan, or the pending work; else nothing.
        """
        if not text and self._state.path.trouble:
            text, tone = self._state.path.trouble, "bad"
        self.note.note(text or self._state.pending, tone, keys)

    def show_title(self) -> None:
        """Shows the session, and the place of the planned compaction."""
        state, glyphs = self._state, self._screen.services.glyphs
        crumb = session_crumb(state.session, 60, glyphs)
        self._screen.title_bar.show("Compaction lab", crumb=crumb, facts=title_facts(state, glyphs))


class RunsDisplay:
    """The comparison of runs as its controller sees it."""

    def __init__(self, screen: BaseScreen[Choices | None]) -> None:
        self.head = TabHead(id="runs-head")
        self.table_head = LinesView(id="table-head", cursor=False)
        self.table = LinesView(id="table")
        self.facts = LinesView(id="facts")
        self.exams = LinesView(id="exams")
        self.names = (TabHead(), TabHead())
        self.texts = (LinesView(), LinesView())
        self.panes = (self.table, self.facts, self.exams, *self.texts)
        """The panes that take keys, in the order of `tab`."""
        self.dismiss = screen.dismiss

    @property
    def place(self) -> int:
        """The number of the pane with the keys; 0 is the table."""
        return next((at for at, view in enumerate(self.panes) if view.has_focus), 0)

    def show_names(self, first: Run, second: Run) -> None:
        """Shows the heads of both summaries."""
        for letter, head, run in zip("AB", self.names, (first, second), strict=True):
            head.show((f"{letter}   {run.name}",), "", right=f"{run.tokens:,} tokens")
