"""The lines of a file, each after the turn that wrote it; lines of the cursor's turn are marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment
from textual.strip import Strip

from leafward_tui.ui.panes.line_scroll import LineList
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import age, fit, right

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward_tui.blame.model.blame_text import BlameText
    from leafward_tui.ui.appearance.theme import Ground

_AGE = 5
_LEAST_AGE = 100
"""Cells from which the age of a line has a column."""
_LABEL_SHARE = 0.4
"""The largest share of a narrow line for the names of turns."""


class BlameColumns(NamedTuple):
    """Cells of the columns before the text."""

    label: int
    age: int
    number: int

    @property
    def text_at(self) -> int:
        """The cell where the text begins."""
        return 2 + self.label + 2 + self.age + self.number + 2


class BlameLines(LineList):
    """A list with one row for each line of the file."""

    def __init__(self) -> None:
        super().__init__(id="lines")
        self.text: BlameText | None = None
        self._hits: frozenset[int] = frozenset()
        self._author = -1
        """The author of the cursor's line."""

    def show(self, text: BlameText, cursor: int) -> None:
        """Shows the lines of a file."""
        self.text = text
        self.show_lines(len(text), cursor)
        self._author = text.line(self.cursor).author if self.cursor >= 0 else -1

    def show_hits(self, hits: Sequence[int]) -> None:
        """Lights lines."""
        self._hits = frozenset(hits)
        self.refresh()

    def put_cursor(self, line: int) -> None:
        """Puts the cursor on a line, and marks the lines of its turn."""
        super().put_cursor(line)
        author = self.text.line(line).author if self.text is not None else -1
        if author != self._author:
            self._author = author
            self.refresh()

    def columns(self, width: int) -> BlameColumns:
        """The columns on a line of some width."""
        text = self.text
        label, number = (text.label_cells, text.number_cells) if text is not None else (0, 2)
        wide = width >= _LEAST_AGE
        return BlameColumns(
            label if wide else min(label, int(width * _LABEL_SHARE)), _AGE + 2 if wide else 0, number
        )

    def render_line(self, y: int) -> Strip:
        """One line."""
        services = services_of(self)
        width = self.scrollable_content_region.width
        row = y + self.scroll_offset.y
        if self.text is None or row >= len(self.text):
            return Strip.blank(width, services.styles_now.bg.blank)
        ground = services.styles_now.sel if row == self.cursor else services.styles_now.bg
        return Strip(self._line(self.text, row, width, ground)).adjust_cell_length(width, ground.blank)

    def _line(self, text: BlameText, row: int, width: int, ground: Ground) -> list[Segment]:
        services = services_of(self)
        glyphs, columns = services.glyphs, self.columns(width)
        author = text.author(row)
        same = author is not None and text.line(row).author == self._author
        # A block has its name in its first line, and at the top of the screen.
        named = text.begins_block(row) or row == self.scroll_offset.y
        label = text.label(row) if named else ""
        old = ""
        if named and columns.age and author is not None and author.written:
            old = age(services.clock().timestamp() - author.written / 1000)
        ink = ground.strong_hit if row in self._hits else ground.text if author is not None else ground.sub
        sign = glyphs.cursor if row == self.cursor else glyphs.rail if same else " "
        return [
            Segment(sign, ground.leaf if same or row == self.cursor else ground.faint),
            Segment(" ", ground.blank),
            Segment(
                fit(label, columns.label, pad=True, ellipsis=glyphs.ellipsis),
                ground.leaf if same else ground.sub if author is not None else ground.faint,
            ),
            Segment("  ", ground.blank),
            Segment(right(old, columns.age - 2) + "  " if columns.age else "", ground.faint),
            Segment(right(f"{row + 1}", columns.number) + "  ", ground.faint),
            Segment(
                fit(text.words(row), max(0, width - columns.text_at), ellipsis=glyphs.ellipsis),
                ink,
            ),
        ]
