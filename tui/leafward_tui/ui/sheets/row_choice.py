"""A sheet of rows to choose from, as the choice sees it."""

from __future__ import annotations

from typing import Protocol


class RowChoicePort(Protocol):
    """The sheet."""

    @property
    def key(self) -> str:
        """The key of the cursor's row: what it stands for, a colon, and which of them."""

    def next_row(self) -> None:
        """Puts the cursor on the row below."""

    def draw(self) -> None:
        """Shows the chosen rows, and the effect of accepting them."""
