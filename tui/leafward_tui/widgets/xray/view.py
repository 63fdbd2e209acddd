"""Before beside after, line by line: what stays connected, what is replaced bracketed, what is new marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from leafward_tui.shell import shell_of
from leafward_tui.widgets.slim_bar import slim
from leafward_tui.xray.arrangement import Arrangement, Line, Piece, Side
from leafward_tui.xray.painting import Columns, Painter

if TYPE_CHECKING:
    from textual import events

    from leafward_tui.xray.telling import Teller

__all__ = ["XRayView"]


class XRayView(ScrollView, can_focus=True):
    """The lines of an X-ray; only what is on the screen is ever worded and drawn."""

    DEFAULT_CSS = """
    XRayView {
        width: 1fr;
        height: 1fr;
        background: $lw-bg;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        overflow-x: hidden;
    }
    """

    @dataclass
    class CursorMoved(Message):
        """The cursor is on another line or side."""

        view: XRayView

        @property
        def control(self) -> XRayView:
            """The view it came from."""
            return self.view

    @dataclass
    class Chosen(Message):
        """A line was double-clicked."""

        view: XRayView

        @property
        def control(self) -> XRayView:
            """The view it came from."""
            return self.view

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self.arrangement: Arrangement | None = None
        self.teller: Teller | None = None
        self.side = Side.AFTER
        self.cursor = -1
        self.lit: frozenset[int] = frozenset()
        """Lines of the other side that belong to the one under the cursor."""
        self.rendered = 0
        """Lines drawn so far; work counted for tests."""
        self._shown: list[int] = []
        self._places: dict[int, int] = {}

    def on_mount(self) -> None:
        """A thin scrollbar."""
        slim(self)

    # --- what is shown ------------------------------------------------------------------------------------------------

    @property
    def columns(self) -> Columns:
        """Where the sides stand now."""
        return Columns.fitting(self.scrollable_content_region.width or self.size.width, self.side)

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
    def line(self) -> Line | None:
        """The line under the cursor."""
        arrangement = self.arrangement
        return (
            arrangement.lines[self.cursor]
            if arrangement is not None and 0 <= self.cursor < len(arrangement)
            else None
        )

    @property
    def piece(self) -> Piece | None:
        """What is under the cursor; None between bands, and where a filter hides it."""
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
        self._measure()
        self.refresh()
        self.call_after_refresh(self.reveal)
        self.post_message(self.CursorMoved(self))

    def _measure(self) -> None:
        """Lists the lines that are on the page: all of them, or those that have something on the one side."""
        arrangement = self.arrangement
        if arrangement is None:
            self._shown = []
        elif self.columns.both:
            self._shown = list(range(len(arrangement)))
        else:
            self._shown = self._one_side(arrangement)
        self._places = {line: y for y, line in enumerate(self._shown)}
        self.virtual_size = Size(0, len(self._shown))

    def light(self, lines: frozenset[int]) -> None:
        """Lights lines on the other side."""
        if lines != self.lit:
            self.lit = lines
            self.refresh()

    def move_to(self, line: int) -> None:
        """Puts the cursor on a line of the arrangement."""
        arrangement = self.arrangement
        if arrangement is None or not 0 <= line < len(arrangement) or line == self.cursor:
            return
        self._repaint(self.cursor)
        self.cursor = line
        self._repaint(line)
        self.reveal()
        self.post_message(self.CursorMoved(self))

    def move_by(self, step: int) -> None:
        """Moves the cursor over lines that have something on its side."""
        if self.arrangement is not None and self.cursor >= 0:
            self.move_to(self.arrangement.step(self.side, self.cursor, step))

    def turn(self, side: Side, line: int) -> None:
        """Puts the cursor on a line of a side."""
        if self.arrangement is None:
            return
        self.side = side
        self.cursor = self.arrangement.nearest(side, line)
        self._measure()
        self.refresh()
        self.call_after_refresh(self.reveal)
        self.post_message(self.CursorMoved(self))

    def _y(self, line: int) -> int:
        return self._places.get(line, -1)

    def _repaint(self, line: int) -> None:
        y = self._y(line) - self.scroll_offset.y
        if 0 <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    def reveal(self) -> None:
        """Scrolls so far that the cursor is on the screen."""
        height, top, y = self.size.height, self.scroll_offset.y, self._y(self.cursor)
        if not height or y < 0:
            return
        margin = min(2, height // 4)
        if y < top + margin:
            self.scroll_to(y=max(0, y - margin), animate=False, force=True)
        elif y >= top + height - margin:
            self.scroll_to(y=y - height + 1 + margin, animate=False, force=True)

    def on_resize(self) -> None:
        """One side or two, as there is room."""
        self._measure()
        self.refresh()
        self.call_after_refresh(self.reveal)

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        """A scrollbar that appears after the view was scrolled is told where it stands."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y

    def on_focus(self) -> None:
        """The cursor is bright while keys come here."""
        self.refresh()

    def on_blur(self) -> None:
        """The cursor is quiet while keys go elsewhere."""
        self.refresh()

    # --- mouse --------------------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """One click selects, two choose."""
        offset = event.get_content_offset(self)
        arrangement = self.arrangement
        if offset is None or arrangement is None:
            return
        y = offset.y + self.scroll_offset.y
        shown = self._shown
        if y >= len(shown):
            return
        columns = self.columns
        side = self.side
        if columns.both:
            side = Side.BEFORE if offset.x < columns.before + 1 else Side.AFTER
        if not arrangement.stops(side, shown[y]):
            return
        if side is not self.side:
            self.turn(side, shown[y])
        else:
            self.move_to(shown[y])
        if event.chain == 2:
            self.post_message(self.Chosen(self))

    # --- drawing ------------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One line."""
        ground = shell_of(self).styles_now.bg
        width = self.scrollable_content_region.width
        shown = self._shown
        at = y + self.scroll_offset.y
        if self.arrangement is None or self.teller is None or at >= len(shown):
            return Strip.blank(width, ground.blank)
        self.rendered += 1
        painter = Painter(
            self.arrangement,
            self.teller,
            shell_of(self).styles_now,
            self.columns,
            self.cursor,
            self.side,
            self.lit,
            self.has_focus,
        )
        return Strip(painter.line(shown[at])).adjust_cell_length(width, ground.blank)
