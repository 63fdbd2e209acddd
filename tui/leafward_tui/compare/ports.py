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
    from leafward_tui.ui.panes.pane_lines import LabLine, Lines
    from leafward_tui.ui.screens.screen_results import CompareResult
    from leafward_tui.ui.sheets.sheet import Sheet
    from leafward_tui.ui.words.summary_differences import DiffLine


class LinesPane(Protocol):
    """Lines with a cursor."""

    @property
    def lines(self) -> Lines | None:
        """The lines; None before the first size."""
        ...

    @property
    def cursor(self) -> int:
        """The line of the cursor; -1 for none."""
        ...

    @property
    def key(self) -> str:
        """The key of the cursor's line; empty for none."""
        ...

    @property
    def line(self) -> LabLine | None:
        """The line of the cursor."""
        ...

    @property
    def size(self) -> Size:
        """Cells and rows."""
        ...

    def show(self, make: Callable[[int, int], Lines], *, at: str | None = None) -> None:
        """Shows the lines that `make` returns for a number of cells and rows, with the cursor on a key."""
        ...

    def shown(self) -> range:
        """The lines on the screen."""
        ...

    def redraw(self) -> None:
        """Draws the lines again."""
        ...

    def light(self, query: str) -> None:
        """Lights the words of a search."""
        ...

    def move_by(self, step: int) -> None:
        """Moves the cursor."""
        ...

    def move_to(self, y: int) -> None:
        """Puts the cursor on a line."""
        ...

    def go(self, key: str) -> bool:
        """Puts the cursor on the line with a key; whether there is one."""
        ...

    def scroll_to(self, *, y: float, animate: bool, force: bool) -> None:
        """Brings a line to the top."""
        ...

    def focus(self) -> object:
        """Gives the keys to the pane."""
        ...


class SummaryPane(Protocol):
    """Both summaries, line by line."""

    @property
    def lines(self) -> Sequence[DiffLine]:
        """The lines."""
        ...

    @property
    def cursor(self) -> int:
        """The line of the cursor."""
        ...

    @property
    def line(self) -> DiffLine | None:
        """The line of the cursor."""
        ...

    @property
    def size(self) -> Size:
        """Cells and rows."""
        ...

    def show(self, lines: Sequence[DiffLine], cursor: int = 0) -> None:
        """Shows lines, with the cursor on one."""
        ...

    def light(self, query: str) -> None:
        """Lights the words of a search."""
        ...

    def move_by(self, step: int) -> None:
        """Moves the cursor."""
        ...

    def move_to(self, line: int) -> None:
        """Puts the cursor on a line."""
        ...

    def change(self, direction: int) -> bool:
        """Goes to the next difference or the one before; whether there is any."""
        ...

    def focus(self) -> object:
        """Gives the keys to the pane."""
        ...


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


class Stoppable(Protocol):
    """A call that comes later, unless it is stopped."""

    def stop(self) -> None:
        """Cancels the call."""
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
    def summary(self) -> SummaryPane:
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

    def set_timer(self, delay: float, callback: Callable[[], object]) -> Stoppable:
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
