"""What a row is drawn in: the columns that fit, and what changes from one key press to the next. Known before there are rows.

Text yields first; number columns keep their place. Which columns there is room for depends on the width and the lanes
alone, so rows never shift against each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from leafward.session.density import Density

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leafward_tui.explorer.model.file_markers import Touch
    from leafward_tui.explorer.model.ghost import Ghost

LANE_WIDTH = 2
LEAST_TEXT = 40
"""Cells that text keeps before a number column goes."""

NUMBERS = (("edits", 7), ("calls", 7), ("tok", 8))
"""Number columns, outermost last, with their cells, gap included."""

OUTCOMES = (("outcome", 11), ("tok", 8))
"""The columns where a row is an entry."""

_GOES_FIRST = (("calls", 40), ("edits", 40), ("outcome", 34), ("tok", 28))
"""Columns in the order in which they go, each with the cells that text keeps while it stays."""
_LEFT = 3
"""Cells of cursor, verdict and gap."""


class Columns(NamedTuple):
    """Which number columns fit, and how wide the rest is."""

    width: int
    lanes: int
    """Lanes drawn."""
    numbers: tuple[tuple[str, int], ...]
    text: int
    """Cells for text and chips."""

    @classmethod
    def fitting(cls, width: int, lanes: int, density: Density = Density.TURNS) -> Columns:
        """The columns for a pane of `width` cells and a tree of `lanes` lanes."""
        room = width - _LEFT - 2
        most = max(1, (room - LEAST_TEXT) // LANE_WIDTH)
        lanes = max(1, min(lanes, most))
        numbers = dict(OUTCOMES if density is Density.ENTRIES else NUMBERS)
        text = room - LANE_WIDTH * lanes
        for name, least in _GOES_FIRST:
            if name in numbers and text - sum(numbers.values()) < least:
                del numbers[name]
        return cls(width, lanes, tuple(numbers.items()), text - sum(numbers.values()))

    def without_outcome(self) -> Columns:
        """The columns of a row that has no outcome: its text takes the cells."""
        numbers = tuple(one for one in self.numbers if one[0] != "outcome")
        return self._replace(
            numbers=numbers,
            text=self.text + sum(cells for _, cells in self.numbers) - sum(cells for _, cells in numbers),
        )

    @property
    def text_at(self) -> int:
        """The cell at which text begins."""
        return _LEFT + LANE_WIDTH * self.lanes + 1


@dataclass(slots=True)
class RowState:
    """What changes how rows are drawn from one key press to the next."""

    cursor: int = -1
    """The line the cursor is on."""
    focused: bool = True
    ghost: Ghost | None = None
    mark: int = -1
    """The marked row."""
    hits: frozenset[int] = frozenset()
    """Rows that a search found."""
    query: str = ""
    touches: Mapping[int, Touch] = field(default_factory=dict)
    """What rows do to the file whose timeline is on show, by row."""
    jumps: Mapping[int, str] = field(default_factory=dict)
    """Letters to jump to a line, by line."""
