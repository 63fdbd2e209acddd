"""The screen's interfaces for the controllers of the lab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.screen import Screen

    from leafward_tui.lab.widgets.state_line import Writing
    from leafward_tui.ui.bars.price_line import KeyHint
    from leafward_tui.ui.panes.pane_lines import LabLine, Lines
    from leafward_tui.ui.screens.screen_results import LabResult

_Answer = TypeVar("_Answer")


class LinesPane(Protocol):
    """A pane of lines with a cursor."""

    @property
    def lines(self) -> Lines | None:
        """Its lines."""

    @property
    def line(self) -> LabLine | None:
        """The line of the cursor."""

    @property
    def key(self) -> str:
        """The key of the cursor's line; empty for none."""

    @property
    def cells(self) -> int:
        """Cells of a line."""

    def shown(self) -> range:
        """The lines on the screen."""

    def show(
        self, make: Callable[[int, int], Lines] | None = None, *, at: str | None = None, end: bool = False
    ) -> None:
        """Shows the lines that `make` returns for a number of cells and rows."""

    def move_by(self, step: int) -> None:
        """Moves the cursor by lines with a key."""

    def move_to(self, y: int) -> None:
        """Puts the cursor on a line."""

    def go(self, key: str) -> bool:
        """Puts the cursor on the line with a key; whether there is one."""

    def reveal(self) -> None:
        """Brings the cursor on the screen."""

    def redraw(self) -> None:
        """Draws the visible lines again."""


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


class Timer(Protocol):
    """A call that happens later."""

    def stop(self) -> None:
        """Cancels the call."""


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
