"""The screen's interfaces for the controllers of the lab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.screen import Screen

    from leafward_tui.lab.widgets.state_line import Writing
    from leafward_tui.ui.bars.price_line import KeyHint
    from leafward_tui.ui.panes.pane_ports import LinesPane
    from leafward_tui.ui.screens.screen_results import LabResult
    from leafward_tui.ui.services import Timer

_Answer = TypeVar("_Answer")


class StatePane(Protocol):
    """The row over the summary."""

    def show(self, state: Writing) -> None:
        """Shows the summariser and its progress."""


class PanesPort(Protocol):
    """The panes."""

    @property
    def cut(self) -> LinesPane:
        """The turns."""

    @property
    def why(self) -> LinesPane:
        """The reasons why the cut does not stand lower."""

    @property
    def plan(self) -> LinesPane:
        """Sliders, strategies, ledger, sections."""

    @property
    def text(self) -> LinesPane:
        """Summary, prompt or injected text."""

    @property
    def fates(self) -> LinesPane:
        """The surviving and the lost facts."""

    @property
    def state_line(self) -> StatePane:
        """The row over the summary."""

    @property
    def columns_shown(self) -> int:
        """The number of panes beside each other."""

    def show_area(self, area: str, page: str, rules: str, *, whole: bool) -> None:
        """Shows as many panes as fit, the one with the keys among them, with their heads; or that one `whole`."""

    def show_heads(self, area: str, page: str, rules: str) -> None:
        """Shows the heads alone."""

    def focus_area(self, area: str) -> None:
        """Gives the keys to a pane, or to the field in it."""

    def open_editor(self, text: str) -> None:
        """Puts a field with a text in the place of the summary."""

    def close_editor(self) -> str:
        """Removes the field; returns its text."""


class LabPort(Protocol):
    """The screen."""

    @property
    def panes(self) -> PanesPort:
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

    def open_sheet(self, sheet: Screen[_Answer], done: Callable[[_Answer | None], None]) -> None:
        """Opens a sheet or another screen; `done` gets its answer, None where it was cancelled."""

    def set_timer(self, delay: float, callback: Callable[[], None]) -> Timer:
        """Calls back after a delay in seconds; Textual's own."""

    def dismiss(self, result: LabResult | None) -> object:
        """Closes the screen with the write."""
