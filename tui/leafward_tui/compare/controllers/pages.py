"""The tabs: the one on show, and the content of those that are not about files."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward_tui.compare.controllers.controller import CompareController, CompareMeans
from leafward_tui.compare.model.compared_sides import Overall
from leafward_tui.compare.model.context_page import context_page
from leafward_tui.compare.model.outcome_page import outcome_page
from leafward_tui.compare.model.side_column import LOOKING, side_column
from leafward_tui.compare.model.summary_page import summary_head
from leafward_tui.compare.state import Page
from leafward_tui.ui.panes.pane_lines import Block
from leafward_tui.ui.words.summary_differences import diff_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward_tui.compare.controllers.files import Files
    from leafward_tui.ui.panes.lines_view import LinesView
    from leafward_tui.ui.panes.summary_comparison import ComparisonView


class Pages(CompareController):
    """Owns `state.pages`."""

    def __init__(self, means: CompareMeans, files: Files) -> None:
        super().__init__(means)
        self._files = files
        files.on_base_changed = self.show
        self.turned: Callable[[], object] = lambda: None
        """Called when another tab is on show."""
        self.drawn: Callable[[], object] = lambda: None
        """Called when a tab that is not about files has other lines."""
        self.actions = {
            "compare.files": partial(self.turn, Page.FILES),
            "compare.contents": partial(self.turn, Page.CONTENTS),
            "compare.context": partial(self.turn, Page.CONTEXT),
            "compare.summary": partial(self.turn, Page.SUMMARY),
            "compare.outcome": partial(self.turn, Page.OUTCOME),
            "pane.next": partial(self._step, 1),
            "pane.previous": partial(self._step, -1),
        }

    def turn(self, page: Page) -> None:
        """Goes to another tab; the file under the cursor stays."""
        self._state.pages.page = page
        self.show()
        self.pane.focus()
        self.turned()
        self._view.show_hints()

    def _step(self, step: int) -> None:
        pages = list(Page)
        self.turn(pages[(pages.index(self._state.page) + step) % len(pages)])

    @property
    def pane(self) -> LinesView | ComparisonView:
        """The pane with the keys."""
        match self._state.page:
            case Page.FILES:
                return self._files.current_list
            case Page.CONTENTS:
                return self._view.diff
            case Page.SUMMARY:
                return self._view.summary
            case _:
                return self._view.lines

    # --- content ------------------------------------------------------------------------------------------------------

    def show(self) -> None:
        """Shows the tabs, and the panes of the chosen one."""
        page, seen, glyphs = self._state.page, self._state.read.overall, self._services.glyphs
        right = ""
        if seen is not None:
            number = counted(len(seen.sets), "file")
            right = f"{glyphs.differs} differ   {glyphs.same} same   {number}"
            if self._state.files.based and self._view.size.width < 120:
                right = f"with a base   {number}"
            elif self._state.files.based:
                right = f"base: disk and git   {right}"
        self._view.show_panes(page)
        self._view.tabs.show(tuple(one.value for one in Page), page.value, right=right, focused=True)
        self.show_lines()
        self._view.show_hints()

    def show_side(self) -> None:
        """Draws the right column."""
        read, view, glyphs = self._state.read, self._view, self._services.glyphs
        seen, carried = read.overall, read.carried
        if seen is not None:
            pin = self._services.keymap.label("difference.pin") if not view.refusal else ""
            view.side.show(
                lambda width: list(side_column(seen, carried, width - 1, glyphs, view.side.size.height, pin))
            )

    def show_summary(self) -> None:
        """Draws the tab Summary."""
        summaries, pane = self._state.read.summaries, self._view.summary
        if summaries is not None:
            lines = diff_lines(summaries.difference, fold_same=self._state.content.fold, names=("A", "B"))
            before, cursor = pane.line, pane.cursor
            pane.show(lines, lines.index(before) if before in lines else cursor)
        glyphs = self._services.glyphs
        self._view.summary_head.show(lambda width: (summary_head(summaries, width, glyphs),))
        self.drawn()

    def show_lines(self) -> None:
        """Draws the tab Context or Outcome, where one of them is on show."""
        read, page, glyphs = self._state.read, self._state.page, self._services.glyphs
        seen, messages, lines = read.overall, read.messages, self._view.lines
        if seen is None or page not in (Page.CONTEXT, Page.OUTCOME):
            return
        if not isinstance(seen, Overall):
            lines.show(lambda _width, _rows: Block([LOOKING]))
        elif page is Page.CONTEXT:
            lines.show(lambda width, _rows: context_page(seen, messages, width, glyphs))
        else:
            carried = read.carried or ()
            lines.show(lambda width, _rows: outcome_page(seen, width, glyphs, carried))
        self.drawn()
