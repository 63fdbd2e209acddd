"""The widgets of the comparison and their drawing: all that its controllers see of the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.compare.hints import title_facts
from leafward_tui.compare.state import Page
from leafward_tui.compare.widgets.files_page import FilesPage
from leafward_tui.compare.widgets.head import CompareHead
from leafward_tui.compare.widgets.spans import SpanRows
from leafward_tui.ui.panes.lines_view import LinesView
from leafward_tui.ui.panes.summary_comparison import ComparisonView
from leafward_tui.ui.panes.tab_head import TabHead
from leafward_tui.ui.screens.session_watch import with_keys
from leafward_tui.ui.text.session_crumb import session_crumb

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.geometry import Size
    from textual.widget import Widget

    from leafward_tui.compare.state import CompareState
    from leafward_tui.ui.bars.price_line import KeyHint
    from leafward_tui.ui.bars.title_bar import Fact
    from leafward_tui.ui.screen_results import CompareResult
    from leafward_tui.ui.screens.screen import BaseScreen


class CompareDisplay:
    """The screen as its controllers see it."""

    def __init__(self, screen: BaseScreen[CompareResult | None], state: CompareState) -> None:
        self._screen, self._state = screen, state
        self.head = CompareHead()
        self.tabs = TabHead(id="compare-tabs")
        self.files_page = page = FilesPage()
        self.heads, self.lists, self.side = page.heads, page.lists, page.side
        self.diff_head, self.diff, self.sentence = page.diff_head, page.diff, page.sentence
        self.lines = LinesView(id="page")
        """The tabs Context and Outcome."""
        self.summary_head = SpanRows(id="summary-head", rule=True)
        self.summary = ComparisonView(id="summary")
        self.key_bar = screen.key_bar
        self.hits: Callable[[], Fact | None] = lambda: None
        """The number of hits of the search, for the title."""
        self.note = ("", "")
        """The effect of the last key, with its colour; it takes the place of the sentence."""
        self.open_sheet, self.show_hints = screen.open_sheet, screen.show_hints
        self.dismiss, self.go_back, self.set_timer = screen.dismiss, screen.go_back, screen.set_timer

    def widgets(self) -> tuple[Widget, ...]:
        """Head, tabs, then the page: files over a diff, or lines."""
        return self.head, self.tabs, self.files_page, self.lines, self.summary_head, self.summary

    @property
    def size(self) -> Size:
        """Cells and rows of the terminal."""
        return self._screen.app.size

    @property
    def three_columns(self) -> bool:
        """Whether the columns stand beside each other."""
        return self.size.width >= 120 and self.size.height >= 30

    @property
    def refusal(self) -> str:
        """Why nothing can be written to the session; empty where it can."""
        return self._screen.refusal

    @property
    def on_top(self) -> bool:
        """Whether no other screen lies over this one."""
        return self._screen.is_active

    def tell(self, text: str, ink: str = "sub", keys: Sequence[KeyHint] = ()) -> None:
        """Shows the effect of a key in place of the sentence; on a tab without one, in place of the keys."""
        text = with_keys(text, keys)
        self.note = (text, ink)
        self.sentence.refresh()
        if self._state.page not in (Page.FILES, Page.CONTENTS):
            self.key_bar.say(text)

    def show_panes(self, page: Page) -> None:
        """Shows the panes of a tab."""
        screen = self._screen
        screen.set_class(page is Page.CONTENTS, "-contents")
        screen.set_class(page in (Page.CONTEXT, Page.OUTCOME), "-lines")
        screen.set_class(page is Page.SUMMARY, "-summed")
        screen.set_class(not self.three_columns, "-one-list")
        screen.call_after_refresh(self.files_page.join_rules, three_columns=self.three_columns)

    def show_title(self) -> None:
        """Shows the session, the hits of the search, and the common ancestor of both entries."""
        width, glyphs = self.size.width, self._screen.services.glyphs
        crumb = session_crumb(self._state.session, width - 90, glyphs)
        facts = [
            *self._state.file.facts(),
            *title_facts(self._state.read, self.hits(), width, glyphs),
        ]
        self._screen.title_bar.show("Compare", crumb=crumb, facts=facts)
