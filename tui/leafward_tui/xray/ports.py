"""The screen's interfaces for the controllers of the X-ray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen

    from leafward_tui.ui.screens.screen_results import XRayResult
    from leafward_tui.xray.model.arrangement import Arrangement, Line, Piece, Side
    from leafward_tui.xray.model.captions import Teller

_Answer = TypeVar("_Answer")


class LinesPane(Protocol):
    """Both sides, line by line."""

    arrangement: Arrangement | None
    side: Side
    cursor: int
    lit: frozenset[int]

    @property
    def line(self) -> Line | None:
        """The line of the cursor."""
        ...

    @property
    def piece(self) -> Piece | None:
        """The piece of the line on the cursor's side."""
        ...

    def show(self, arrangement: Arrangement, teller: Teller, cursor: int, side: Side) -> None:
        """Shows lines, with the cursor on one of them."""
        ...

    def move_to(self, line: int) -> None:
        """Puts the cursor on a line of its side."""
        ...

    def turn(self, side: Side, line: int) -> None:
        """Puts the cursor on the other side."""
        ...

    def search(self, words: str) -> None:
        """Lights words in the lines."""
        ...

    def light(self, lines: frozenset[int]) -> None:
        """Lights whole lines."""
        ...


class AboutPane(Protocol):
    """Two lines about the cursor's line."""

    def show(self, lines: list[list[tuple[str, str]]]) -> None:
        """Shows texts with their inks."""
        ...

    def say(self, text: str, ink: str = "warn") -> None:
        """Shows a message."""
        ...


class XRayPort(Protocol):
    """The screen."""

    @property
    def lines(self) -> LinesPane:
        """Both sides."""
        ...

    @property
    def about(self) -> AboutPane:
        """The text about the cursor's line."""
        ...

    @property
    def sheet_rows(self) -> int:
        """Rows that a sheet has room for."""
        ...

    def show_ledger(self) -> None:
        """Shows the sums, once they are known."""
        ...

    def show_hints(self) -> None:
        """Shows the keys that matter now."""
        ...

    def open_sheet(self, sheet: Screen[_Answer], done: Callable[[_Answer | None], None]) -> None:
        """Opens a sheet or another screen; `done` gets its answer, None where it was cancelled."""
        ...

    def show_title(self) -> None:
        """Shows the compaction and the facts about it."""
        ...

    def copy(self, text: str) -> object:
        """Copies text to the clipboard."""
        ...

    def dismiss(self, result: XRayResult) -> object:
        """Closes the screen with the task that follows."""
        ...

    def go_back(self) -> None:
        """Closes the screen without a result."""
        ...
