"""Searching an X-ray: hits on both sides, in the order of its lines; what hides one is unfolded while the search holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message
from textual.worker import get_current_worker

from leafward.base.errors import LeafwardError
from leafward_tui.ui.results import XRayResult as Leaving
from leafward_tui.ui.screen_search import Searching
from leafward_tui.xray.model.arrangement import Arrangement, Side

if TYPE_CHECKING:
    from leafward.compaction.xray import Link, XRay
    from leafward.session.session import Session
    from leafward_tui.xray.widgets.foot import AboutLine
    from leafward_tui.xray.widgets.view import XRayView

__all__ = ["Hunting", "Leaving"]

_NESTED = 3
"""Folds that may lie in each other."""


@dataclass
class RowsFound(Message):
    """The rows that hold what is searched for; the text says what went wrong."""

    words: str
    rows: list[tuple[Side, int]]
    text: str = ""


class Hunting(Searching["Leaving | None"]):
    """The search of the X-ray. A place is a line and a side: twice the line, one more after."""

    session: Session
    xray: XRay | None = None
    view: XRayView
    about: AboutLine
    opened: frozenset[str] = frozenset()
    """Folds that are open."""
    only: Link | None = None
    fold_kept = False
    _rows_found: list[tuple[Side, int]]
    _began_at = (Side.AFTER, 0)
    """The side and the row that the search began at."""
    _opened_before: frozenset[str] | None = None
    """Folds that were open before the search."""

    def action_xray_find(self) -> None:
        """Asks for words to find on either side."""
        piece = self.view.piece
        if self.xray is not None and piece is not None:
            self._began_at = (self.view.side, piece.rows[0])
            self.ask_search("Search both sides", "words of a message, a summary or what is injected")

    def place(self) -> int:
        """The line of the cursor, and its side."""
        return 2 * self.view.cursor + (self.view.side is Side.AFTER)

    def go_to_place(self, place: int) -> None:
        """Puts the cursor on a line and side."""
        line, after = divmod(place, 2)
        side = Side.AFTER if after else Side.BEFORE
        if side is self.view.side:
            self.view.move_to(line)
        else:
            self.view.turn(side, line)

    def look_for(self, words: str) -> None:
        """Looks through the messages behind the screen."""
        if self.xray is not None:
            self._look_for(words, self.xray)

    @work(thread=True, exclusive=True, group="search", exit_on_error=False)
    def _look_for(self, words: str, xray: XRay) -> None:
        from leafward_tui.xray.model.matching import rows_holding

        worker = get_current_worker()
        try:
            found = rows_holding(self.session, xray, words, self.shell.keys_first.stop(worker))
        except (LeafwardError, OSError) as error:
            self.post_message(RowsFound(words, [], str(error)))
            return
        if not worker.is_cancelled:
            self.post_message(RowsFound(words, found))

    def on_rows_found(self, message: RowsFound) -> None:
        """Unfolds what hides a hit, and goes to the first."""
        xray = self.xray
        if message.words != self.searched or xray is None:
            return
        if message.text:
            self.about.say(message.text, "bad")
            return
        if self._opened_before is None:
            self._opened_before = self.opened
        self._rows_found = message.rows
        self.opened = self._opened_before
        for _ in range(_NESTED):
            arrangement = Arrangement(xray, self.opened, self.only, fold_kept=self.fold_kept)
            hiding = {arrangement.fold_over(side, row) for side, row in message.rows} - {""}
            if hiding <= self.opened:
                break
            self.opened |= hiding
        self.rearrange()
        shown = self.view.arrangement
        if self._origin >= 0 and shown is not None:
            # What was unfolded moved the line that the search began at.
            side, row = self._began_at
            self._origin = max(0, 2 * shown.line_of(side, row) + (side is Side.AFTER))
        self.found(message.words, self.hits)

    def place_hits(self) -> None:
        """The places of the hits, after lines were laid out anew."""
        arrangement = self.view.arrangement
        if not self.searched or self._opened_before is None or arrangement is None:
            return
        places = {
            2 * line + (side is Side.AFTER)
            for side, row in self._rows_found
            if (line := arrangement.line_of(side, row)) >= 0
        }
        self.hits = sorted(places)

    def end_search(self) -> None:
        """Forgets the search, and folds what it unfolded."""
        super().end_search()
        if self._opened_before is not None:
            self.opened, self._opened_before = self._opened_before, None
            self.rearrange()

    def show_hits(self) -> None:
        """In the title, and lit in the lines."""
        self.view.search(self.searched)
        self.show_title()

    def show_title(self) -> None:
        """The session, and what is known of the compaction."""
        raise NotImplementedError

    def rearrange(self) -> None:
        """Lays the lines out anew."""
        raise NotImplementedError
