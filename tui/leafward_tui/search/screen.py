"""The search of all text: the query, the sessions with their hits, the text of the hit under the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal, Vertical

from leafward.query.search.corpus import Corpus
from leafward_tui.search.controllers.results import Results
from leafward_tui.search.controllers.run import SearchRun
from leafward_tui.search.display import SearchDisplay
from leafward_tui.search.state import LeftSearch, SearchState
from leafward_tui.ui.bars.key_bar import Hint
from leafward_tui.ui.delay import Delay
from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.screens.screen import BaseScreen
from leafward_tui.ui.screens.screen_controller import Means

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.catalogue.cards.card import Card
    from leafward_tui.ui.bars.filter_bar import FilterBar
    from leafward_tui.ui.panes.line_scroll import LineList

_SETTLE = 0.08
"""Seconds the cursor rests before the text follows."""


class SearchScreen(BaseScreen[object]):
    """The search of the catalogue's sessions. Ends with its state, a `LeftSearch`."""

    NAME = "search"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("search")]

    DEFAULT_CSS = """
    SearchScreen {
        #panes { height: 1fr; width: 1fr; }
        #results { height: 1fr; width: 1fr; }
        &.-tall FilterBar, &.-high FilterBar { margin-bottom: 1; }
    }
    """

    def __init__(self, paths: Sequence[Path], cards: Sequence[Card] | None, left: LeftSearch | None) -> None:
        """`left` is an earlier search, or one to begin where it has no results yet."""
        super().__init__()
        self._left = left or LeftSearch()
        corpus = Corpus(cards) if cards is not None else None
        self.state = SearchState(tuple(paths), corpus, self._left.text, words=self._left.words)
        self._settling = Delay(self.set_timer)

    def compose_content(self) -> ComposeResult:
        """The query, the results, the text of one."""
        view = self.view = SearchDisplay(self, self.state, self._look)
        means = Means(self.state, view, self.services, self.services.jobs(self))
        self.bar, self.results = view.bar, view.results
        self._run = SearchRun(means)
        self._results = Results(means)
        rows = RowSteps(view.step, lambda: self.results.size.height)
        self.route(rows, view.panes, view.divider, self._run, self._results)
        yield view.bar
        with Horizontal(id="panes"):
            with Vertical(id="results"):
                yield view.head
                yield view.results
            yield view.rule
            yield view.hit

    def mounted(self) -> None:
        """Gives the keys to the field: text typed after the key of the search is never a command."""
        self.bar.edit(self._left.text)
        self._run.take_up(self._left)
        self.view.arrange_panes()
        self.view.show_state()

    def _look(self) -> None:
        self._results.look()

    def go_back(self) -> None:
        """Goes back to the sessions; the results stay for the next time."""
        self._run.stop()
        state = self.state
        self.dismiss(LeftSearch(state.text, self.results.finds, self.results.cursor, state.words))

    def hints(self) -> Sequence[Hint]:
        """The keys that matter while typing, on a hit, or in its text."""
        line = self.view.line
        if self.view.in_field:
            if line is not None:
                return [Hint("hit.open", "to the results", "results")]
            return [Hint("hit.open", "search"), Hint("mode.leave", "back")]
        if line is None:
            return [Hint("query.edit"), Hint("app.back")]
        if self.view.panes.side:
            return [Hint("hit.open"), Hint("mode.leave", "results"), Hint("copy.text")]
        opens = "show them" if line.opens else "open here"
        return [
            Hint("hit.open", opens, "open"),
            Hint("find.next", "next session", "next"),
            *([Hint("mode.leave", "stop")] if self.state.searching else []),
            Hint("preview.toggle"),
            Hint("query.edit"),
            Hint("copy.text"),
            Hint("app.back"),
        ]

    # --- messages of the widgets --------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Shows one pane or two; one that appears is filled."""
        before = self.view.text_shown
        self.view.arrange_panes()
        if self.view.text_shown and not before:
            self._look()

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        """Searches after a pause in the typing."""
        message.stop()
        self._run.type(message.text.strip())

    def on_filter_bar_committed(self, message: FilterBar.Committed) -> None:
        """Searches at once."""
        message.stop()
        self._run.commit()

    def on_descendant_focus(self) -> None:
        """Shows the keys that matter now."""
        self.view.relight()

    def on_line_list_cursor_moved(self, message: LineList.CursorMoved) -> None:
        """Lets the text follow once the cursor rests."""
        message.stop()
        self._settling.start(_SETTLE, self._look)
        self.show_hints()

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        """Handles a double click like enter."""
        message.stop()
        self.action_intent("hit.open")
