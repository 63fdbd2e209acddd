"""The base of widgets that paint their lines one by one, on one ground."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.strip import Strip
from textual.widget import Widget

from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from rich.segment import Segment

    from leafward_tui.ui.appearance.theme import Ground


class Pane(Widget):
    """A container, one below the other unless a style says otherwise. Its contents cover it, so nothing is drawn for it."""

    BLANK = True
    DEFAULT_CSS = "Pane { layout: vertical; width: 1fr; height: 1fr; }"


class Painted(Widget):
    """Paints a line when Textual asks for it; the cells that a line leaves free are blank."""

    GROUND: ClassVar[str] = "bg"
    """Field of `theme.Styles`."""

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:  # noqa: ARG002  overridden
        """A line of at most `width` cells, counted from the top of the widget; overridden."""
        return []

    def render_line(self, y: int) -> Strip:
        """One line at the widget's width."""
        width, ground = self.size.width, getattr(services_of(self).styles_now, self.GROUND)
        return Strip(self.pieces(y, width, ground)).adjust_cell_length(width, ground.blank)
