"""The head of the comparison of two summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from leafward_tui.ui.panes.hairline import title_rule
from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward_tui.ui.appearance.theme import Ground


class SummariesHead(Painted):
    """The names of the two summaries, the earlier on the left, and a rule."""

    DEFAULT_CSS = "SummariesHead { height: 2; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._names: tuple[Sequence[str], Sequence[str]] = ((), ())

    def show(self, before: Sequence[str], after: Sequence[str]) -> None:
        """Sets both names, each by its parts, the first of which is dropped last."""
        self._names = (before, after)
        self.refresh()

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """The names, then the rule."""
        glyphs = services_of(self).glyphs
        if y == 1:
            return title_rule(glyphs, ground, width, ground.leaf)
        before, after = self._names
        half = (width - 8) // 2
        return [
            Segment("  ", ground.blank),
            Segment(fit(fitting(before, half + 1), half + 1, pad=True, ellipsis=glyphs.ellipsis), ground.sub),
            Segment(f" {glyphs.arrow}  ", ground.faint),
            Segment(
                fit(fitting(after, width - half - 8), width - half - 8, ellipsis=glyphs.ellipsis),
                ground.strong,
            ),
        ]


def fitting(parts: Sequence[str], width: int) -> str:
    """As many whole parts of a name as fit: those in the middle are dropped first, then the last."""
    fitted = [part for part in parts if part]
    while len(fitted) > 1 and cell_len("   ".join(fitted)) > width:
        del fitted[-2 if len(fitted) > 2 else -1]
    return "   ".join(fitted)
