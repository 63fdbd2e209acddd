"""Two summaries of a session compared: a compaction's with the one before it, or with any other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from leafward.compaction.summary_comparison import Mark
from leafward_tui.ui.bars.title_bar import Fact
from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.keys.key_bar import Hint
from leafward_tui.ui.keys.row_keys import RowSteps
from leafward_tui.ui.panes.hairline import RowRule
from leafward_tui.ui.panes.summary_comparison import ComparisonView
from leafward_tui.ui.screens.screen import BaseScreen
from leafward_tui.ui.text.session_crumb import session_crumb
from leafward_tui.xray.controllers.summary_pair import PairState, SummaryPair
from leafward_tui.xray.widgets.foot import AboutLine
from leafward_tui.xray.widgets.summaries_head import SummariesHead

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.session.session import Session
    from leafward_tui.ui.panes.line_scroll import LineList


class SummariesScreen(BaseScreen["int | None"]):
    """The comparison. Ends with an entry to go to, or with None."""

    NAME: ClassVar[str] = "summaries"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("summaries")]

    def __init__(self, session: Session, entry: int, at: int, summary: str) -> None:
        super().__init__()
        self.state = PairState(session, entry, summary)
        self._at = at

    def compose_content(self) -> ComposeResult:
        """Names, lines, and the text about the line under the cursor."""
        self.head = SummariesHead()
        self.lines = ComparisonView(id="comparison")
        self.about = AboutLine()
        self.clear_note = partial(self.about.say, "", "")
        self.pair = SummaryPair(self.state, self, self.services.jobs(self), self.services.glyphs.ellipsis)
        self.route(RowSteps(self.lines.move_by, lambda: self.lines.size.height), self.pair)
        yield self.head
        yield self.lines
        yield RowRule()
        yield self.about

    def mounted(self) -> None:
        """Compares with the summary before."""
        self.lines.focus()
        self.pair.begin(self._at)

    def on_line_list_cursor_moved(self, message: LineList.CursorMoved) -> None:
        """Shows the line in full."""
        message.stop()
        self.pair.show_about()
        self.show_hints()

    # --- for the controller -------------------------------------------------------------------------------------------

    def place(self) -> int:
        """The line of the cursor."""
        return self.lines.cursor

    def go_to_place(self, place: int) -> None:
        """Puts the cursor on a line."""
        self.lines.move_to(place)

    def look_for(self, words: str) -> None:
        """Looks for words on either side."""
        self.pair.look_for(words)

    def show_hits(self) -> None:
        """Shows the hits in the title and in the lines."""
        self.lines.light(self.pair.search.words)
        self.show_title()

    @property
    def sheet_rows(self) -> int:
        """Rows that a sheet has room for."""
        return self.app.size.height - 10

    @property
    def text_cells(self) -> int:
        """Cells of the text about the cursor's line."""
        return self.app.size.width - 12

    def focus_lines(self) -> None:
        """Gives the keys to the lines, the only pane with keys."""
        self.lines.focus()

    def show_names(self, before: Sequence[str], after: Sequence[str]) -> None:
        """Names both summaries."""
        self.head.show(before, after)

    def copy(self, text: str) -> object:
        """Copies text to the clipboard."""
        return self.services.copy(text)

    # --- title and keys -----------------------------------------------------------------------------------------------

    def show_title(self) -> None:
        """Shows the compared summaries, the numbers of differences, and the hits."""
        session, diff = self.state.session, self.state.diff
        facts = []
        if (found := self.pair.search.fact()) is not None:
            facts.append(found)
        if diff is not None:
            for mark, hue in (
                (Mark.SAME, ""),
                (Mark.CHANGED, "warn"),
                (Mark.ADDED, "leaf"),
                (Mark.REMOVED, "bad"),
            ):
                facts.append(Fact(f"{diff.count(mark):,} {mark.value}", keep=2, hue=hue))
        crumb = session_crumb(session, self.app.size.width - 72, self.services.glyphs)
        self.title_bar.show("Summaries", crumb=crumb, facts=facts)

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        searched = bool(self.pair.search.words)
        if self.state.other < 0:
            return (Hint("app.back"),)
        return (
            Hint(("change.next", "change.previous"), *(("hit",) if searched else ("difference", "change"))),
            Hint("same.fold", "show same" if self.state.fold_same else "fold same", "same"),
            Hint("summary.other", "another summary", "compare"),
            Hint("summary.go", "show in tree", "show"),
            Hint("mode.leave", "end search", "end") if searched else Hint("app.back"),
            Hint("summary.find"),
        )
