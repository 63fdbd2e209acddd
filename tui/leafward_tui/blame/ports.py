"""The screen's interface for the controllers of the blame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward_tui.blame.model.blame_text import BlameText
    from leafward_tui.ui.bars.price_line import KeyHint
    from leafward_tui.ui.sheets.sheet import Sheet


class BlameView(Protocol):
    """The screen of the blame."""

    @property
    def text(self) -> BlameText | None:
        """The lines on show; None before they were read."""
        ...

    @property
    def cursor(self) -> int:
        """The line of the cursor, from 0; -1 where there is none."""
        ...

    def show_text(self, text: BlameText) -> None:
        """Shows the lines of a file."""
        ...

    def show_details(self) -> None:
        """Shows the facts of the line under the cursor."""
        ...

    def show_problem(self, title: str, problem: str) -> None:
        """Shows the reason why there are no lines."""
        ...

    def show_hits(self, hits: Sequence[int]) -> None:
        """Lights lines that a search found."""
        ...

    def move_by(self, step: int) -> None:
        """Moves the cursor down, or up."""
        ...

    def tell(self, text: str, tone: str = "", keys: Sequence[KeyHint] = ()) -> None:
        """Shows a note in the line over the keys."""
        ...

    def show_hints(self) -> None:
        """Shows the keys that matter now."""
        ...

    def open_sheet(self, sheet: Sheet, done: Callable[[str | None], None]) -> None:
        """Opens a sheet; `done` gets its answer, None where it was cancelled."""
        ...

    def close(self) -> None:
        """Goes back to the screen where the blame was opened."""
        ...
