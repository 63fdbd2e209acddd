"""Lines of the tree as they were drawn: kept, and drawn ahead before they are on the screen."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from textual.strip import Strip

from leafward_tui.ui.delay import Delay
from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward_tui.explorer.model.row_columns import RowColumns, RowState
    from leafward_tui.explorer.model.rows import RowPainter
    from leafward_tui.ui.panes.line_scroll import LineScroll

KEPT = 2_000
"""Lines kept drawn; a screen is a few dozen."""
REST = 0.05
"""Seconds without a change after which lines are painted ahead."""
BREATH = 0.005
"""Seconds between two steps of painting ahead: all waiting work comes first."""
AT_ONCE = 6
"""Lines painted in a step: about a millisecond."""


class Rows(NamedTuple):
    """The present content of a tree."""

    painter: RowPainter
    columns: RowColumns
    state: RowState
    height: int
    """Screen lines a row takes."""


class _Key(NamedTuple):
    """The values that a screen line depends on."""

    line: int
    second: bool
    cells: int
    cursor: int
    """Whether the cursor is on it (1), and the tree has the keys (2)."""


class PaintedRows:
    """The strips of a tree. Screen lines are counted from the top of all lines."""

    def __init__(self, view: LineScroll, rows: Callable[[], Rows | None]) -> None:
        """`rows` gives the present content; None where there is none."""
        self._view, self._rows = view, rows
        self._strips: dict[_Key, Strip] = {}
        self._resting = Delay(view.set_timer)
        self.shown = 0
        """Strips painted so far while they were on the screen; work counted for tests."""
        self.ahead = 0
        """Strips painted so far ahead of that; work counted for tests."""

    def clear(self) -> None:
        """Drops all strips, because something in the rows has changed."""
        self._strips.clear()
        self.await_rest()

    def strip(self, y: int) -> Strip:
        """A screen line."""
        rows, styles = self._rows(), services_of(self._view).styles_now
        if rows is not None and styles is not rows.painter.styles:  # another theme
            rows.painter.styles = styles
            self._strips.clear()
        key = _key(rows, y) if rows is not None else None
        if rows is None or key is None:
            return Strip.blank(self._view.size.width, styles.bg.blank)
        strip = self._strips.get(key)
        if strip is None:
            self.shown += 1
            strip = self._paint(rows, key)
        return strip

    def await_rest(self) -> None:
        """Paints further lines ahead once nothing changed for a moment."""
        self._resting.stop()
        if self._view.is_mounted:
            self._resting.start(REST, self._paint_ahead)

    def _paint_ahead(self) -> None:
        """Paints a few lines of the next page, or of the one before, so that a key that turns the page finds them ready."""
        view, rows = self._view, self._rows()
        if rows is None or rows.painter.styles is not services_of(view).styles_now:
            return
        top, height = view.scroll_offset.y, view.size.height
        coming = (*range(top + height, top + 2 * height), *range(top - 1, top - 1 - height, -1))
        missing = (key for y in coming if (key := _key(rows, y)) is not None and key not in self._strips)
        few = tuple(islice(missing, AT_ONCE))
        for key in few:
            self.ahead += 1
            self._paint(rows, key)
        if few:
            self._resting.start(BREATH, self._paint_ahead)

    def _paint(self, rows: Rows, key: _Key) -> Strip:
        painter, width = rows.painter, self._view.size.width
        try:
            segments = painter.paint(key.line, rows.columns, rows.state, second=key.second)
        except IndexError:
            if not painter.is_outdated:
                raise
            segments = []
        if painter.is_outdated:
            # A job has read a rewritten file: rows of its entries come in a moment.
            return Strip.blank(width, painter.styles.bg.blank)
        strip = Strip(segments).adjust_cell_length(width, painter.styles.bg.blank)
        if len(self._strips) > KEPT:
            self._strips.clear()
        self._strips[key] = strip
        return strip


def _key(rows: Rows, y: int) -> _Key | None:
    """The values that a line depends on; None where there is none."""
    at, second = divmod(y, rows.height)
    if not 0 <= at < len(rows.painter.lines):
        return None
    cursor = int(at == rows.state.cursor) + 2 * rows.state.focused
    return _Key(at, bool(second), rows.columns.width, cursor)
