"""Sliders: a value on a track of cells, with a tick in each cell that holds a value worth stopping at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from leafward_tui.ui.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward_tui.ui.appearance.glyphs import Glyphs


class Dial(StrEnum):
    """The sliders, by their labels."""

    KEEP = "keep recent"
    RESERVE = "reserve"
    WINDOW = "window"
    BUDGET = "budget"
    """The budget of the injected text."""


@dataclass(frozen=True, slots=True)
class Slider:
    """One value between 0 and `most`."""

    dial: Dial
    value: int
    most: int
    step: int
    """The step of an arrow key."""
    fine: int
    """The step of an arrow key with shift."""
    least: int = 0
    useful: int | None = None
    """The highest value with an effect: a step down from above begins at it."""

    def stepped(self, by: int, *, fine: bool = False) -> int:
        """The value some steps further; from between two round values, the next round one."""
        size = self.fine if fine else self.step
        value = self.value
        if by < 0 and self.useful is not None:
            value = min(value, self.useful)
        at = value // size * size if by > 0 else -(-value // size) * size
        return max(self.least, min(max(self.most, self.value), at + by * size))

    def cell(self, width: int) -> int:
        """The cell of the knob on a track of `width` cells."""
        return _cell(self.value, self.most, width)

    def value_at(self, cell: int, width: int) -> int:
        """The value at a cell of the track, round to the fine step."""
        share = max(0, min(width - 1, cell)) / max(1, width - 1)
        return max(self.least, min(self.most, round(share * self.most / self.fine) * self.fine))

    def track(self, width: int, ticks: Iterable[int], glyphs: Glyphs, ink: str = "leaf") -> list[Span]:
        """The track in `width` cells; `ticks` are values. The part up to the knob is drawn in `ink`."""
        knob = self.cell(width)
        marked = {_cell(value, self.most, width) for value in ticks if 0 < value < self.most}
        done = "".join(glyphs.stop_done if cell in marked else glyphs.track_done for cell in range(knob))
        rest = "".join(glyphs.stop if cell in marked else glyphs.track for cell in range(knob + 1, width))
        return [Span(done, ink), Span(glyphs.knob, ink), Span(rest, "edge")]


def _cell(value: int, most: int, width: int) -> int:
    return max(0, min(width - 1, round(value * (width - 1) / most))) if most > 0 else 0


def nice_step(most: int) -> int:
    """A round step, of which about fifty go into a range: 1, 2 or 5 with zeros."""
    size = 1
    while True:
        for digit in (1, 2, 5):
            if digit * size * 50 >= most:
                return digit * size
        size *= 10
