"""The scale of the strip: which column a turn of the path stands in."""

from __future__ import annotations

from typing import NamedTuple


class Axis(NamedTuple):
    """How turns stand on columns: one each, or in buckets of nearly equal size where there are more of them."""

    turns: int
    columns: int

    @property
    def shared(self) -> bool:
        """Whether a column stands for more than one turn."""
        return self.columns < self.turns

    def column(self, turn: int) -> int:
        """The column of a turn. Turns behind the last go on at the same scale."""
        if not self.shared:
            return turn
        return ((turn + 1) * self.columns - 1) // self.turns

    def span(self, column: int) -> range:
        """The turns of a column."""
        if not self.shared:
            return range(column, column + 1)
        return range(column * self.turns // self.columns, (column + 1) * self.turns // self.columns)
