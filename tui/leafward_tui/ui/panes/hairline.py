"""Hairlines: the only lines between panes. One parts columns, one parts rows and joins the first, one underlines tabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.geometry import Region

from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.style import Style
    from textual import events
    from textual.strip import Strip

    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.appearance.theme import Ground


class ColumnRule(Painted):
    """A vertical hairline with a cell of air on each side. One that can be moved is heavy under the mouse."""

    DEFAULT_CSS = "ColumnRule { width: 3; height: 1fr; }"

    drag: Callable[[int | None], object] | None = None
    """Moves the line to a column of the screen, None for its usual one. None for a line that stays where it is."""
    drop: Callable[[], object] = staticmethod(lambda: None)
    """Called when the line was moved and the mouse lets go."""
    _held = False
    _moved = False
    """Whether the mouse moved since it took hold: a mere click leaves the line where it is."""

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:  # noqa: ARG002  every row is the same
        """Air, line, air."""
        glyphs = services_of(self).glyphs
        if self.drag is not None and (self._held or self.mouse_hover):
            return [Segment(" ", ground.blank), Segment(glyphs.divider_held, ground.text)]
        return [Segment(" ", ground.blank), Segment(glyphs.divider, ground.line)]

    def render_lines(self, crop: Region) -> list[Strip]:
        """The same line on every row."""
        return super().render_lines(Region(crop.x, crop.y, crop.width, 1)) * crop.height

    def on_enter(self) -> None:
        """Shows that the line can be moved."""
        self._relight()

    def on_leave(self) -> None:
        """Shows a hairline again."""
        self._relight()

    def _relight(self) -> None:
        if self.drag is not None:
            self.refresh()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Takes hold of a line that can be moved."""
        if self.drag is not None and event.button == 1:
            self._held, self._moved = True, False
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Takes the line along."""
        if self._held and self.drag is not None:
            self._moved = True
            self.drag(event.screen_x)

    def on_mouse_up(self) -> None:
        """Lets go of the line."""
        if self._held:
            self._held = False
            self.release_mouse()
            self.refresh()
            if self._moved:
                self.drop()

    def on_click(self, event: events.Click) -> None:
        """Puts the line back to its usual place on a double click."""
        if self.drag is not None and event.chain == 2:
            self.drag(None)
            self.drop()


class RowRule(Painted):
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

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:  # noqa: ARG002  it has one row
        """The line, a free cell at each end."""
        glyphs = services_of(self).glyphs
        cells = [glyphs.hairline] * max(0, width - 2)
        for at in (*self.joins, *self.through):
            if 0 < at <= len(cells):
                cells[at - 1] = glyphs.join_cross if at in self.through else glyphs.join_up
        return [Segment(" ", ground.blank), Segment("".join(cells), ground.line)]


def title_rule(glyphs: Glyphs, ground: Ground, width: int, ink: Style) -> list[Segment]:
    """The rule below a title, heavy in `ink` where that begins; a cell at each end is free."""
    return [
        Segment(" ", ground.blank),
        Segment(glyphs.heavy * 10, ink),
        Segment(glyphs.hairline * max(0, width - 12), ground.line),
    ]


def tab_rule(
    glyphs: Glyphs, ground: Ground, width: int, ink: Style, active: tuple[int, int], margin: int = 1
) -> list[Segment]:
    """The rule below tabs, heavy in `ink` under the active one, which starts and stops at cells.

    `margin` cells at each end are free.
    """
    start, stop = active
    return [
        Segment(" " * margin, ground.blank),
        Segment(glyphs.hairline * max(0, start - 1 - margin), ground.line),
        Segment(glyphs.heavy * (stop - start + 2), ink),
        Segment(glyphs.hairline * max(0, width - stop - 1 - margin), ground.line),
        Segment(" " * margin, ground.blank),
    ]
