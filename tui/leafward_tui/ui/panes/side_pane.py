"""The pane beside a list: a title over a rule, its subject, and lines that scroll below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import fit

if TYPE_CHECKING:
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.appearance.theme import Ground

PaneLine = list[Segment]

_ABOVE = 4
"""Lines above the line that is to be in sight."""
_HEAVY = 10
"""Cells of the rule that are heavy while the pane has the keys."""


class SidePane(Widget):
    """A pane whose lines are made together for a width, and again when their content changes.

    A subclass makes them in `make_lines` and calls `changed` when the content changes.
    """

    DEFAULT_CSS = "SidePane { height: 1fr; width: 46; }"

    def __init__(self) -> None:
        super().__init__()
        self._lit = False
        self._made_for = -1
        self._lines: list[Strip] = []
        self._fixed = 0
        """Lines at the top that do not scroll."""
        self._top: int | None = 0
        """The first line shown below them; None until the lines are made."""

    def make_lines(self, width: int) -> tuple[list[PaneLine], list[PaneLine], int]:  # noqa: ARG002  # overridden
        """Lines that stay, lines that scroll, and which of those is to be in sight; overridden."""
        return [], [], 0

    def changed(self, *, from_top: bool) -> None:
        """Makes the lines again; `from_top`: the new lines are about something else and start at their own place."""
        self._made_for = -1
        if from_top:
            self._top = None
        self.refresh()

    def light(self, *, lit: bool) -> None:
        """Shows whether this pane has the keys."""
        if lit != self._lit:
            self._lit = lit
            self.changed(from_top=False)

    def scroll_by(self, rows: int) -> None:
        """Scrolls the lines."""
        most = max(0, len(self._lines) - self.size.height)
        self._top = max(0, min(most, (self._top or 0) + rows))
        self.refresh()

    def on_mouse_scroll_down(self) -> None:
        """Scrolls by the wheel."""
        self.scroll_by(3)

    def on_mouse_scroll_up(self) -> None:
        """Scrolls by the wheel."""
        self.scroll_by(-3)

    def notify_style_update(self) -> None:
        """Makes the lines again for another theme."""
        super().notify_style_update()
        self._made_for = -1

    def render_line(self, y: int) -> Strip:
        """One row; all rows of a width are made together."""
        width = self.size.width
        ground = services_of(self).styles_now.bg
        if self._made_for != width:
            head, body, place = self.make_lines(max(1, width - 1))
            self._lines = [Strip(line).adjust_cell_length(width, ground.blank) for line in (*head, *body)]
            self._made_for, self._fixed = width, len(head)
            if self._top is None:
                room = self.size.height - self._fixed
                self._top = max(0, min(len(body) - room, place - _ABOVE)) if place + 2 > room else 0
        row = y if y < self._fixed else y + (self._top or 0)
        return self._lines[row] if row < len(self._lines) else Strip.blank(width, ground.blank)

    def title_lines(self, title: str, width: int, ground: Ground, glyphs: Glyphs) -> list[PaneLine]:
        """The title and the rule below it."""
        heavy = min(_HEAVY, width) if self._lit else 0
        return [
            [Segment(fit(title, width, ellipsis=glyphs.ellipsis), ground.strong)],
            [
                Segment(glyphs.heavy * heavy, ground.leaf),
                Segment(glyphs.hairline * (width - heavy), ground.line),
            ],
        ]
