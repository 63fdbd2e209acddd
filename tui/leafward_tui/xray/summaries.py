"""Two summaries of a session compared: a compaction's with the one before it, or with any other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from leafward_tui.ui.bars.key_bar import Hint
from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.screens.screen import BaseScreen
from leafward_tui.ui.screens.screen_controller import Means
from leafward_tui.ui.screens.session_watch import SessionWatch
from leafward_tui.xray.display import PairDisplay
from leafward_tui.xray.state import PairState
from leafward_tui.xray.summary_pair import SummaryPair

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
        view = self.view = PairDisplay(self, self.state)
        self.clear_note = partial(view.about.say, "", "")
        self.pair = SummaryPair(Means(self.state, view, self.services, self.services.jobs(self)))
        self._watch = SessionWatch(
            self.state.session,
            self.state.file,
            view,
            self.services.keymap,
            advice="the session has changed: reload it in the X-ray",
            key=("app.back", "back"),
        )
        self.route(RowSteps(view.lines.move_by, lambda: view.lines.size.height), self.pair)
        yield from view.widgets()

    def mounted(self) -> None:
        """Compares with the summary before."""
        self.view.lines.focus()
        self.pair.begin(self._at)
        self.set_interval(self.services.config.follow_interval, self._watch.look)

    def on_line_list_cursor_moved(self, message: LineList.CursorMoved) -> None:
        """Shows the line in full."""
        message.stop()
        self.pair.show_about()
        self.show_hints()

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        searched = bool(self.pair.search.words)
        if self.state.other < 0:
            return (Hint("mode.leave", "back"),)
        return (
            Hint(("change.next", "change.previous"), *(("hit",) if searched else ("difference", "change"))),
            Hint("same.fold", "show same" if self.state.fold_same else "fold same", "same"),
            Hint("summary.other", "another summary", "compare"),
            Hint("summary.go", "show in tree", "show"),
            Hint("mode.leave", "end search", "end") if searched else Hint("mode.leave", "back"),
            Hint("summary.find"),
        )
