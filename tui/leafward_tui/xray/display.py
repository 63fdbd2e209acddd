"""The widgets of the X-ray and their drawing: all that its controllers see of the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.ui.panes.hairline import RowRule
from leafward_tui.ui.text.session_crumb import session_crumb
from leafward_tui.xray.hints import title_facts
from leafward_tui.xray.widgets.foot import AboutLine, LedgerBar
from leafward_tui.xray.widgets.head import XRayHead
from leafward_tui.xray.widgets.view import XRayView

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.widget import Widget

    from leafward_tui.ui.bars.title_bar import Fact
    from leafward_tui.ui.screens.screen import BaseScreen
    from leafward_tui.ui.screens.screen_results import XRayResult
    from leafward_tui.xray.state import XRayState


class XRayDisplay:
    """The screen as its controllers see it."""

    def __init__(self, screen: BaseScreen[XRayResult | None], state: XRayState) -> None:
        self._screen, self._state = screen, state
        self.head = XRayHead()
        self.lines = XRayView(id="xray")
        self.ledger = LedgerBar()
        self.about = AboutLine()
        """The text about the cursor's line."""
        self.hits: Callable[[], Fact | None] = lambda: None
        """The number of hits of the search, for the title."""
        self.open_sheet, self.show_hints = screen.open_sheet, screen.show_hints
        self.dismiss, self.go_back = screen.dismiss, screen.go_back

    def widgets(self) -> tuple[Widget, ...]:
        """Heads, both sides, ledger, and the text about the line under the cursor."""
        return self.head, self.lines, RowRule(id="ledger-rule"), self.ledger, self.about

    @property
    def sheet_rows(self) -> int:
        """Rows that a sheet has room for."""
        return self._screen.app.size.height - 10

    def show_ledger(self) -> None:
        """Shows the sums of both sides."""
        self.ledger.show(self._state.loaded.xray)

    def show_title(self) -> None:
        """Shows the session, and the compaction of the X-ray."""
        state, glyphs = self._state, self._screen.services.glyphs
        crumb = session_crumb(state.session, self._screen.app.size.width - 72, glyphs)
        self._screen.title_bar.show("X-ray", crumb=crumb, facts=title_facts(state, self.hits(), glyphs))
