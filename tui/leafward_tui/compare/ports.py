"""The screen's interfaces for the controllers of the comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual.geometry import Size

    from leafward_tui.compare.model.captions import Named
    from leafward_tui.compare.model.files import Column
    from leafward_tui.compare.state import Page
    from leafward_tui.ui.keys.key_bar import KeyBar
    from leafward_tui.ui.panes.pane_lines import LabLine
    from leafward_tui.ui.panes.pane_ports import DifferencePane, LinesPane
    from leafward_tui.ui.screens.screen_results import CompareResult
    from leafward_tui.ui.services import Timer
    from leafward_tui.ui.sheets.sheet import Sheet


class RowsPane(Protocol):
    """A few rows."""

    @property
    def size(self) -> Size:
        """Cells and rows."""
        ...

    def show(self, make: Callable[[int], Sequence[LabLine]]) -> None:
        """Draws the lines that `make` returns for a number of cells."""
        ...

    def refresh(self) -> object:
        """Draws it again."""
        ...


class HeadPane(Protocol):
    """The names of A and B."""

    def show(self, named: tuple[Named, Named]) -> None:
        """Shows two entries."""
        ...


class TabsPane(Protocol):
    """The tabs."""

    def show(self, tabs: tuple[str, ...], active: str, *, right: str = "", focused: bool = False) -> None:
        """Shows tabs, the chosen one marked, and words at the edge."""
        ...


class FilesPane(Protocol):
    """The lists of files over the diff."""

    def give_rows(self, rows: int) -> None:
        """Gives the lists this number of rows."""
        ...


class ComparePort(Protocol):
    """The screen."""

    @property
    def head(self) -> HeadPane:
        """The names of A and B."""
        ...

    @property
    def tabs(self) -> TabsPane:
        """The tabs."""
        ...

    @property
    def heads(self) -> Mapping[Column, RowsPane]:
        """The head of each list."""
        ...

    @property
    def lists(self) -> Mapping[Column, LinesPane]:
        """The lists of files."""
        ...

    @property
    def diff_head(self) -> RowsPane:
        """The head of the contents."""
        ...

    @property
    def diff(self) -> LinesPane:
        """The contents of one file."""
        ...

    @property
    def sentence(self) -> RowsPane:
        """The remark on both contents, or the effect of the last key."""
        ...

    @property
    def key_bar(self) -> KeyBar:
        """The key bar, for messages on tabs without a sentence."""
        ...

    @property
    def side(self) -> RowsPane:
        """The right column."""
        ...

    @property
    def lines(self) -> LinesPane:
        """The tabs Context and Outcome."""
        ...

    @property
    def summary_head(self) -> RowsPane:
        """The head of the summaries."""
        ...

    @property
    def summary(self) -> DifferencePane:
        """Both summaries."""
        ...

    @property
    def size(self) -> Size:
        """Cells and rows of the terminal."""
        ...

    @property
    def three_columns(self) -> bool:
        """Whether the columns stand beside each other."""
        ...

    @property
    def refusal(self) -> str:
        """Why nothing can be written to the session; empty where it can."""
        ...

    @property
    def is_active(self) -> bool:
        """Whether no other screen lies over it."""
        ...

    def show_title(self) -> None:
        """Shows the session and the hits of the search."""
        ...

    def show_hints(self) -> None:
        """Shows the keys that matter now."""
        ...

    def show_panes(self, page: Page) -> None:
        """Shows the panes of a tab."""
        ...

    @property
    def files_page(self) -> FilesPane:
        """The lists over the diff."""
        ...

    def set_timer(self, delay: float, callback: Callable[[], object]) -> Timer:
        """Calls back after a delay in seconds."""
        ...

    def open_sheet(self, sheet: Sheet, done: Callable[[str | None], None]) -> None:
        """Opens a sheet; `done` gets its answer, None where it was cancelled."""
        ...

    def dismiss(self, result: CompareResult) -> object:
        """Closes the screen with a task for the explorer."""
        ...

    def go_back(self) -> None:
        """Closes the screen without a result."""
        ...
