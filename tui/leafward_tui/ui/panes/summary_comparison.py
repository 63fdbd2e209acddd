"""Two summaries line by line: beside each other where there is room, else below each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip

from leafward.base.figures import counted
from leafward.compaction.stored_summary.summary_comparison import LineRelation
from leafward_tui.ui.panes.line_scroll import LineList, set_extent
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import fit
from leafward_tui.ui.text.hits import lit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.style import Style

    from leafward_tui.ui.appearance.theme import Ground
    from leafward_tui.ui.words.summary_differences import DifferenceLine

_LEAST_TWO = 99
_INK = {
    LineRelation.SAME: "faint",
    LineRelation.CHANGED: "warn",
    LineRelation.ADDED: "leaf",
    LineRelation.REMOVED: "bad",
}


class ComparisonView(LineList):
    """The lines of a comparison, with a cursor."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self.lines: Sequence[DifferenceLine] = ()
        self._rows: list[tuple[int, int]] = []
        """The line of each row, and the part of it on the row."""
        self._spans: list[range] = []
        self._query = ""

    @property
    def line(self) -> DifferenceLine | None:
        """The line under the cursor; None where there is none."""
        return self.lines[self.cursor] if 0 <= self.cursor < len(self.lines) else None

    def show(self, lines: Sequence[DifferenceLine], cursor: int = 0) -> None:
        """Shows other lines."""
        self.lines = lines
        self.cursor = max(0, min(len(lines) - 1, cursor))
        self.shown_anew()

    def light(self, query: str) -> None:
        """Lights the words of a search; an empty query lights nothing."""
        if query != self._query:
            self._query = query
            self.refresh()

    @property
    def both(self) -> bool:
        """Whether the summaries stand beside each other."""
        return (self.scrollable_content_region.width or self.size.width) >= _LEAST_TWO

    def measure(self) -> None:
        """Lays the parts of each line out, beside each other, or below each other where there is no room."""
        self._rows, self._spans = [], []
        for at, line in enumerate(self.lines):
            parts = 2 if not self.both and line.mark is LineRelation.CHANGED else 1
            self._spans.append(range(len(self._rows), len(self._rows) + parts))
            self._rows += [(at, part) for part in range(parts)]
        set_extent(self, len(self._rows))

    def span_of(self, line: int) -> range:
        """The row of a line, or both."""
        return self._spans[line] if 0 <= line < len(self._spans) else range(0)

    def move_to(self, line: int) -> None:
        """Puts the cursor on a line with content."""
        if 0 <= line < len(self.lines):
            self.put_cursor(line)

    def move_by(self, step: int) -> None:
        """Moves the cursor over lines with content."""
        direction = 1 if step > 0 else -1
        at, found, left = self.cursor + direction, self.cursor, abs(step)
        while left and 0 <= at < len(self.lines):
            if not self.lines[at].empty:
                found, left = at, left - 1
            at += direction
        self.move_to(found)

    def change(self, direction: int) -> bool:
        """Goes to the next line that differs, or the one before; whether there was one."""
        order = range(self.cursor + 1, len(self.lines)) if direction > 0 else range(self.cursor - 1, -1, -1)
        found = next((at for at in order if self.lines[at].changes), -1)
        if found >= 0:
            self.move_to(found)
        return found >= 0

    def point(self, row: int, _x: int) -> bool:
        """Puts the cursor on the line of a clicked row, where that has content."""
        line = self._rows[row][0]
        if not self.lines[line].empty:
            self.move_to(line)
        return not self.lines[line].empty

    def render_line(self, y: int) -> Strip:
        """One row."""
        styles = services_of(self).styles_now
        width = self.scrollable_content_region.width
        row = y + self.scroll_offset.y
        if row >= len(self._rows):
            return Strip.blank(width, styles.bg.blank)
        at, part = self._rows[row]
        ground = styles.sel if at == self.cursor else styles.bg
        segments = list(self._line(self.lines[at], part, width, ground, chosen=at == self.cursor))
        return Strip(segments).adjust_cell_length(width, ground.blank)

    def _line(
        self, line: DifferenceLine, part: int, width: int, ground: Ground, *, chosen: bool
    ) -> Iterator[Segment]:
        glyphs = services_of(self).glyphs
        yield Segment(glyphs.cursor if chosen else " ", ground.leaf if self.has_focus else ground.faint)
        if line.hidden:
            yield Segment(f"   {glyphs.same}   ", ground.faint)
            text = f"{counted(line.hidden, 'line')} the same"
            yield Segment(fit(text, width - 8, pad=True), ground.nothing)
            return
        if line.head:
            note = f"   {line.note}" if line.note else ""
            yield Segment(" ", ground.blank)
            yield Segment(
                fit(line.after, width - 4 - len(note), ellipsis=glyphs.ellipsis), ground.strong_memory
            )
            yield Segment(note, ground.faint)
            return
        if line.mark is None:
            return
        signs = {
            LineRelation.SAME: glyphs.same,
            LineRelation.CHANGED: glyphs.differs,
            LineRelation.ADDED: glyphs.entered,
            LineRelation.REMOVED: glyphs.left,
        }
        sign = Segment(f" {signs[line.mark]} ", getattr(ground, _INK[line.mark]))
        ink = ground.strong if chosen else ground.text
        quiet = ground.sub if line.mark is not LineRelation.SAME else ground.faint
        hit = ground.strong_hit if chosen else ground.hit

        def words(text: str, cells: int, style: Style) -> list[Segment]:
            fitted = fit(text, cells, pad=True, ellipsis=glyphs.ellipsis)
            return lit(fitted, self._query, style, hit)

        if self.both:
            half = (width - 8) // 2
            yield Segment("   ", ground.blank)
            yield from words(line.before, half, quiet)
            yield sign
            yield from words(
                line.after, width - 8 - half, ink if line.mark is not LineRelation.SAME else quiet
            )
            return
        if line.mark is LineRelation.CHANGED:
            yield sign if part == 0 else Segment(f" {glyphs.entered} ", ground.leaf)
            yield from words(line.before if part == 0 else line.after, width - 6, quiet if part == 0 else ink)
            return
        yield sign
        yield from words(
            line.after or line.before, width - 6, quiet if line.mark is LineRelation.SAME else ink
        )
