"""The screen's interfaces for the controllers of the explorer. The widgets fit the smaller ports as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual.screen import Screen

    from leafward.agents.resume import Resume
    from leafward.compaction.onset import Onset
    from leafward_tui.explorer.model.file_markers import Touch
    from leafward_tui.explorer.model.folds import Line
    from leafward_tui.explorer.model.ghost import Ghost
    from leafward_tui.explorer.model.overview import Detour, Overview
    from leafward_tui.explorer.model.rows import RowPainter
    from leafward_tui.explorer.widgets.gauge import Forecast, Load
    from leafward_tui.explorer.widgets.peek import TurnDigest
    from leafward_tui.ui.bars.price_line import Facts, KeyHint
    from leafward_tui.ui.bars.title_bar import Fact, Progress
    from leafward_tui.ui.panes.inspector_pane import InspectorPane
    from leafward_tui.ui.panes.inspector_tab import Tab
    from leafward_tui.ui.services import Timer
    from leafward_tui.ui.words.price_words import PriceWords

Answer = TypeVar("Answer")


class TreePort(Protocol):
    """The rows of the tree."""

    @property
    def row(self) -> int:
        """The row of the cursor; -1 where there is none."""

    @property
    def line(self) -> Line | None:
        """The line of the cursor."""

    @property
    def page_rows(self) -> int:
        """Rows that fit on the screen."""

    @property
    def jumping(self) -> bool:
        """Whether the next letters name a line."""

    def rows_on_screen(self) -> range:
        """The lines that are on the screen."""

    def focus(self) -> object:
        """Gives the keys to the tree."""

    def show(self, painter: RowPainter, row: int) -> None:
        """Shows other lines, with the cursor on a row."""

    def redraw_rows(self) -> None:
        """Draws the lines on the screen again."""

    def move_by(self, step: int) -> None:
        """Moves the cursor some lines down, or up."""

    def move_to_row(self, row: int) -> None:
        """Puts the cursor on the line of a row."""

    def set_ghost(self, ghost: Ghost | None) -> None:
        """Shows a proposed move, or none."""

    def set_mark(self, row: int) -> None:
        """Shows the place of the mark; -1 for none."""

    def set_hits(self, rows: frozenset[int], query: str) -> None:
        """Lights the rows that a search found."""

    def set_touches(self, touches: Mapping[int, Touch]) -> None:
        """Sets the operations of rows on a file, for the next `show`."""

    def start_jump(self) -> None:
        """Puts letters on the lines; typed letters go to their line."""

    def end_jump(self) -> None:
        """Removes the letters."""


class StripPort(Protocol):
    """The overview of the path."""

    def show(self, overview: Overview | None) -> None:
        """Shows a path."""

    def set_ghost(self, detour: Detour | None) -> None:
        """Shows a proposed move, or none."""

    def set_hits(self, turns: Sequence[int]) -> None:
        """Lights turns that a search found."""


class GaugePort(Protocol):
    """The size of the context."""

    def show(self, now: Load | None, window: int, onset: Onset | None = None) -> None:
        """Shows the context at the leaf, in tokens."""

    def set_forecast(self, *, live: bool, forecast: Forecast | None = None) -> None:
        """Shows the distance to the next compaction, and its forecast."""

    def set_ghost(self, *, moving: bool, moved: Load | None = None) -> None:
        """Shows the context after a proposed move."""


class PeekPort(Protocol):
    """The two lines under a narrow tree."""

    def show(self, glance: TurnDigest | None) -> None:
        """Shows the digest of a turn."""


class PricePort(Protocol):
    """The line at the foot."""

    def show(self, facts: Facts | None, price: PriceWords | None = None) -> None:
        """Shows facts of a row, and the price of a move there."""


class TitlePort(Protocol):
    """The first row of the screen."""

    def show(self, title: str, *, crumb: str = "", facts: Sequence[Fact] = ()) -> None:
        """Shows the name and the facts of the session."""

    def progress(self, progress: Progress | None) -> None:
        """Shows how far reading is."""


class ExplorerView(Protocol):
    """The screen as its controllers see it."""

    @property
    def tree(self) -> TreePort:
        """The rows."""

    @property
    def inspector(self) -> InspectorPane:
        """The right pane."""

    @property
    def strip(self) -> StripPort:
        """The overview."""

    @property
    def gauge(self) -> GaugePort:
        """The context."""

    @property
    def peek(self) -> PeekPort:
        """The lines under a narrow tree."""

    @property
    def price_line(self) -> PricePort:
        """The foot."""

    @property
    def title_bar(self) -> TitlePort:
        """The head."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the terminal, in cells."""

    @property
    def on_top(self) -> bool:
        """Whether this screen exists and nothing lies over it."""

    @property
    def in_tree(self) -> bool:
        """Whether keys go to the tree."""

    @property
    def two_panes(self) -> bool:
        """Whether tree and inspector are beside each other."""

    def show_tree(self) -> None:
        """Gives the keys to the tree."""

    def show_tab(self, tab: Tab) -> None:
        """Shows a tab of the inspector; on a narrow screen in place of the tree."""

    def step_pane(self, step: int) -> None:
        """Goes to the other pane; on a narrow screen to the next tab, or the one before."""

    def show_head(self) -> None:
        """Shows the present tabs and headings over the tree."""

    def show_keys(self) -> None:
        """Shows the keys that matter now."""

    def tell(
        self,
        text: str,
        tone: str = "",
        keys: Sequence[KeyHint] = (),
        *,
        stays: bool = False,
        tail: str = "",
    ) -> None:
        """Shows a note in place of the price, with keys that help; an empty text makes room for the price.

        With `stays`, the note outlasts the next move of the cursor. Its `tail` is shown where there is room for all of
        it.
        """

    def fail(self, problem: str) -> None:
        """Shows a problem."""

    def refuse(self, text: str, keys: Sequence[KeyHint] = ()) -> None:
        """Shows for a moment why a key does nothing while a summary is made."""

    def clear_note(self) -> None:
        """Clears the note after a move of the cursor, unless it was to stay once."""

    def key_hints(self, *intents: tuple[str, str]) -> tuple[KeyHint, ...]:
        """Keys of intents with words for their effect; those without a key are left out."""

    def ask(self, sheet: Screen[Answer], then: Callable[[Answer | None], Any]) -> None:
        """Opens a sheet; `then` gets its answer, None where it was cancelled."""

    def after(self, seconds: float, then: Callable[[], object]) -> Timer:
        """Calls `then` later, as long as the screen exists."""

    def run(self, intent_id: str) -> None:
        """Runs an intent, if it does something now."""

    def prefetch(self) -> None:
        """Loads the modules of other screens."""

    def hand_over(self, command: Resume) -> str | None:
        """Gives the terminal to an agent until it ends; the error as one line, None when it ran."""
