"""The Compare screen: two entries of a session over their common ancestor."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from leafward_tui.compare.controllers.content import Content
from leafward_tui.compare.controllers.cursor import Cursor
from leafward_tui.compare.controllers.export import Export
from leafward_tui.compare.controllers.files import Files
from leafward_tui.compare.controllers.loader import SidesLoader
from leafward_tui.compare.controllers.pages import Pages
from leafward_tui.compare.controllers.search import Search
from leafward_tui.compare.controllers.transfer import Transfer
from leafward_tui.compare.display import CompareDisplay
from leafward_tui.compare.hints import hints_of
from leafward_tui.compare.model.files import Column
from leafward_tui.compare.state import CompareState, Page, ReadState
from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.screen_results import CompareResult
from leafward_tui.ui.screens.screen import BaseScreen
from leafward_tui.ui.screens.screen_controller import Means
from leafward_tui.ui.screens.session_watch import SessionWatch, warn_sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.session.session import Session
    from leafward_tui.compare.controllers.controller import CompareMeans
    from leafward_tui.ui.bars.key_bar import Hint
    from leafward_tui.ui.panes.lines_view import LinesView
    from leafward_tui.ui.panes.tab_head import TabHead


_OF_BOTH = frozenset({"sides.swap", "carry.open", "difference.pin", "comparison.save", "compare.find"})
"""Intents that need both sides."""


class CompareScreen(BaseScreen[CompareResult | None]):
    """Two entries compared. Ends with a task for the explorer, or with None."""

    NAME: ClassVar[str] = "compare"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("compare")]

    DEFAULT_CSS = """
    CompareScreen {
        &.-tall CompareHead, &.-high CompareHead { height: 3; margin-bottom: 1; }
        #files-page { height: 1fr; }
        #sets { height: auto; }
        #sets Vertical { height: 1fr; }
        #sets ColumnRule { height: 1fr; }
        #set-a { width: 22%; }
        #set-b { width: 25%; }
        #side { width: 25%; height: 1fr; }
        #lower { height: 1fr; }
        #diff-head { height: 2; }
        #summary-head { height: 2; }
        #page, #summary, #summary-head { display: none; }
        &.-tall #sentence, &.-high #sentence { margin-top: 1; }
        &.-one-list #set-a, &.-one-list #set-b, &.-one-list #side, &.-one-list ColumnRule { display: none; }
        &.-contents #sets, &.-contents #sets-rule, &.-contents #side, &.-contents #lower ColumnRule { display: none; }
        &.-lines #files-page, &.-summed #files-page { display: none; }
        &.-lines #page { display: block; }
        &.-summed #summary, &.-summed #summary-head { display: block; }
    }
    """

    def __init__(self, session: Session, a: int, b: int, *, mark: int) -> None:
        super().__init__()
        self.state = CompareState(session, ReadState((a, b)), mark)

    def compose_content(self) -> ComposeResult:
        """Head, tabs, then the page: files over a diff, or lines."""
        view = self.view = CompareDisplay(self, self.state)
        self._control(view)
        yield from view.widgets()

    def _control(self, view: CompareDisplay) -> None:
        """Makes the controllers and their routes."""
        means: CompareMeans = Means(self.state, view, self.services, self.services.jobs(self))
        self.content = Content(means)
        self.files = Files(means, self.content)
        self.pages = Pages(means, self.files)
        self.cursor_keys = Cursor(means, self.content, self.files, self.pages)
        self.search = Search(means, self.content, self.files, self.pages, self.cursor_keys)
        self.loader = SidesLoader(means, self.content, self.files, self.pages)
        self.waits_for = self._waits
        self._watch = SessionWatch(self.state.session, self.state.file, view, self.services.keymap)
        self.route(
            RowSteps(self.cursor_keys.step, self.cursor_keys.rows_seen),
            self.cursor_keys,
            self.content,
            self.files,
            self.pages,
            self.search,
            self.loader,
            Export(means),
            Transfer(means),
        )

    def mounted(self) -> None:
        """Shows the empty panes, and starts reading."""
        self.files.recall()
        changed = self.state.session.changed_on_disk
        for look in (self._watch.look, partial(warn_sheet, self, changed)):
            self.set_interval(self.services.config.follow_interval, look)
        self.view.show_title()
        self.pages.show()
        self.view.lists[Column.BOTH].focus()
        self.loader.load()

    def on_unmount(self) -> None:
        """Stops all rebuilding."""
        self.state.closed.set()

    # --- messages of the widgets --------------------------------------------------------------------------------------

    def on_tab_head_tab_wanted(self, message: TabHead.TabWanted) -> None:
        """Goes to the clicked tab."""
        message.stop()
        self.pages.turn(Page(message.tab))

    def on_lines_view_chosen(self, message: LinesView.Chosen) -> None:
        """Handles a click on a line."""
        message.stop()
        self.cursor_keys.clicked(message.view, message.key, twice=message.twice)

    def on_lines_view_lines_shown(self, message: LinesView.LinesShown) -> None:
        """Keeps the diff on its file, after the list was laid out for another size."""
        message.stop()
        if message.view in self.view.lists.values() and self.state.read.overall is not None:
            self.files.follow()

    def on_resize(self) -> None:
        """Shows three columns or one list, as there is room."""
        self.call_after_refresh(self._arrange)

    def _arrange(self) -> None:
        if self.is_attached:
            self.files.show()
            self.pages.show()
            self.view.show_title()
            if self.state.page is Page.FILES:
                self.files.current_list.focus()

    # --- state --------------------------------------------------------------------------------------------------------

    def enabled(self, intent_id: str) -> bool:
        """Whether an intent does something now; some need both sides."""
        return super().enabled(intent_id) and not (intent_id in _OF_BOTH and self._waits())

    def _waits(self) -> str:
        """Why there is nothing to compare yet; empty where there is."""
        read = self.state.read
        return "" if read.overall is not None else read.trouble or "both sides are still being read"

    @property
    def refusal(self) -> str:
        """The reason why nothing can be written to the session; empty where it can."""
        return self.state.session.read_only or ""

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        return hints_of(
            self.state,
            searched=bool(self.search.words),
            three_columns=self.view.three_columns,
            on_fold=self.content.fold_here >= 0,
        )
