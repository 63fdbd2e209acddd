"""A pane of lines: scrolling, a cursor that rests on lines with a key, clicks and drags. Only visible lines are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.message import Message
from textual.strip import Strip

from leafward_tui.ui.panes.line_scroll import LineScroll, set_extent
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.hits import parted, spans_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events

    from leafward_tui.ui.appearance.theme import Styles
    from leafward_tui.ui.panes.pane_lines import Lines, SpanLine

MARGIN = 1
"""Cells left of the text: the cursor's."""
_KEPT_STRIPS = 500


class LinesView(LineScroll):
    """Shows lines that are made for its width and height."""

    DEFAULT_CSS = "LinesView { scrollbar-gutter: stable; }"

    @dataclass
    class Chosen(Message):
        """A line was clicked; `x` counts cells from its text, `twice` is a double click."""

        view: LinesView
        key: str
        x: int
        twice: bool

    @dataclass
    class Dragged(Message):
        """The mouse was `pressed` on a line, and went to a cell since, beside the line too; `done` when the button is up again."""

        key: str
        x: int
        pressed: bool = False
        done: bool = False

        def can_replace(self, message: Message) -> bool:
            """A later drag of the mouse replaces an earlier one: only the current cell counts, and where it was pressed."""
            return isinstance(message, LinesView.Dragged) and not self.pressed and not message.done

    @dataclass
    class LinesShown(Message):
        """Other lines are on the screen now."""

        view: LinesView

        def can_replace(self, message: Message) -> bool:
            """A later message replaces an earlier one: only the final lines count."""
            return isinstance(message, LinesView.LinesShown) and message.view is self.view

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002  # Textual's own name
        drags: str = "",
        cursor: bool = True,
        raised: bool = False,
    ) -> None:
        """`drags` is the area of keys that the mouse can drag; without `cursor`, lines are only read and clicked.

        With `raised` the view stands on the ground of a sheet.
        """
        super().__init__(id=id)
        self._plain = "raised" if raised else "bg"
        self._has_cursor = cursor
        self.can_focus = cursor
        self.lines: Lines | None = None
        self.rendered = 0
        """Strips drawn so far; work counted for tests."""
        self._make: Callable[[int, int], Lines] | None = None
        self._wanted: str | None = None
        self._above = -1
        self._strips: dict[tuple[int, int], Strip] = {}
        self._styles: Styles | None = None
        self._query = ""
        self._drags = drags
        self._dragging = ""

    # --- content ------------------------------------------------------------------------------------------------------

    @property
    def cells(self) -> int:
        """Cells of a line, margin and scrollbar not counted."""
        return max(8, self.scrollable_content_region.width - MARGIN)

    def show(
        self, make: Callable[[int, int], Lines] | None = None, *, at: str | None = None, end: bool = False
    ) -> None:
        """Shows the lines that `make` returns for a number of cells and rows; without `make`, those of the maker before.

        The cursor goes to the line with the key `at`, else stays on its key, else on its line. With `end` the last line
        is brought on the screen.
        """
        before = self.key
        if make is not None:
            self._make, self._above = make, -1
        if self._make is None or not self.size.width:
            self._wanted = at  # taken up with the first size
            return
        at, self._wanted = at if at is not None else self._wanted, None
        self.lines = lines = self._make(self.cells, self.size.height)
        self._strips.clear()
        set_extent(self, len(lines), self.cells + MARGIN)
        line = lines.find(at) if at is not None else -1
        if line < 0 and before:
            line = lines.find(before)
        self.cursor = line if line >= 0 else self._near(max(0, self.cursor))
        if end:
            self.scroll_to(y=max(0, len(lines) - self.size.height), animate=False, force=True)
        else:
            self.reveal()
        self.refresh()
        self.post_message(self.LinesShown(self))

    def light(self, query: str) -> None:
        """Lights the words of a search; an empty query lights nothing."""
        if query != self._query:
            self._query = query
            self.redraw()

    def redraw(self) -> None:
        """Draws the visible lines again, because words or colours changed."""
        self._strips.clear()
        self.refresh()

    @property
    def line(self) -> SpanLine | None:
        """The line of the cursor; None where there is none."""
        lines = self.lines
        return lines[self.cursor] if lines is not None and 0 <= self.cursor < len(lines) else None

    @property
    def key(self) -> str:
        """The key of the cursor's line; empty for none."""
        line = self.line
        return line.key if line is not None else ""

    def shown(self) -> range:
        """The lines on the screen."""
        total = len(self.lines) if self.lines is not None else 0
        top = self.scroll_offset.y
        return range(min(top, total), min(total, top + self.size.height))

    # --- the cursor ---------------------------------------------------------------------------------------------------

    def _near(self, y: int) -> int:
        """The line at or after `y` that the cursor can rest on, else the last one before it; -1 for none."""
        lines = self.lines
        if lines is None or not len(lines) or not self._has_cursor:
            return -1
        y = min(y, len(lines) - 1)
        ways = chain(range(y, len(lines)), range(y - 1, -1, -1))
        return next((at for at in ways if lines[at].key), -1)

    def move_by(self, step: int) -> None:
        """Moves the cursor by lines with a key, or scrolls where there are none."""
        lines = self.lines
        if lines is None:
            return
        if self.cursor < 0:
            self.scroll_to(y=max(0, self.scroll_offset.y + step), animate=False)
            return
        places = range(self.cursor + 1, len(lines)) if step > 0 else range(self.cursor - 1, -1, -1)
        # A step beyond the end needs none of the lines before it, which would all be made.
        far = abs(step) >= len(lines)
        keyed = (at for at in (reversed(places) if far else places) if lines[at].key)
        *_, found = self.cursor, *islice(keyed, 1 if far else abs(step))
        if found == self.cursor:  # no line with a key that way: the lines there can be read all the same
            self.scroll_to(y=max(0, self.scroll_offset.y + step), animate=False)
        self.move_to(found)

    def move_to(self, y: int) -> None:
        """Puts the cursor on a line."""
        if y != self.cursor:
            self._above = -1
            old, self.cursor = self.cursor, y
            self.repaint(old)
            self.repaint(y)
            self.reveal()

    def bring(self, y: int, above: int) -> None:
        """Puts the cursor on a line and shows as many lines above it, also after a layout that is still to come."""
        self.move_to(y)
        self._above = above
        self._scroll_to_brought()

    @property
    def rows_above(self) -> int:
        """The number of rows on the screen above the cursor; where the layout that allows them is to come, those asked for."""
        if self.cursor - self._above > self.max_scroll_y and self._above >= 0:
            return self._above
        return max(0, self.cursor - self.scroll_offset.y)

    def _scroll_to_brought(self) -> None:
        if self._above >= 0:
            self.scroll_to(y=max(0, self.cursor - self._above), animate=False, force=True)

    def go(self, key: str) -> bool:
        """Puts the cursor on the line with a key; whether there is one."""
        at = self.lines.find(key) if self.lines is not None else -1
        if at >= 0:
            self.move_to(at)
        return at >= 0

    # --- drawing ------------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One line; `y` counts from the top of the widget."""
        services = services_of(self)
        width = self.scrollable_content_region.width
        at = y + self.scroll_offset.y
        if self.lines is None or at >= len(self.lines):
            return Strip.blank(width, getattr(services.styles_now, self._plain).blank)
        if services.styles_now is not self._styles:  # another theme
            self._styles = services.styles_now
            self._strips.clear()
        here = at == self.cursor
        state = (1 + self.has_focus) if here else 0
        strip = self._strips.get((at, state))
        if strip is None:
            self.rendered += 1
            if len(self._strips) > _KEPT_STRIPS:
                self._strips.clear()
            strip = self._strips[at, state] = self._paint(self.lines[at], state, width)
        return strip

    def _paint(self, line: SpanLine, state: int, width: int) -> Strip:
        services = services_of(self)
        styles = services.styles_now
        own = getattr(styles, line.ground or self._plain)
        ground = styles.sel if state == 2 and not line.ground else own
        sign = services.glyphs.cursor if state else " "
        segments = [Segment(sign, ground.leaf if state == 2 else ground.faint)]
        hits = spans_of(line.text, self._query) if self._query else ()
        at = 0
        for text, ink, named in line.spans:
            if text:
                on = getattr(styles, named) if named and ground is own else ground
                segments += parted(text, at, hits, getattr(on, ink), on.hit)
                at += len(text)
        return Strip(segments).adjust_cell_length(width, ground.blank)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Posts that other lines came on the screen."""
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.LinesShown(self))

    def on_resize(self) -> None:
        """Makes the lines for the new size."""
        self.show()
        self._scroll_to_brought()

    # --- mouse --------------------------------------------------------------------------------------------------------

    def _at(self, event: events.MouseEvent) -> tuple[int, str, int]:
        """Line, key and cell under the mouse."""
        offset = event.get_content_offset(self)
        lines, y = self.lines, self.row_at(event)
        if offset is None or lines is None or y < 0:
            return -1, "", 0
        return y, lines[y].key, offset.x - MARGIN

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Takes hold of a line that can be dragged."""
        y, key, x = self._at(event)
        if self._drags and key.startswith(f"{self._drags}:"):
            self._dragging = key
            self.move_to(y)
            self.capture_mouse()
            self.post_message(self.Dragged(key, x, pressed=True))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Moves the dragged line to the mouse."""
        if self._dragging:
            self.post_message(self.Dragged(self._dragging, event.x - MARGIN))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Lets go."""
        if self._dragging:
            held, self._dragging = self._dragging, ""
            self.release_mouse()
            self.post_message(self.Dragged(held, event.x - MARGIN, done=True))

    def on_click(self, event: events.Click) -> None:
        """Puts the cursor on the clicked line, and posts the click."""
        y, key, x = self._at(event)
        if key:
            if self._has_cursor:
                self.move_to(y)
            self.post_message(self.Chosen(self, key, x, event.chain == 2))
