"""The line under the cursor: its session opened, searched for, copied; blocks of one turn stepped through."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.session.entries import EntryId
from leafward_tui.ui.open_target import OpenTarget
from leafward_tui.ui.screens.screen_controller import ScreenController
from leafward_tui.ui.screens.screen_search import ScreenSearch
from leafward_tui.ui.text.hits import hit_beside

if TYPE_CHECKING:
    from leafward_tui.blame.display import BlameDisplay
    from leafward_tui.blame.state import BlameState
    from leafward_tui.ui.screens.screen_controller import Means


class BlameCursor(ScreenController["BlameState", "BlameDisplay"]):
    """The keys of the lines. A place of its search is a line."""

    def __init__(self, means: Means[BlameState, BlameDisplay]) -> None:
        super().__init__(means)
        self.search = ScreenSearch(self, self._view)
        self.actions = {
            "blame.show": self.show_turn,
            "blame.find": self.ask_search,
            "change.next": partial(self.step_block, 1),
            "change.previous": partial(self.step_block, -1),
            "copy.text": self.copy,
            "mode.leave": partial(self.search.leave, self._view.close),
        }

    def enabled(self, intent_id: str) -> bool:
        """Whether one of its intents does something now."""
        text = self._view.text
        if intent_id == "blame.show":
            return text is not None and text.author(self._view.cursor) is not None
        return intent_id == "mode.leave" or bool(text is not None and len(text))

    def step(self, by: int) -> None:
        """Moves the cursor."""
        self._view.tell("")
        self._view.move_by(by)

    def step_block(self, step: int) -> None:
        """Goes to the next hit; without a search, to the next lines of another turn."""
        if self.search.words:
            self.search.step(step)
            return
        text = self._view.text
        at = hit_beside(text.blocks(), self._view.cursor, step) if text is not None else None
        if at is not None:
            self._view.tell("")
            self.go_to_place(at)

    def show_turn(self) -> None:
        """Opens the session at the turn that wrote the line."""
        text = self._view.text
        author = text.author(self._view.cursor) if text is not None else None
        if author is not None:
            target = OpenTarget(EntryId(author.entry_id))
            self._services.screens.session(Path(author.card.path), author.card.agent, target)

    def copy(self) -> None:
        """Copies the line and its author."""
        text, at = self._view.text, self._view.cursor
        if text is not None and at >= 0:
            self._services.copy(f"{text.blame.path}:{at + 1}  {text.label(at)}\n{text.words(at)}")

    # --- searching ----------------------------------------------------------------------------------------------------

    def ask_search(self) -> None:
        """Asks for the words of a search, and goes to the nearest hit as the user types."""
        self.search.ask("Search the lines", "words of a line, of its turn, or of what was asked there")

    def lines_changed(self) -> None:
        """Searches again, because other lines are on show."""
        if self.search.words:
            self.look_for(self.search.words)

    def place(self) -> int:
        """The line of the cursor."""
        return self._view.cursor

    def go_to_place(self, place: int) -> None:
        """Puts the cursor on a line."""
        self._view.move_by(place - self._view.cursor)

    def look_for(self, words: str) -> None:
        """Searches the lines for words."""
        text = self._view.text
        self.search.found(words, text.matching(words) if text is not None else ())

    def show_hits(self) -> None:
        """Shows the hits in the line over the keys, and on the lines."""
        self._view.show_hits(self.search.hits)
        self.search.tell_hits(self._services, self._view.tell, "change.next", "change.previous")
