"""The head of the comparison of two summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import fit

if TYPE_CHECKING:
    from collections.abc import Sequence


class SummariesHead(Widget):
    """The names of the two summaries, the earlier on the left, and a rule."""

    DEFAULT_CSS = "SummariesHead { height: 2; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._names: tuple[Sequence[str], Sequence[str]] = ((), ())

    def show(self, before: Sequence[str], after: Sequence[str]) -> None:
        """Sets both names, each by its parts, the first of which is dropped last."""
        self._names = (before, after)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The names, then the rule."""
        services = services_of(self)
        ground, glyphs = services.styles_now.bg, services.glyphs
        width = self.size.width
        if y == 1:
            segments = [
                Segment(" ", ground.blank),
                Segment(glyphs.heavy * 10, ground.leaf),
                Segment(glyphs.hairline * max(0, width - 12), ground.line),
            ]
            return Strip(segments).adjust_cell_length(width, ground.blank)
        before, after = self._names
        half = (width - 8) // 2
        segments = [
            Segment("  ", ground.blank),
            Segment(fit(fitting(before, half + 1), half + 1, pad=True, ellipsis=glyphs.ellipsis), ground.sub),
            Segment(f" {glyphs.arrow}  ", ground.faint),
            Segment(
                fit(fitting(after, width - half - 8), width - half - 8, ellipsis=glyphs.ellipsis),
                ground.strong,
            ),
        ]
        return Strip(segments).adjust_cell_length(width, ground.blank)


def fitting(parts: Sequence[str], width: int) -> str:
    """As many whole parts of a name as fit: those in the middle are dropped first, then the last."""
    fitted = [part for part in parts if part]
    while len(fitted) > 1 and cell_len("   ".join(fitted)) > width:
        del fitted[-2 if len(fitted) > 2 else -1]
    return "   ".join(fitted)
