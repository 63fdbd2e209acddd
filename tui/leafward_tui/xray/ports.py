"""The screen's interface for the controllers of the X-ray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward_tui.ui.screens.routed_screen import RoutedScreen
    from leafward_tui.ui.screens.screen_results import XRayResult
    from leafward_tui.xray.widgets.foot import AboutLine
    from leafward_tui.xray.widgets.view import XRayView

_Answer = TypeVar("_Answer")


class XRayPort(Protocol):
    """The screen."""

    @property
    def lines(self) -> XRayView:
        """Both sides."""
        ...

    @property
    def about(self) -> AboutLine:
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

    def open_sheet(
        self, sheet: RoutedScreen[_Answer], done: Callable[[_Answer | None], None] | None = None
    ) -> None:
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
