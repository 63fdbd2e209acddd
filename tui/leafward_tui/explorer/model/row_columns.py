"""The columns of a row and the state behind its drawing. Known before there are rows.

Text yields first; number columns keep their place. The width and the lanes alone decide which columns fit, so rows
never shift against each other. A wider terminal never has fewer of them, though the tree has to share it from some
width on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.session.tree.density import Density
from leafward_tui.ui.panes.two_panes import TWO_PANES_FROM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leafward_tui.explorer.model.file_markers import Touch
    from leafward_tui.explorer.model.ghost import Ghost

LANE_WIDTH = 2
LEAST_TEXT = 40
"""Cells that text keeps before lanes go."""

NUMBERS = (("edits", 6), ("calls", 6), ("tokens", 7))
"""Number columns, outermost last, with their cells, gap included."""

OUTCOMES = (("outcome", 11), ("tokens", 7))
"""The columns where a row is an entry."""

_GOES_FIRST = (("calls", 30), ("edits", 25), ("outcome", 20), ("tokens", 20))
"""Columns in the order in which they go, each with the cells of text below which it goes."""
_LEFT = 3
"""Cells of cursor, verdict and gap."""
TREE_SHARE = 55
"""Percent of the terminal that the tree has beside the inspector."""
_SCROLLBAR = 1


def beside_inspector(terminal: int) -> int:
    """Cells of the tree beside the inspector in a terminal of this width, at least in the narrowest that shows both."""
    return max(TWO_PANES_FROM, terminal) * TREE_SHARE // 100 - _SCROLLBAR


def _lanes_and_text(width: int, lanes: int) -> tuple[int, int]:
    """The lanes, out of `lanes`, that a pane of `width` cells draws, and the cells left for the rest of a row."""
    room = width - _LEFT - 2
    drawn = max(1, min(lanes, (room - LEAST_TEXT) // LANE_WIDTH))
    return drawn, room - LANE_WIDTH * drawn


class RowColumns(NamedTuple):
    """The number columns that fit, and the width of the rest."""

    width: int
    lanes: int
    """Lanes drawn."""
    numbers: tuple[tuple[str, int], ...]
    text: int
    """Cells for text and chips."""

    @classmethod
    def fitting(
        cls, width: int, lanes: int, density: Density = Density.TURNS, beside: int | None = None
    ) -> RowColumns:
        """The columns for a pane of `width` cells and a tree of `lanes` lanes.

        `beside`: the pane's width where it shares the terminal, which decides which columns there are; None for
        `width`.
        """
        drawn, text = _lanes_and_text(width, lanes)
        _, shared = _lanes_and_text(width if beside is None else min(width, beside), lanes)
        numbers = dict(OUTCOMES if density is Density.ENTRIES else NUMBERS)
        for name, least in _GOES_FIRST:
            if name in numbers and shared - sum(numbers.values()) < least:
                del numbers[name]
        return cls(width, drawn, tuple(numbers.items()), text - sum(numbers.values()))

    def without_outcome(self) -> RowColumns:
        """The columns of a row without an outcome: its text takes the cells."""
        numbers = tuple(one for one in self.numbers if one[0] != "outcome")
        return self._replace(
            numbers=numbers,
            text=self.text + sum(cells for _, cells in self.numbers) - sum(cells for _, cells in numbers),
        )

    @property
    def text_at(self) -> int:
        """The cell at which text begins."""
        return _LEFT + LANE_WIDTH * self.lanes + 1


# A plain class: making a dataclass takes as long as loading three modules, and the first frame waits for it.
class RowState:
    """The state of the drawing of rows that changes from one key press to the next."""

    __slots__ = ("cursor", "focused", "ghost", "hits", "jumps", "mark", "query", "touches")

    def __init__(self, cursor: int = -1) -> None:
        self.cursor = cursor
        """The line the cursor is on."""
        self.focused = True
        self.ghost: Ghost | None = None
        self.mark = -1
        """The marked row."""
        self.hits: frozenset[int] = frozenset()
        """Rows that a search found."""
        self.query = ""
        self.touches: Mapping[int, Touch] = {}
        """Operations of rows on the file whose timeline is on show, by row."""
        self.jumps: Mapping[int, str] = {}
        """Letters to jump to a line, by line."""
