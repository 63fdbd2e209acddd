"""Hairlines: the only lines between panes. One parts columns, one parts rows and joins the first, one underlines tabs."""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from leafward_tui.ui.services import services_of


class ColumnRule(Widget):
    """A vertical hairline with a cell of air on each side."""

    DEFAULT_CSS = "ColumnRule { width: 3; height: 1fr; }"

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  every row is the same
        """Air, line, air."""
        services = services_of(self)
        ground = services.styles_now.bg
        return Strip(
            [
                Segment(" ", ground.blank),
                Segment(services.glyphs.divider, ground.line),
                Segment(" ", ground.blank),
            ],
            3,
        )


class RowRule(Widget):
    """A horizontal hairline. `joins` are the cells where a column rule ends on it from above."""

    DEFAULT_CSS = "RowRule { height: 1; width: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self.joins: tuple[int, ...] = ()
        self.through: tuple[int, ...] = ()

    def join(self, *cells: int, through: tuple[int, ...] = ()) -> None:
        """Sets where column rules end on this one, and where they go `through` it."""
        if (cells, through) != (self.joins, self.through):
            self.joins, self.through = cells, through
            self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  it has one row
        """The line, a free cell at each end."""
        services = services_of(self)
        ground, glyphs = services.styles_now.bg, services.glyphs
        width = self.size.width
        cells = [glyphs.hairline] * max(0, width - 2)
        for at in (*self.joins, *self.through):
            if 0 < at <= len(cells):
                cells[at - 1] = glyphs.join_cross if at in self.through else glyphs.join_up
        return Strip(
            [Segment(" ", ground.blank), Segment("".join(cells), ground.line), Segment(" ", ground.blank)]
        ).adjust_cell_length(width, ground.blank)


def rule_under(widget: Widget, span: tuple[int, int], *, focused: bool, margin: int = 1) -> Strip:
    """The rule across a widget's width, heavy under the active tab; `span` is where that one starts and stops, in cells.

    `margin` cells at each end are free.
    """
    services = services_of(widget)
    ground, glyphs = services.styles_now.bg, services.glyphs
    width, (start, stop) = widget.size.width, span
    return Strip(
        [
            Segment(" " * margin, ground.blank),
            Segment(glyphs.hairline * max(0, start - 1 - margin), ground.line),
            Segment(glyphs.heavy * (stop - start + 2), ground.leaf if focused else ground.sub),
            Segment(glyphs.hairline * max(0, width - stop - 1 - margin), ground.line),
            Segment(" " * margin, ground.blank),
        ]
    ).adjust_cell_length(width, ground.blank)
