"""All that a controller of the X-ray sees of the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen

    from leafward_tui.ui.screen_results import XRayResult
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
        """What the line has on the cursor's side."""
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
    """Two lines about what is under the cursor."""

    def show(self, lines: list[list[tuple[str, str]]]) -> None:
        """Shows texts with their inks."""
        ...

    def say(self, text: str, ink: str = "warn") -> None:
        """Says one thing."""
        ...


class XRayPort(Protocol):
    """The screen."""

    @property
    def lines(self) -> LinesPane:
        """Both sides."""
        ...

    @property
    def about(self) -> AboutPane:
        """What is said of the cursor's line."""
        ...

    @property
    def sheet_rows(self) -> int:
        """Rows that a sheet has room for."""
        ...

    def show_ledger(self) -> None:
        """Shows the sums, once they are known."""
        ...

    def show_hints(self) -> None:
        """Other keys matter now."""
        ...

    def open_sheet(self, sheet: Screen[_Answer], done: Callable[[_Answer | None], None]) -> None:
        """Opens a sheet or another screen; `done` hears its answer, None where it was left."""
        ...

    def show_title(self) -> None:
        """Shows which compaction it is and what is known of it."""
        ...

    def copy(self, text: str) -> object:
        """Copies text to the clipboard."""
        ...

    def dismiss(self, result: XRayResult) -> object:
        """Closes the screen with what is wanted next."""
        ...

    def go_back(self) -> None:
        """Closes the screen without a result."""
        ...
