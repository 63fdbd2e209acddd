"""Before beside after, line by line: kept lines connected, replaced ones bracketed, new ones marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.strip import Strip

from leafward_tui.ui.panes.line_scroll import LineList, set_extent
from leafward_tui.ui.services import services_of
from leafward_tui.xray.model.arrangement import Arrangement, Piece, Side, XRayLine
from leafward_tui.xray.model.painting import Painter, SideColumns

if TYPE_CHECKING:
    from leafward_tui.xray.model.captions import Teller


class XRayView(LineList):
    """The lines of an X-ray; only lines on the screen are worded and drawn."""

    def __init__(self) -> None:
        super().__init__(id="xray")
        self.arrangement: Arrangement | None = None
        self.teller: Teller | None = None
        self.side = Side.AFTER
        self.lit: frozenset[int] = frozenset()
        """Lines of the other side that belong to the one under the cursor."""
        self.query_lit = ""
        """The words of the search."""
        self.rendered = 0
        """Lines drawn so far; work counted for tests."""
        self._shown: list[int] = []
        self._places: dict[int, int] = {}

    # --- content ------------------------------------------------------------------------------------------------------

    @property
    def columns(self) -> SideColumns:
        """The present places of the sides."""
        return SideColumns.fitting(self.scrollable_content_region.width or self.size.width, self.side)

    def _one_side(self, arrangement: Arrangement) -> list[int]:
        found: list[int] = []
        for at, line in enumerate(arrangement.lines):
            parts = line.band < 0
            if arrangement.stops(self.side, at) or (
                parts and found and arrangement.lines[found[-1]].band >= 0
            ):
                found.append(at)
        return found

    @property
    def line(self) -> XRayLine | None:
        """The line under the cursor; None where there is none."""
        arrangement = self.arrangement
        return (
            arrangement.lines[self.cursor]
            if arrangement is not None and 0 <= self.cursor < len(arrangement)
            else None
        )

    @property
    def piece(self) -> Piece | None:
        """The piece under the cursor; None between bands, and where a filter hides it."""
        line = self.line
        return line.side(self.side) if line is not None else None

    def show(self, arrangement: Arrangement, teller: Teller, cursor: int, side: Side) -> None:
        """Shows other lines, with the cursor on one of them."""
        self.arrangement, self.teller = arrangement, teller
        self.side = side
        self.cursor = arrangement.nearest(side, max(0, cursor))
        if self.cursor < 0 and len(arrangement):
            self.side = side.other
            self.cursor = arrangement.nearest(self.side, 0)
        self.lit = frozenset()
        self.shown_anew()

    def measure(self) -> None:
        """Lists the lines of the page: all of them, or those with content on the one side."""
        arrangement = self.arrangement
        if arrangement is None:
            self._shown = []
        elif self.columns.both:
            self._shown = list(range(len(arrangement)))
        else:
            self._shown = self._one_side(arrangement)
        self._places = {line: y for y, line in enumerate(self._shown)}
        set_extent(self, len(self._shown))

    def search(self, words: str) -> None:
        """Lights the words of a search; an empty query lights nothing."""
        if words != self.query_lit:
            self.query_lit = words
            self.refresh()

    def light(self, lines: frozenset[int]) -> None:
        """Lights lines on the other side."""
        if lines != self.lit:
            self.lit = lines
            self.refresh()

    def move_to(self, line: int) -> None:
        """Puts the cursor on a line of the arrangement."""
        arrangement = self.arrangement
        if arrangement is not None and 0 <= line < len(arrangement):
            self.put_cursor(line)

    def move_by(self, step: int) -> None:
        """Moves the cursor over lines with content on its side."""
        if self.arrangement is not None and self.cursor >= 0:
            self.move_to(self.arrangement.step(self.side, self.cursor, step))

    def turn(self, side: Side, line: int) -> None:
        """Puts the cursor on a line of a side."""
        if self.arrangement is None:
            return
        self.side = side
        self.cursor = self.arrangement.nearest(side, line)
        self.shown_anew()

    def span_of(self, line: int) -> range:
        """The row of a line, where it is on the page."""
        return super().span_of(self._places.get(line, -1))

    # --- mouse --------------------------------------------------------------------------------------------------------

    def point(self, row: int, x: int) -> bool:
        """Puts the cursor on a clicked line, on the side of the cell, where that has content."""
        arrangement, line, columns, side = self.arrangement, self._shown[row], self.columns, self.side
        if columns.both:
            side = Side.BEFORE if x < columns.before + 1 else Side.AFTER
        if arrangement is None or not arrangement.stops(side, line):
            return False
        if side is not self.side:
            self.turn(side, line)
        else:
            self.move_to(line)
        return True

    # --- drawing ------------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One line."""
        ground = services_of(self).styles_now.bg
        width = self.scrollable_content_region.width
        shown = self._shown
        at = y + self.scroll_offset.y
        if self.arrangement is None or self.teller is None or at >= len(shown):
            return Strip.blank(width, ground.blank)
        self.rendered += 1
        painter = Painter(
            self.arrangement,
            self.teller,
            services_of(self).styles_now,
            self.columns,
            self.cursor,
            self.side,
            self.lit,
            self.has_focus,
            self.query_lit,
        )
        return Strip(painter.line(shown[at])).adjust_cell_length(width, ground.blank)
