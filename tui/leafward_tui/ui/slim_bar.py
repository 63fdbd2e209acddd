"""A scrollbar of half a cell: it says where one is without drawing the eye."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.color import Color
from rich.segment import Segment, Segments
from rich.style import Style
from textual.scrollbar import ScrollBarRender

from leafward_tui.ui.glyphs import ASCII
from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from textual.scroll_view import ScrollView

__all__ = ["PlainBar", "SlimBar", "slim"]

_THUMB = "▐"
_BACK = Color.default()


class SlimBar(ScrollBarRender):
    """Textual's scrollbar with a thinner thumb; it is dragged and clicked as ever."""

    @classmethod
    def render_bar(
        cls,
        size: int = 25,
        virtual_size: float = 50,
        window_size: float = 20,
        position: float = 0,
        thickness: int = 1,
        vertical: bool = True,
        back_color: Color = _BACK,
        bar_color: Color = _BACK,
    ) -> Segments:
        """The bar as segments, a line each."""
        wide = super().render_bar(
            size, virtual_size, window_size, position, thickness, vertical, back_color, bar_color
        )
        if not vertical:
            return wide
        segments = []
        for segment in wide.segments:
            meta = segment.style.meta if segment.style is not None else {}
            if meta.get("@mouse.down") == "grab":
                style = Style(color=bar_color, bgcolor=back_color, meta=meta)
                segment = Segment(_THUMB.rjust(thickness), style)
            segments.append(segment)
        return Segments(segments, new_lines=True)


class PlainBar(ScrollBarRender):
    """Textual's scrollbar in whole cells: blanks only, no eighths of a block."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]


def slim(widget: ScrollView) -> None:
    """Draws a widget's vertical scrollbar in half a cell, or in whole ones where the terminal lacks the sign for that."""
    bar = PlainBar if services_of(widget).glyphs is ASCII else SlimBar
    widget.vertical_scrollbar.renderer = bar  # type: ignore[misc]  # Textual's documented way to set one
