"""Going about in the operation log: rows, and a search with its hits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.ui.hits import which_hit
from leafward_tui.ui.price_line import KeyHint
from leafward_tui.ui.row_keys import RowKeys
from leafward_tui.ui.screen_search import Searching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward_tui.log.widgets.log_view import LogList
    from leafward_tui.ui.price_line import PriceLine


class LogGoing(RowKeys, Searching["int | None"]):
    """Actions that only move the cursor of the list."""

    list: LogList
    note: PriceLine

    def tell(self, text: str, tone: str = "", keys: Sequence[KeyHint] = ()) -> None:
        """Says something in the line over the keys."""
        self.note.note(text or None, tone, keys)

    # --- rows -----------------------------------------------------------------------------------------------------------

    def step_rows(self, by: int) -> None:
        """Moves the cursor."""
        self.tell("")
        self.list.move_by(by)

    def rows_seen(self) -> int:
        """Operations on the screen."""
        return self.list.size.height

    # --- finding ------------------------------------------------------------------------------------------------------

    def place(self) -> int:
        """The operation of the cursor."""
        return self.list.cursor

    def go_to_place(self, place: int) -> None:
        """Puts the cursor on an operation."""
        self.list.move_by(place - self.list.cursor)

    def look_for(self, words: str) -> None:
        """The operations that hold words."""
        deeds = self.list.deeds
        self.found(words, deeds.matching(words) if deeds is not None else ())

    def show_hits(self) -> None:
        """In the line over the keys."""
        if not self.searched:
            self.tell("")
        elif not self.hits:
            self.tell(f"nothing found  {self.searched}", "warn")
        else:
            label = self.shell.keymap.label
            keys = (
                KeyHint("find.next", label("find.next"), "next"),
                KeyHint("find.previous", label("find.previous"), "previous"),
                KeyHint("mode.leave", label("mode.leave"), "ends"),
            )
            glyphs = self.shell.glyphs
            quoted = f"{glyphs.quote_open}{self.searched}{glyphs.quote_close}"
            self.tell(f"{which_hit(self.hits, self.place())} with {quoted}", "", keys)

    def action_log_find(self) -> None:
        """Asks what to search for, and goes to the nearest hit at or above the cursor while one types."""
        self.ask_search(
            "Search the operations", "words of an operation, or of the entry it is about", first=-1
        )

    def action_find_next(self) -> None:
        """The next operation found, around the end."""
        self.step_hit(1)

    def action_find_previous(self) -> None:
        """The one before, around the top."""
        self.step_hit(-1)
