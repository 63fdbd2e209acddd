"""The screen's interface for the controllers of the comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.geometry import Size

    from leafward_tui.compare.model.files import Column
    from leafward_tui.compare.state import Page
    from leafward_tui.compare.widgets.files_page import FilesPage
    from leafward_tui.compare.widgets.head import CompareHead
    from leafward_tui.compare.widgets.spans import SpanRows
    from leafward_tui.ui.keys.key_bar import KeyBar
    from leafward_tui.ui.panes.lines_view import LinesView
    from leafward_tui.ui.panes.summary_comparison import ComparisonView
    from leafward_tui.ui.panes.tab_head import TabHead
    from leafward_tui.ui.screens.screen_results import CompareResult
    from leafward_tui.ui.services import Timer
    from leafward_tui.ui.sheets.sheet import Sheet


class ComparePort(Protocol):
    """The screen."""

    @property
    def head(self) -> CompareHead:
        """The names of A and B."""
        ...

    @property
    def tabs(self) -> TabHead:
        """The tabs."""
        ...

    @property
    def heads(self) -> Mapping[Column, SpanRows]:
        """The head of each list."""
        ...

    @property
    def lists(self) -> Mapping[Column, LinesView]:
        """The lists of files."""
        ...

    @property
    def diff_head(self) -> SpanRows:
        """The head of the contents."""
        ...

    @property
    def diff(self) -> LinesView:
        """The contents of one file."""
        ...

    @property
    def sentence(self) -> SpanRows:
        """The remark on both contents, or the effect of the last key."""
        ...

    @property
    def key_bar(self) -> KeyBar:
        """The key bar, for messages on tabs without a sentence."""
        ...

    @property
    def side(self) -> SpanRows:
        """The right column."""
        ...

    @property
    def lines(self) -> LinesView:
        """The tabs Context and Outcome."""
        ...

    @property
    def summary_head(self) -> SpanRows:
        """The head of the summaries."""
        ...

    @property
    def summary(self) -> ComparisonView:
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
    def files_page(self) -> FilesPage:
        """The lists over the diff."""
        ...

    def set_timer(self, delay: float, callback: Callable[[], object]) -> Timer:
        """Calls back after a delay in seconds."""
        ...

    def open_sheet(self, sheet: Sheet, done: Callable[[str | None], None] | None = None) -> None:
        """Opens a sheet; `done` gets its answer, None where it was cancelled."""
        ...

    def dismiss(self, result: CompareResult) -> object:
        """Closes the screen with a task for the explorer."""
        ...

    def go_back(self) -> None:
        """Closes the screen without a result."""
        ...
