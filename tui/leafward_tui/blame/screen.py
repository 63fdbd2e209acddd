"""The screen for the authors of the lines of a file, over all sessions of its project."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from leafward_tui.blame.controllers.cursor import BlameCursor
from leafward_tui.blame.controllers.reading import BlameReading
from leafward_tui.blame.display import BlameDisplay
from leafward_tui.blame.state import BlameState
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
    from leafward_tui.ui.bars.key_bar import Hint
    from leafward_tui.ui.panes.line_scroll import LineList


class BlameScreen(BaseScreen[None]):
    """The lines of a file with their turns."""

    NAME: ClassVar[str] = "blame"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("blame")]

    DEFAULT_CSS = """
    BlameScreen {
        #lines { height: 1fr; }
        #facts { height: 7; }
        #note { height: 1; }
        &.-tall #facts, &.-high #facts { height: 9; }
    }
    """

    def __init__(self, path: Path, cards: Sequence[Card] | None, session: Path | None) -> None:
        super().__init__()
        self.state = BlameState(path, cards, session)

    def compose_content(self) -> ComposeResult:
        """The lines and the facts of one; and the controllers, which need the services of the application."""
        self.view = BlameDisplay(self, self.state)
        means = Means(self.state, self.view, self.services, self.services.jobs(self))
        cursor = BlameCursor(means)
        self._reading = BlameReading(means, cursor.lines_changed)
        self.route(RowSteps(cursor.step, lambda: self.view.lines.size.height), cursor, self._reading)
        self.refuses = lambda _intent_id: "no lines of this file to show" if self.state.problem else ""
        yield from self.view.widgets()

    def mounted(self) -> None:
        """Shows the file's name, and starts reading."""
        self.view.show_title()
        self.view.lines.focus()
        self._reading.load()
        self.set_interval(self.services.config.follow_interval, self._reading.look)

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        return self.view.hints()

    # --- messages of the widgets --------------------------------------------------------------------------------------

    def on_line_list_cursor_moved(self, message: LineList.CursorMoved) -> None:
        """Shows the facts of the cursor's line."""
        message.stop()
        self._reading.follow()

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        """Handles a double click like enter."""
        message.stop()
        self.action_intent("blame.show")
