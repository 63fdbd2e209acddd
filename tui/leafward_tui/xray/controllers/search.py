"""The search of an X-ray: hits on both sides, in the order of its lines; folds over them open while it lasts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.compaction.xray.alignment import Link, What
from leafward_tui.ui.screens.screen_search import ScreenSearch, entries_holding
from leafward_tui.xray.controllers.controller import XRayController, XRayMeans
from leafward_tui.xray.model.arrangement import Side

if TYPE_CHECKING:
    from leafward.compaction.xray.alignment import XRay
    from leafward.session.session import Session
    from leafward_tui.ui.jobs import Job
    from leafward_tui.xray.controllers.lines import Lines

_NESTED = 3
"""Folds that may be nested in each other."""


class Search(XRayController):
    """Owns the hits. A place is a line and a side: twice the line, one more after."""

    def __init__(self, means: XRayMeans, lines: Lines) -> None:
        super().__init__(means)
        self._lines = lines
        self.hits = ScreenSearch(self, self._view)
        self._view.hits = self.hits.fact
        self._rows: list[tuple[Side, int]] = []
        self._began_at = (Side.AFTER, 0)
        """The side and the row that the search began at."""
        self._opened_before: frozenset[str] | None = None
        """Folds that were open before the search; None while nothing was found."""
        lines.rearranged = self.place_hits
        self.actions = {
            "xray.find": self.ask,
            "change.next": partial(self.step, 1),
            "change.previous": partial(self.step, -1),
            "mode.leave": self.leave,
        }

    @property
    def words(self) -> str:
        """The words of the search; empty for none."""
        return self.hits.words

    def ask(self) -> None:
        """Asks for words to find on either side."""
        piece = self._view.lines.piece
        if self._state.loaded.xray is not None and piece is not None:
            self._began_at = (self._view.lines.side, piece.rows[0])
            self.hits.ask("Search both sides", "words of a message, a summary or what is injected")

    def step(self, direction: int) -> None:
        """Goes to the next hit or the one before; without a search, to the next change."""
        if not (self.words and self.hits.step(direction)):
            self._lines.change(direction)

    def leave(self) -> None:
        """Ends the search, then shows everything again; then goes back."""
        only = self._state.folds.only
        if self.words:
            self.hits.end()
        elif only is not None:
            self._lines.show_only(only)
        else:
            self._view.go_back()

    # --- for the search within the screen -----------------------------------------------------------------------------

    def place(self) -> int:
        """The line of the cursor, and its side."""
        return 2 * self._view.lines.cursor + (self._view.lines.side is Side.AFTER)

    def go_to_place(self, place: int) -> None:
        """Puts the cursor on a line and side."""
        line, after = divmod(place, 2)
        side = Side.AFTER if after else Side.BEFORE
        if side is self._view.lines.side:
            self._view.lines.move_to(line)
        else:
            self._view.lines.turn(side, line)

    def look_for(self, words: str) -> None:
        """Searches the messages in a job."""
        xray = self._state.loaded.xray
        if xray is not None:
            self._jobs.latest(
                "search",
                partial(found_rows, self._state.session, xray, words),
                partial(self._found, words),
                self._failed,
            )

    def _failed(self, text: str) -> None:
        self.hits.found(self.words, ())
        self._view.about.say(text, "bad")

    def show_hits(self) -> None:
        """Shows the hits in the title and in the lines; when the search ends, closes the folds that it opened."""
        if not self.words and self._opened_before is not None:
            self._lines.open_folds(self._opened_before)
            self._opened_before = None
            self._lines.rearrange()
        self._view.lines.search(self.words)
        self._view.show_title()

    def _found(self, words: str, rows: list[tuple[Side, int]]) -> None:
        """Opens the folds over hits, and goes to the first."""
        xray = self._state.loaded.xray
        if words != self.words or xray is None:
            return
        if self._opened_before is None:
            self._opened_before = self._state.folds.opened
        self._rows = rows
        opened = self._opened_before
        for _ in range(_NESTED):
            self._lines.open_folds(opened)
            arrangement = self._lines.arrangement(xray)
            hiding = {arrangement.fold_over(side, row) for side, row in rows} - {""}
            if hiding <= opened:
                break
            opened |= hiding
        self._lines.rearrange()
        shown = self._view.lines.arrangement
        if shown is not None:
            # The line that the search began at has moved with the unfolded rows.
            side, row = self._began_at
            self.hits.move_origin(max(0, 2 * shown.line_of(side, row) + (side is Side.AFTER)))
        self.hits.found(words, self.hits.hits)

    def place_hits(self) -> None:
        """Sets the places of the hits, after lines were laid out again."""
        arrangement = self._view.lines.arrangement
        if self.words and self._opened_before is not None and arrangement is not None:
            self.hits.hits = sorted(
                {
                    2 * line + (side is Side.AFTER)
                    for side, row in self._rows
                    if (line := arrangement.line_of(side, row)) >= 0
                }
            )
            self._view.show_title()


def found_rows(session: Session, xray: XRay, words: str, job: Job) -> list[tuple[Side, int]]:
    """The rows and sides with hits, case ignored; rows kept on both sides count once, before.

    Raises Cancelled, LeafwardError, OSError.
    """
    spoken: dict[int, list[tuple[Side, int]]] = {}
    found: list[tuple[Side, int]] = []
    for number, row in enumerate(xray.rows):
        for side, cell in ((Side.BEFORE, row.before), (Side.AFTER, row.after)):
            if cell is None or (side is Side.AFTER and row.link in (Link.SYSTEM, Link.KEPT)):
                continue
            if cell.what is What.MESSAGE and cell.entry >= 0:
                spoken.setdefault(cell.entry, []).append((side, number))
            elif words.lower() in cell.text.lower():
                found.append((side, number))
    for entry in sorted(entries_holding(session, spoken, words, job)):
        found += spoken[entry]
    return found
