"""All that a controller of the lab sees of the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.screen import Screen

    from leafward_tui.lab.widgets.state_line import Writing
    from leafward_tui.ui.pane_lines import LabLine, Lines
    from leafward_tui.ui.price_line import KeyHint
    from leafward_tui.ui.screen_results import LabResult

_Answer = TypeVar("_Answer")


class LinesPane(Protocol):
    """A pane of lines with a cursor."""

    @property
    def lines(self) -> Lines | None:
        """What it shows."""

    @property
    def line(self) -> LabLine | None:
        """The line of the cursor."""

    @property
    def key(self) -> str:
        """What the cursor is on; empty for nothing."""

    @property
    def cells(self) -> int:
        """Cells of a line."""

    def shown(self) -> range:
        """The lines on the screen."""

    def show(
        self, make: Callable[[int, int], Lines] | None = None, *, at: str | None = None, end: bool = False
    ) -> None:
        """Shows what `make` gives for cells and rows."""

    def move_by(self, step: int) -> None:
        """Moves the cursor so many lines."""

    def move_to(self, y: int) -> None:
        """Puts the cursor on a line."""

    def go(self, key: str) -> bool:
        """Puts the cursor on the line with a key; whether there is one."""

    def reveal(self) -> None:
        """Brings the cursor on the screen."""

    def redraw(self) -> None:
        """Draws what is on the screen again."""


class StatePane(Protocol):
    """The row over the summary."""

    def show(self, state: Writing) -> None:
        """Who writes it and how far it is."""


class PanesPort(Protocol):
    """The panes."""

    @property
    def cut(self) -> LinesPane:
        """The turns."""

    @property
    def why(self) -> LinesPane:
        """Why the cut does not stand lower."""

    @property
    def plan(self) -> LinesPane:
        """Sliders, strategies, ledger, sections."""

    @property
    def text(self) -> LinesPane:
        """Summary, prompt or injected text."""

    @property
    def fates(self) -> LinesPane:
        """What survives and what is lost."""

    @property
    def state_line(self) -> StatePane:
        """The row over the summary."""

    @property
    def columns_shown(self) -> int:
        """How many panes stand beside each other."""

    def show_area(self, area: str, page: str, rules: str, *, whole: bool) -> None:
        """Shows as many panes as there is room for, the one with the keys among them, with their heads; or that one `whole`."""

    def show_heads(self, area: str, page: str, rules: str) -> None:
        """The heads alone."""

    def focus_area(self, area: str) -> None:
        """Keys go to a pane; to the field where there is one in it."""

    def open_editor(self, text: str) -> None:
        """Puts a field with a text in the place of the summary."""

    def close_editor(self) -> str:
        """Takes the field away; what it held."""


class Timer(Protocol):
    """Something that happens later."""

    def stop(self) -> None:
        """It does not happen."""


class LabPort(Protocol):
    """The screen."""

    @property
    def panes(self) -> PanesPort:
        """The panes."""

    @property
    def is_active(self) -> bool:
        """Whether no sheet and no other screen lies over it."""

    def tell(self, text: str, tone: str = "", keys: Sequence[KeyHint] = ()) -> None:
        """Says something in the row over the keys; an empty text makes room for what lasts: trouble, or what is waited for."""

    def show_title(self) -> None:
        """The session, and the place that is planned at."""

    def show_hints(self) -> None:
        """The keys that matter now."""

    def open_sheet(self, sheet: Screen[_Answer], done: Callable[[_Answer | None], None]) -> None:
        """Opens a sheet or another screen; `done` hears its answer, None where it was left."""

    def set_timer(self, delay: float, callback: Callable[[], None]) -> Timer:
        """Does something after so many seconds; Textual's own."""

    def dismiss(self, result: LabResult | None) -> object:
        """Closes the screen with what was written."""
