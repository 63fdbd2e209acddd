"""The screen's interface for the controllers of the operation log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.session.journal.operation_log import Operation
    from leafward_tui.ui.bars.price_line import KeyHint
    from leafward_tui.ui.sheets.sheet import Sheet
    from leafward_tui.ui.words.operation_text import OperationText


class LogView(Protocol):
    """The screen of the operation log."""

    @property
    def operations(self) -> OperationText | None:
        """The operations on show; None before they were read."""
        ...

    @property
    def operation(self) -> Operation | None:
        """The operation under the cursor."""
        ...

    @property
    def cursor(self) -> int:
        """The cursor's place in the list."""
        ...

    @property
    def on_top(self) -> bool:
        """Whether no other screen lies over this one."""
        ...

    def show_operations(self, operations: OperationText, cursor: int) -> None:
        """Shows other operations, with the cursor on one of them."""
        ...

    def move_by(self, step: int) -> None:
        """Moves the cursor down, or up."""
        ...

    def focus_list(self) -> None:
        """Gives the list the keys."""
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

    def close(self, entry: int | None = None) -> None:
        """Closes the log; with an entry, the tree goes to it."""
        ...
