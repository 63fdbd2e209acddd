"""Panes as the controllers of a feature see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.geometry import Size

    from leafward_tui.ui.panes.pane_lines import LabLine, Lines
    from leafward_tui.ui.words.summary_differences import DiffLine


class LinesPane(Protocol):
    """A pane of lines with a cursor: a `LinesView`."""

    @property
    def lines(self) -> Lines | None:
        """The lines; None before the first size."""

    @property
    def cursor(self) -> int:
        """The line of the cursor; -1 for none."""

    @property
    def line(self) -> LabLine | None:
        """The line of the cursor."""

    @property
    def key(self) -> str:
        """The key of the cursor's line; empty for none."""

    @property
    def cells(self) -> int:
        """Cells of a line."""

    @property
    def size(self) -> Size:
        """Cells and rows."""

    def shown(self) -> range:
        """The lines on the screen."""

    def show(
        self, make: Callable[[int, int], Lines] | None = None, *, at: str | None = None, end: bool = False
    ) -> None:
        """Shows the lines that `make` returns for a number of cells and rows, with the cursor on the key `at`."""

    def move_by(self, step: int) -> None:
        """Moves the cursor by lines with a key."""

    def move_to(self, y: int) -> None:
        """Puts the cursor on a line."""

    def go(self, key: str) -> bool:
        """Puts the cursor on the line with a key; whether there is one."""

    def reveal(self) -> None:
        """Brings the cursor on the screen."""

    def scroll_to(self, *, y: float, animate: bool, force: bool) -> None:
        """Brings a line to the top."""

    def redraw(self) -> None:
        """Draws the visible lines again."""

    def light(self, query: str) -> None:
        """Lights the words of a search."""

    def focus(self) -> object:
        """Gives the keys to the pane."""


class DifferencePane(Protocol):
    """Two summaries, line by line: a `ComparisonView`."""

    @property
    def lines(self) -> Sequence[DiffLine]:
        """The lines."""

    @property
    def cursor(self) -> int:
        """The line of the cursor."""

    @property
    def line(self) -> DiffLine | None:
        """The line of the cursor."""

    @property
    def size(self) -> Size:
        """Cells and rows."""

    def show(self, lines: Sequence[DiffLine], cursor: int = 0) -> None:
        """Shows lines, with the cursor on one."""

    def light(self, query: str) -> None:
        """Lights the words of a search."""

    def move_by(self, step: int) -> None:
        """Moves the cursor."""

    def move_to(self, line: int) -> None:
        """Puts the cursor on a line."""

    def change(self, direction: int) -> bool:
        """Goes to the next difference or the one before; whether there is any."""

    def focus(self) -> object:
        """Gives the keys to the pane."""
