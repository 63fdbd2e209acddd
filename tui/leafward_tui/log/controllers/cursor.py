"""The operation under the cursor: shown in the tree, searched for, copied."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward_tui.ui.screens.screen_controller import ScreenController
from leafward_tui.ui.screens.screen_search import ScreenSearch

if TYPE_CHECKING:
    from leafward_tui.log.display import LogDisplay
    from leafward_tui.log.state import LogState
    from leafward_tui.ui.screens.screen_controller import Means


class Cursor(ScreenController["LogState", "LogDisplay"]):
    """The keys that change nothing. A place of its search is an operation."""

    def __init__(self, means: Means[LogState, LogDisplay]) -> None:
        super().__init__(means)
        self.search = ScreenSearch(self, self._view)
        self.actions = {
            "log.find": self.ask_search,
            "find.next": partial(self.search.step, 1),
            "find.previous": partial(self.search.step, -1),
            "log.show": self.show_in_tree,
            "copy.text": self.copy,
            "pane.next": self._view.focus_list,
            "pane.previous": self._view.focus_list,
            "mode.leave": partial(self.search.leave, self._view.close),
        }

    def enabled(self, intent_id: str) -> bool:
        """Whether one of its intents does something now; there is one pane."""
        if intent_id in ("find.next", "find.previous"):
            return bool(self.search.hits)
        some = bool(self._view.operations is not None and len(self._view.operations))
        return not intent_id.startswith("pane.") and (some or intent_id == "mode.leave")

    def step(self, by: int) -> None:
        """Moves the cursor."""
        self._view.tell("")
        self._view.move_by(by)

    def show_in_tree(self) -> None:
        """Goes back to the tree, at the entry that the operation is about."""
        every, operation = self._view.operations, self._view.operation
        if every is None or operation is None:
            return
        entry = every.shows(operation)
        if entry < 0:
            self._view.tell("the entry of this operation is not in the tree", "warn")
        else:
            self._view.close(entry)

    def copy(self) -> None:
        """Copies the details of the operation under the cursor."""
        every, operation = self._view.operations, self._view.operation
        if every is None or operation is None:
            return
        lines = [f"{every.title(operation)}  {operation.time or ''}"]
        lines += [f"{name}  {text}  {ident}".rstrip() for name, text, ident in every.facts(operation)]
        self._services.copy("\n".join(lines))

    # --- searching ----------------------------------------------------------------------------------------------------

    def ask_search(self) -> None:
        """Asks for the words of a search, and goes to the nearest hit at or above the cursor as the user types."""
        placeholder = "words of an operation, or of the entry it is about"
        self.search.ask("Search the operations", placeholder, first=-1)

    def operations_changed(self) -> None:
        """Searches again, because other operations are on show."""
        every = self._view.operations
        self.search.hits = every.matching(self.search.words) if every is not None else ()

    def place(self) -> int:
        """The operation of the cursor."""
        return self._view.cursor

    def go_to_place(self, place: int) -> None:
        """Puts the cursor on an operation."""
        self._view.move_by(place - self._view.cursor)

    def look_for(self, words: str) -> None:
        """Searches the operations for words."""
        every = self._view.operations
        self.search.found(words, every.matching(words) if every is not None else ())

    def show_hits(self) -> None:
        """Shows the hits in the line over the keys."""
        self.search.tell_hits(self._services, self._view.tell, "find.next", "find.previous")
