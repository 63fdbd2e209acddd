"""The screen's interface for the controllers of the lab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward_tui.lab.widgets.panes import LabPanes
    from leafward_tui.ui.bars.price_line import KeyHint
    from leafward_tui.ui.screens.routed_screen import RoutedScreen
    from leafward_tui.ui.screens.screen_results import LabResult
    from leafward_tui.ui.services import Timer

_Answer = TypeVar("_Answer")


class LabPort(Protocol):
    """The screen."""

    @property
    def panes(self) -> LabPanes:
        """The panes."""

    @property
    def is_active(self) -> bool:
        """Whether no sheet and no other screen lies over it."""

    def tell(self, text: str, tone: str = "", keys: Sequence[KeyHint] = ()) -> None:
        """Shows a note in the row over the keys; an empty text shows the lasting state: trouble, or pending work."""

    def show_title(self) -> None:
        """Shows the session, and the place of the planned compaction."""

    def show_hints(self) -> None:
        """Shows the keys that matter now."""

    def open_sheet(
        self, sheet: RoutedScreen[_Answer], done: Callable[[_Answer | None], None] | None = None
    ) -> None:
        """Opens a sheet or another screen; `done` gets its answer, None where it was cancelled."""

    def set_timer(self, delay: float, callback: Callable[[], None]) -> Timer:
        """Calls back after a delay in seconds; Textual's own."""

    def dismiss(self, result: LabResult | None) -> object:
        """Closes the screen with the write."""
