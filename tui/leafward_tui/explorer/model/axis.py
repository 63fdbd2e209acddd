"""The scale of the strip: the column of each turn of the path."""

from __future__ import annotations

from typing import NamedTuple


class Axis(NamedTuple):
    """The columns of turns: one each, or buckets of nearly equal size where there are more turns than columns."""

    turns: int
    columns: int

    @property
    def shared(self) -> bool:
        """Whether a column stands for more than one turn."""
        return self.columns < self.turns

    def column(self, turn: int) -> int:
        """The column of a turn. Turns after the last go on at the same scale."""
        if not self.shared:
            return turn
        return ((turn + 1) * self.columns - 1) // self.turns

    def span(self, column: int) -> range:
        """The turns of a column."""
        if not self.shared:
            return range(column, column + 1)
        return range(column * self.turns // self.columns, (column + 1) * self.turns // self.columns)
