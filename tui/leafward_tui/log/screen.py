"""The screen of the operations on a session: those of Leafward and the agent, and their undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from leafward_tui.log.controllers.cursor import Cursor
from leafward_tui.log.controllers.operations import Operations
from leafward_tui.log.display import LogDisplay
from leafward_tui.log.state import LogState
from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.screens.screen import BaseScreen
from leafward_tui.ui.screens.screen_controller import Means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.session.session import Session
    from leafward_tui.ui.bars.key_bar import Hint
    from leafward_tui.ui.panes.line_scroll import LineList


class LogScreen(BaseScreen["int | None"]):
    """The operation log. Ends with the entry to go to, or with None."""

    NAME: ClassVar[str] = "log"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("log")]

    DEFAULT_CSS = """
    LogScreen {
        #operations { height: 1fr; }
        #details { height: 6; }
        #note { height: 1; }
        &.-tall #details, &.-high #details { height: 9; }
        &.-empty #operations { display: none; }
        &.-empty #details, &.-empty RowRule { display: none; }
        &.-empty EmptyLog { display: block; }
    }
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.state = LogState(session)

    def compose_content(self) -> ComposeResult:
        """The list and its details; and the controllers, which need the services of the application."""
        self.view = LogDisplay(self, self.state)
        self.log_list = self.view.log_list
        means = Means(self.state, self.view, self.services, self.services.jobs(self))
        cursor = Cursor(means)
        self._operations = Operations(means, cursor.operations_changed)
        self.route(RowSteps(cursor.step, lambda: self.log_list.size.height), cursor, self._operations)
        yield from self.view.widgets()

    def mounted(self) -> None:
        """Shows the empty panes, and starts reading."""
        self.view.show_title()
        self.log_list.focus()
        self._operations.load()
        self.set_interval(self.services.config.follow_interval, self._operations.look)

    @property
    def refusal(self) -> str:
        """The reason why nothing can be written to the session, by its own statement; empty where it can."""
        return self.state.session.read_only or ""

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        return self.view.hints()

    # --- messages of the widgets --------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Fits the columns to the new width."""
        self.call_after_refresh(self.view.show_head)

    def on_line_list_cursor_moved(self, message: LineList.CursorMoved) -> None:
        """Shows the details of the cursor's operation."""
        message.stop()
        self.view.show_details()

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        """Handles a double click like enter."""
        message.stop()
        self.action_intent("log.show")
