"""The base of views of lines: a thin scrollbar, a cursor that stays on the screen, and drawing of visible lines only."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.color import Color
from rich.segment import Segment, Segments
from rich.style import Style
from textual.filter import ANSIToTruecolor
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBarRender

from leafward_tui.ui.appearance.glyphs import ASCII
from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.filter import LineFilter


class LineScroll(ScrollView, inherit_bindings=False, can_focus=True):
    """Lines that scroll. Keys are the screen's: Textual's own would scroll where ours move the cursor.

    A subclass draws a line in `render_line` and sets the number of lines with `set_extent`.
    """

    DEFAULT_CSS = """
    LineScroll {
        width: 1fr;
        height: 1fr;
        background: $lw-bg;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        overflow-x: hidden;
    }
    """

    cursor = -1
    """The line of the cursor; -1 for none."""
    covered = 0
    """Rows at the bottom of the view that are covered by something else."""

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's filters without the one that replaces the terminal's own colours: where a line has one, it means that."""
        return [one for one in super().get_line_filters() if not isinstance(one, ANSIToTruecolor)]

    @property
    def max_scroll_y(self) -> int:
        """The furthest scroll position: the last line may stand above the part that is covered."""
        return super().max_scroll_y + self.covered

    def uncover(self, covered: int) -> None:
        """Sets how many rows at the bottom are covered, and keeps the cursor in sight."""
        if covered != self.covered:
            self.covered = covered
            self.scroll_to(y=min(self.scroll_offset.y, self.max_scroll_y), animate=False, force=True)
            self.reveal()

    def span_of(self, line: int) -> range:
        """The rows that a line takes, counted from the top of all lines; empty where it is not shown."""
        return range(line, line + 1) if line >= 0 else range(0)

    def repaint(self, line: int) -> None:
        """Draws one line again, if it is on the screen."""
        rows = self.span_of(line)
        top = rows.start - self.scroll_offset.y
        if rows and -len(rows) < top < self.size.height:
            self.refresh(Region(0, top, self.size.width, len(rows)))

    def reveal(self) -> None:
        """Scrolls until the cursor is on the screen, with up to two rows around it."""
        height, top = self.size.height - self.covered, self.scroll_offset.y
        rows = self.span_of(self.cursor)
        if height <= 0 or not rows:
            return
        margin = min(2, height // 5)
        if rows.start < top + margin:
            top = rows.start - margin
        elif rows.stop > top + height - margin:
            top = rows.stop + margin - height
        else:
            return
        # Forced, because the scrollbar that would allow it appears with the next layout only.
        most = max(0, self.virtual_size.height - height)
        self.scroll_to(y=max(0, min(top, most)), animate=False, force=True)

    def row_at(self, event: events.MouseEvent) -> int:
        """The row under the mouse, counted from the top of everything; -1 beside the lines."""
        offset = event.get_content_offset(self)
        row = offset.y + self.scroll_offset.y if offset is not None else -1
        return row if row < self.virtual_size.height else -1

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        """Makes a scrollbar that appears a thin one, at the place of the view, which may have been scrolled before."""
        if shown:
            slim(self)
            self.vertical_scrollbar.position = self.scroll_y

    def focus_changed(self, *, focused: bool) -> None:  # noqa: ARG002  a view may show more than that
        """Shows a bright cursor while keys come here, a quiet one otherwise; overridden where more changes."""
        self.repaint(self.cursor)

    def watch_has_focus(self, has_focus: bool) -> None:
        """Shows whether keys come here."""
        super().watch_has_focus(has_focus)
        self.focus_changed(focused=has_focus)


class LineList(LineScroll):
    """Lines with a cursor; the view tells the screen which line is chosen."""

    class CursorMoved(Message):
        """The cursor is on another line."""

        def can_replace(self, message: Message) -> bool:
            """A later move replaces an earlier one: only the last place counts."""
            return isinstance(message, LineList.CursorMoved)

    class Chosen(Message):
        """A line was double-clicked."""

    count = 0
    """The number of lines."""
    _pointed = False
    """Whether the line that was clicked last can be chosen."""

    def show_lines(self, count: int, cursor: int) -> None:
        """Shows `count` other lines, with the cursor on one of them."""
        self.count = count
        self.cursor = min(count - 1, max(0, cursor))
        set_extent(self, count)
        self.shown_anew()

    def measure(self) -> None:
        """Lays the lines out for the present width; overridden where that matters."""

    def shown_anew(self) -> None:
        """Measures and draws again; called when other lines are shown, or the cursor changes sides on its line."""
        self.measure()
        self.refresh()
        self.call_after_refresh(self.reveal)
        self.post_message(self.CursorMoved())

    def put_cursor(self, line: int) -> None:
        """Puts the cursor on an existing line, and posts that it moved."""
        if line == self.cursor:
            return
        before, self.cursor = self.cursor, line
        self.repaint(before)
        self.repaint(line)
        self.reveal()
        self.post_message(self.CursorMoved())

    def move_by(self, step: int) -> None:
        """Moves the cursor by a number of lines, up to the first or the last; overridden where it rests on some only."""
        if self.count:
            self.put_cursor(max(0, min(self.count - 1, self.cursor + step)))

    def point(self, row: int, _x: int) -> bool:
        """Puts the cursor on a clicked row, at a cell of it; whether that can be chosen. Overridden where rows differ."""
        self.put_cursor(row)
        return True

    def on_click(self, event: events.Click) -> None:
        """Selects on one click, chooses on two.

        A second click on a line that cannot be chosen does nothing: what the first one did may have moved other lines there.
        """
        row, offset = self.row_at(event), event.get_content_offset(self)
        if event.chain > 1:
            if event.chain == 2 and self._pointed:
                self.post_message(self.Chosen())
        elif offset is not None and row >= 0:
            self._pointed = self.point(row, offset.x)

    def on_resize(self) -> None:
        """Fits the lines to the new width; the cursor stays on the screen."""
        self.measure()
        self.refresh()
        self.call_after_refresh(self.reveal)


_THUMB = "▐"
_BACK = Color.default()


class SlimBar(ScrollBarRender):
    """Textual's scrollbar with a thinner thumb; it is dragged and clicked as ever."""

    @classmethod
    def render_bar(
        cls,
        size: int = 25,
        virtual_size: float = 50,
        window_size: float = 20,
        position: float = 0,
        thickness: int = 1,
        vertical: bool = True,
        back_color: Color = _BACK,
        bar_color: Color = _BACK,
    ) -> Segments:
        """The bar as segments, a line each."""
        wide = super().render_bar(
            size, virtual_size, window_size, position, thickness, vertical, back_color, bar_color
        )
        if not vertical:
            return wide
        segments = []
        for segment in wide.segments:
            meta = segment.style.meta if segment.style is not None else {}
            if meta.get("@mouse.down") == "grab":
                style = Style(color=bar_color, bgcolor=back_color, meta=meta)
                segment = Segment(_THUMB.rjust(thickness), style)
            segments.append(segment)
        return Segments(segments, new_lines=True)


class PlainBar(ScrollBarRender):
    """Textual's scrollbar in whole cells: blanks only, no eighths of a block."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]


def set_extent(view: LineScroll, lines: int, cells: int = 0) -> None:
    """Sets the number of lines of a view, and their width in cells.

    Textual 8 lays out the whole screen whenever `virtual_size` changes. That is needed only where the scrollbar comes
    or goes; a page that follows the cursor changes at every key.
    """
    extent = Size(cells, lines)
    needs_bar = lines > view.container_size.height or view.styles.overflow_y == "scroll"
    if needs_bar != view.show_vertical_scrollbar or view.styles.is_auto_height or not view.is_mounted:
        view.virtual_size = extent
        return
    view.set_reactive(LineScroll.virtual_size, extent)
    if needs_bar:
        view.vertical_scrollbar.window_virtual_size = lines
    if view.scroll_y > view.max_scroll_y:
        view.scroll_to(y=view.max_scroll_y, animate=False, force=True)


def slim(widget: ScrollView) -> None:
    """Draws a widget's vertical scrollbar in half a cell, or in whole ones where the terminal lacks the sign for that."""
    bar = PlainBar if services_of(widget).glyphs is ASCII else SlimBar
    widget.vertical_scrollbar.renderer = bar  # type: ignore[misc]  # Textual's documented way to set one
