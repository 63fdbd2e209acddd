"""Going about in the operation log: rows, and a search with its hits."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from leafward_tui.row_keys import RowKeys
from leafward_tui.screens.base import BaseScreen
from leafward_tui.widgets.price_line import KeyHint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward_tui.widgets.log_view import LogList
    from leafward_tui.widgets.price_line import PriceLine


class LogGoing(RowKeys, BaseScreen["int | None"]):
    """Actions that only move the cursor of the list."""

    list: LogList
    note: PriceLine

    def __init__(self) -> None:
        super().__init__()
        self.searched = ""
        self.hits: Sequence[int] = ()
        """Operations that the search found, oldest first."""

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

    def action_log_find(self) -> None:
        """Asks what to search for, and goes to the nearest hit at or above the cursor while one types."""
        from leafward_tui.widgets.sheet import TextSheet

        before = self.list.cursor

        def typed(words: str) -> None:
            self._search(words)
            at = self._hit(before + 1, -1)
            self.list.move_by((at if at is not None else before) - self.list.cursor)

        def done(words: str | None) -> None:
            if words is None:
                self._search("")
                self.list.move_by(before - self.list.cursor)

        self.app.push_screen(
            TextSheet(
                "Search the operations",
                self.searched,
                placeholder="words of an operation, or of the entry it is about",
                commit="keep, then n N",
                changed=typed,
            ),
            done,
        )

    def _search(self, words: str) -> None:
        deeds = self.list.deeds
        self.searched = words
        self.hits = deeds.matching(words) if deeds is not None else []
        self._tell_hits()
        self.show_hints()

    def _hit(self, row: int, step: int) -> int | None:
        """The hit behind a row, or before it, around the end; None where there is none."""
        if not self.hits:
            return None
        if step > 0:
            return self.hits[bisect_right(self.hits, row) % len(self.hits)]
        return self.hits[bisect_left(self.hits, row) - 1]

    def _tell_hits(self) -> None:
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
            at = bisect_right(self.hits, self.list.cursor)
            of = f"{at} of " if at and self.hits[at - 1] == self.list.cursor else ""
            glyphs = self.shell.glyphs
            quoted = f"{glyphs.quote_open}{self.searched}{glyphs.quote_close}"
            self.tell(f"{of}{len(self.hits):,} with {quoted}", "", keys)

    def _to_hit(self, step: int) -> None:
        at = self._hit(self.list.cursor, step)
        if at is not None:
            self.list.move_by(at - self.list.cursor)
            self._tell_hits()

    def action_find_next(self) -> None:
        """The next operation found, around the end."""
        self._to_hit(1)

    def action_find_previous(self) -> None:
        """The one before, around the top."""
        self._to_hit(-1)
