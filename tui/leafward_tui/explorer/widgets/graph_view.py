"""The tree of a session as lines: scrolling, cursor, mouse and jump letters over a layout and its folds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from leafward.session.tree.density import Density
from leafward_tui.explorer.model.row_columns import LANE_WIDTH, RowColumns, RowState, beside_inspector
from leafward_tui.explorer.widgets.painted_rows import PaintedRows, Rows
from leafward_tui.ui.messages import IntentPressed
from leafward_tui.ui.panes.line_scroll import LineScroll, set_extent
from leafward_tui.ui.panes.two_panes import has_two_panes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual import events
    from textual.strip import Strip

    from leafward_tui.explorer.model.file_markers import Touch
    from leafward_tui.explorer.model.folds import Lines, ShownLine
    from leafward_tui.explorer.model.ghost import Ghost
    from leafward_tui.explorer.model.rows import RowPainter

JUMP_LETTERS = "asdfghjklqwertyuiopzxcvbnm"


class GraphView(LineScroll):
    """Lines of a tree, rendered one by one; only lines on the screen are drawn."""

    class CursorMoved(Message):
        """The cursor is on another line."""

        def can_replace(self, message: Message) -> bool:
            """A later move replaces an earlier one: a burst of moves counts once."""
            return isinstance(message, GraphView.CursorMoved)

    class RowsShown(Message):
        """Other lines are on the screen now, or in other columns."""

        def can_replace(self, message: Message) -> bool:
            """A later message replaces an earlier one: only the final lines count."""
            return isinstance(message, GraphView.RowsShown)

    def __init__(self) -> None:
        super().__init__(id="graph")
        self.painter: RowPainter | None = None
        self.state = RowState()
        self.columns = RowColumns.fitting(80, 1)
        self.painted = PaintedRows(
            self,
            lambda: Rows(self.painter, self.columns, self.state, self.line_height) if self.painter else None,
        )
        self._typed = ""
        self._fold_clicked = False
        """Whether the last click opened or closed a fold."""

    # --- content ------------------------------------------------------------------------------------------------------

    @property
    def lines(self) -> Lines | None:
        """The lines on show; None before the session is read."""
        return self.painter.lines if self.painter is not None else None

    @property
    def line_height(self) -> int:
        """Screen lines a row takes."""
        lines = self.lines
        return 2 if lines is not None and lines.layout.density is Density.COMFORTABLE else 1

    def show(self, painter: RowPainter, row: int) -> None:
        """Shows other lines, with the cursor on `row` and on the same line of the screen as before."""
        before = self.state.cursor * self.line_height - self.scroll_offset.y
        fresh = self.painter is None
        self.painter = painter
        y = painter.lines.y_of(row)
        self.state.cursor = y
        self._refit()
        self.redraw_rows()
        if fresh:
            self.reveal(middle=True)
        else:
            self.scroll_to(y=y * self.line_height - before, animate=False, force=True)
            self.reveal()

    def _refit(self) -> None:
        lines = self.lines
        if lines is None:
            return
        height = len(lines) * self.line_height
        outer = self.outer_size
        width = outer.width - (self.styles.scrollbar_size_vertical if height > outer.height else 0)
        terminal = self.app.size
        beside = outer.width - 1 if has_two_panes(terminal) else beside_inspector(terminal.width)
        self.columns = RowColumns.fitting(width, lines.lanes, lines.layout.density, beside)
        set_extent(self, height, width)

    def redraw_rows(self) -> None:
        """Draws the lines on the screen again, because numbers or texts arrived."""
        self.painted.clear()
        self.refresh()

    @property
    def row(self) -> int:
        """The row the cursor is on; -1 where there is none."""
        line = self.line
        return line.row if line is not None else -1

    @property
    def line(self) -> ShownLine | None:
        """The line the cursor is on; None where there is none."""
        lines = self.lines
        if lines is None or not 0 <= self.state.cursor < len(lines):
            return None
        return lines.line(self.state.cursor)

    def rows_on_screen(self) -> range:
        """The lines that are on the screen."""
        lines = self.lines
        if lines is None:
            return range(0)
        first = self.scroll_offset.y // self.line_height
        return range(first, min(len(lines), first + self.size.height // self.line_height + 1))

    @property
    def page_rows(self) -> int:
        """Rows that fit on the screen."""
        return self.size.height // self.line_height

    # --- the cursor ---------------------------------------------------------------------------------------------------

    def move_to(self, y: int) -> None:
        """Puts the cursor on a line and brings it on the screen."""
        lines = self.lines
        if lines is None or not len(lines):
            return
        y = max(0, min(len(lines) - 1, y))
        old = self.state.cursor
        if y == old:
            return
        self.state.cursor = y
        self.repaint(old)
        self.repaint(y)
        self.reveal()
        self.post_message(self.CursorMoved())

    def move_by(self, step: int) -> None:
        """Moves the cursor some lines down, or up."""
        self.move_to(self.state.cursor + step)

    def move_to_row(self, row: int) -> None:
        """Puts the cursor on the line of a row."""
        lines = self.lines
        if lines is not None and row >= 0:
            self.move_to(lines.y_of(row))

    def reveal(self, *, middle: bool = False) -> None:
        """Scrolls until the cursor is on the screen, with some lines around it."""
        height = self.size.height - self.covered
        if height <= 0:
            return
        margin = min(2, height // 4) * self.line_height
        top = self.state.cursor * self.line_height
        bottom = top + self.line_height
        at = self.scroll_offset.y
        if top < at or bottom > at + height:
            far = middle or top < at - height or bottom > at + 2 * height
            if far:
                at = top - height // 2
            elif top < at:
                at = top - margin
            else:
                at = bottom + margin - height
        elif top < at + margin:
            at = top - margin
        elif bottom > at + height - margin:
            at = bottom + margin - height
        # Forced, because the scrollbar that would allow it appears with the next layout only.
        self.scroll_to(y=max(0, at), animate=False, force=True)

    def set_ghost(self, ghost: Ghost | None) -> None:
        """Shows a proposed move, or none."""
        if ghost is None and self.state.ghost is None:
            return
        self.state.ghost = ghost
        self.redraw_rows()

    def set_hits(self, rows: frozenset[int], query: str) -> None:
        """Lights the rows that a search found."""
        self.state.hits, self.state.query = rows, query
        self.redraw_rows()

    def set_touches(self, touches: Mapping[int, Touch]) -> None:
        """Sets the operations of rows on a file, empty for none. To be followed by `show`."""
        self.state.touches = touches

    def set_mark(self, row: int) -> None:
        """Shows the place of the mark; -1 for none."""
        self.state.mark = row
        self.redraw_rows()

    # --- jump letters -------------------------------------------------------------------------------------------------

    @property
    def jumping(self) -> bool:
        """Whether the next letters name a line."""
        return bool(self.state.jumps)

    def start_jump(self) -> None:
        """Puts letters on every line of the screen; the next typed ones go there."""
        on_screen = list(self.rows_on_screen())
        letters = JUMP_LETTERS
        if len(on_screen) <= len(letters):
            codes = list(letters)
        else:
            codes = [first + second for first in letters for second in letters]
        self.state.jumps = dict(zip(on_screen, codes, strict=False))
        self._typed = ""
        self.redraw_rows()

    def end_jump(self) -> None:
        """Removes the letters."""
        if self.jumping:
            self.state.jumps = {}
            self.redraw_rows()
            # The note about the letters goes, as it does where the cursor moves.
            self.post_message(self.CursorMoved())

    @property
    def takes_keys(self) -> bool:
        """Whether keys are letters of lines now, before they are bindings."""
        return self.jumping

    def on_key(self, event: events.Key) -> None:
        """Handles letters while they name lines; every other key is a binding's."""
        if not self.jumping:
            return
        event.stop()
        event.prevent_default()
        self._typed += event.character or ""
        jumps: Mapping[int, str] = self.state.jumps
        left = {y: code for y, code in jumps.items() if code.startswith(self._typed)}
        if event.key == "escape" or not left:
            self.end_jump()
        elif self._typed in left.values():
            y = next(y for y, code in left.items() if code == self._typed)
            self.end_jump()
            self.move_to(y)

    # --- drawing ------------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One screen line; `y` counts from the top of the widget."""
        return self.painted.strip(y + self.scroll_offset.y)

    def span_of(self, line: int) -> range:
        """The screen lines of a line of the tree."""
        return range(line * self.line_height, (line + 1) * self.line_height)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Posts which lines came on the screen."""
        super().watch_scroll_y(old_value, new_value)
        self.painted.await_rest()
        self.post_message(self.RowsShown())

    def on_resize(self) -> None:
        """Fits the columns to the new width."""
        self._refit()
        # It may have been drawn at the new width with the columns of the old one.
        self.redraw_rows()
        self.reveal()
        self.post_message(self.RowsShown())

    def focus_changed(self, *, focused: bool) -> None:
        """Shows a bright cursor while keys come here; elsewhere no letters stay on the lines."""
        self.state.focused = focused
        if not focused:
            self.end_jump()
        self.repaint(self.state.cursor)

    # --- mouse --------------------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Selects on one click, opens a fold on a click on its sign, chooses on two."""
        offset = event.get_content_offset(self)
        lines = self.lines
        if offset is None or lines is None:
            return
        y = (offset.y + self.scroll_offset.y) // self.line_height
        if y >= len(lines):
            return
        line = lines.line(y)
        self.end_jump()
        self.move_to(y)
        on_sign = line.kind.is_fold and offset.x <= self.columns.text_at + LANE_WIDTH
        if event.chain == 1 and on_sign:
            self.post_message(IntentPressed("fold.open"))
        elif event.chain == 2 and not self._fold_clicked:
            # The first click on the sign of a fold put another line under the mouse: that line was not chosen.
            self.post_message(IntentPressed("move.here"))
        self._fold_clicked = on_sign
