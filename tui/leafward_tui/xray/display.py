"""The widgets of the X-ray and of its comparison of summaries: all that the controllers see of the two screens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.compaction.stored_summary.summary_comparison import LineRelation
from leafward_tui.ui.bars.title_bar import Fact
from leafward_tui.ui.panes.hairline import RowRule
from leafward_tui.ui.panes.summary_comparison import ComparisonView
from leafward_tui.ui.screens.session_watch import with_keys
from leafward_tui.ui.text.session_crumb import session_crumb
from leafward_tui.xray.hints import title_facts
from leafward_tui.xray.widgets.foot import AboutLine, LedgerBar
from leafward_tui.xray.widgets.head import XRayHead
from leafward_tui.xray.widgets.summaries_head import SummariesHead
from leafward_tui.xray.widgets.view import XRayView

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.widget import Widget

    from leafward_tui.ui.bars.price_line import KeyHint
    from leafward_tui.ui.screen_results import XRayResult
    from leafward_tui.ui.screens.screen import BaseScreen
    from leafward_tui.xray.state import PairState, XRayState


class _Display:
    """The view of the controllers of both screens: notes, sheets and the way back."""

    def __init__(self, screen: BaseScreen[Any]) -> None:
        self._screen = screen
        self.about = AboutLine()
        """The text about the cursor's line."""
        self.hits: Callable[[], Fact | None] = lambda: None
        """The number of hits of the search, for the title."""
        self.open_sheet, self.show_hints = screen.open_sheet, screen.show_hints
        self.dismiss, self.go_back = screen.dismiss, screen.go_back

    @property
    def sheet_rows(self) -> int:
        """Rows that a sheet has room for."""
        return self._screen.app.size.height - 10

    @property
    def on_top(self) -> bool:
        """Whether no other screen lies over this one."""
        return self._screen.is_active

    def tell(self, text: str, tone: str = "", keys: Sequence[KeyHint] = ()) -> None:
        """Shows a note in place of the text about the cursor's line, until the next key."""
        self.about.say(with_keys(text, keys), tone)


class XRayDisplay(_Display):
    """The screen as its controllers see it."""

    def __init__(self, screen: BaseScreen[XRayResult | None], state: XRayState) -> None:
        super().__init__(screen)
        self._state = state
        self.head = XRayHead()
        self.lines = XRayView()
        self.ledger = LedgerBar()

    def widgets(self) -> tuple[Widget, ...]:
        """Heads, both sides, ledger, and the text about the line under the cursor."""
        return self.head, self.lines, RowRule(id="ledger-rule"), self.ledger, self.about

    def show_ledger(self) -> None:
        """Shows the sums of both sides."""
        self.ledger.show(self._state.loaded.xray)

    def show_title(self) -> None:
        """Shows the session, and the compaction of the X-ray."""
        state, glyphs = self._state, self._screen.services.glyphs
        crumb = session_crumb(state.session, self._screen.app.size.width - 72, glyphs)
        self._screen.title_bar.show("X-ray", crumb=crumb, facts=title_facts(state, self.hits(), glyphs))


class PairDisplay(_Display):
    """The comparison of summaries as its controller sees it."""

    def __init__(self, screen: BaseScreen[int | None], state: PairState) -> None:
        super().__init__(screen)
        self._state = state
        self.head = SummariesHead()
        self.lines = ComparisonView(id="comparison")

    def widgets(self) -> tuple[Widget, ...]:
        """Names, lines, and the text about the line under the cursor."""
        return self.head, self.lines, RowRule(), self.about

    @property
    def text_cells(self) -> int:
        """Cells of the text about the cursor's line."""
        return self._screen.app.size.width - 12

    def show_title(self) -> None:
        """Shows the compared summaries, the numbers of differences, and the hits."""
        session, diff = self._state.session, self._state.diff
        facts = self._state.file.facts()
        if (found := self.hits()) is not None:
            facts.append(found)
        if diff is not None:
            for mark, hue in (
                (LineRelation.SAME, ""),
                (LineRelation.CHANGED, "warn"),
                (LineRelation.ADDED, "leaf"),
                (LineRelation.REMOVED, "bad"),
            ):
                facts.append(Fact(f"{diff.count(mark):,} {mark.value}", keep=2, hue=hue))
        crumb = session_crumb(session, self._screen.app.size.width - 72, self._screen.services.glyphs)
        self._screen.title_bar.show("Summaries", crumb=crumb, facts=facts)
