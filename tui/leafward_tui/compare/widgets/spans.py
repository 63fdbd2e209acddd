"""Rows of spans made for the width at which they are drawn; they neither scroll nor have a cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from leafward_tui.ui.panes.lines_view import LinesView
from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward_tui.ui.panes.pane_lines import SpanLine


class SpanRows(Widget):
    """A few rows, indented by one cell, like the text of a list beside them."""

    DEFAULT_CSS = "SpanRows { width: 1fr; height: 1; }"

    def __init__(self, *, id: str | None = None, rule: bool = False) -> None:  # noqa: A002  # Textual's own name
        """With `rule`, the last row is a hairline."""
        super().__init__(id=id)
        self._make: Callable[[int], Sequence[SpanLine]] | None = None
        self._rule = rule

    def show(self, make: Callable[[int], Sequence[SpanLine]]) -> None:
        """Draws the lines that `make` returns for a number of cells."""
        self._make = make
        self.refresh()

    @property
    def text(self) -> str:
        """The text of the rows."""
        return "\n".join(line.text for line in self._lines())

    def _lines(self) -> Sequence[SpanLine]:
        return self._make(max(8, self.size.width - 1)) if self._make is not None else ()

    def render_line(self, y: int) -> Strip:
        """One row."""
        services = services_of(self)
        styles = services.styles_now
        width = self.size.width
        if self._rule and y == self.size.height - 1:
            return Strip(
                [
                    Segment(" ", styles.bg.blank),
                    Segment(services.glyphs.hairline * (width - 1), styles.bg.line),
                ]
            )
        lines = self._lines()
        segments = [Segment(" ", styles.bg.blank)]
        if y < len(lines):
            segments += [
                Segment(text, getattr(getattr(styles, ground) if ground else styles.bg, ink))
                for text, ink, ground in lines[y].spans
                if text
            ]
        return Strip(segments).adjust_cell_length(width, styles.bg.blank)


class FilesView(LinesView):
    """A column of files: the cursor shows only in the column with the keys, because several columns share one cursor."""

    def _paint(self, line: SpanLine, state: int, width: int) -> Strip:
        return super()._paint(line, state if state == 2 else 0, width)
