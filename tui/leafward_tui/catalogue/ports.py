"""The screen's interface for the controllers of the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.agents.resume import Resume
    from leafward.catalog.card import Card
    from leafward_tui.catalogue.model.listing import Listing, ListLine
    from leafward_tui.catalogue.model.session_preview import SessionPreview
    from leafward_tui.catalogue.model.totals_table import TotalsRow
    from leafward_tui.ui.bars.title_bar import Progress
    from leafward_tui.ui.panes.two_panes import Panes
    from leafward_tui.ui.sheets.sheet import Sheet


class CatalogueView(Protocol):
    """The screen of the catalogue."""

    @property
    def listing(self) -> Listing:
        """The lines on show."""
        ...

    @property
    def line(self) -> ListLine | None:
        """The line under the cursor."""
        ...

    @property
    def card(self) -> Card | None:
        """The session under the cursor."""
        ...

    @property
    def on_top(self) -> bool:
        """Whether no other screen lies over this one."""
        ...

    @property
    def preview_shown(self) -> bool:
        """Whether there is a preview on the screen."""
        ...

    @property
    def panes(self) -> Panes:
        """The panes: list and preview, and which one has the keys."""
        ...

    @property
    def filtering(self) -> bool:
        """Whether the filter has the keys."""
        ...

    def show_listing(self, listing: Listing) -> None:
        """Shows new lines."""
        ...

    def show_state(self) -> None:
        """Shows everything around the lines: title, figures, hints, and words for an empty list."""
        ...

    def show_hints(self) -> None:
        """Shows the keys that matter now."""
        ...

    def show_progress(self, progress: Progress | None) -> None:
        """Shows the progress of the reading; None ends it."""
        ...

    def relight(self) -> None:
        """Draws the head of the list again, after a change of the order or the grouping."""
        ...

    def show_preview(self, card: Card, preview: SessionPreview) -> None:
        """Shows a preview, if the cursor is still there."""
        ...

    def show_group(self, line: ListLine) -> None:
        """Shows the preview of a group."""
        ...

    def clear_preview(self) -> None:
        """Clears the preview of a session that is not in the list."""
        ...

    def move_to_session(self, step: int) -> None:
        """Moves the cursor to the next session, or the one before."""
        ...

    def edit_filter(self) -> None:
        """Gives the filter the keys."""
        ...

    def clear_filter(self) -> None:
        """Clears the filter."""
        ...

    def focus_list(self) -> None:
        """Gives the list the keys."""
        ...

    def open_sheet(self, sheet: Sheet, done: Callable[[str | None], None]) -> None:
        """Opens a sheet; `done` gets its answer, None where it was cancelled."""
        ...

    def show_totals(self, rows: Sequence[TotalsRow], note: str, cards: Sequence[Card]) -> None:
        """Opens the table of the usage and the cost of sessions, and the aftermath of compactions in `cards`."""
        ...

    def run_in_agent(self, resume: Resume) -> str | None:
        """Hands the terminal to an agent until it ends; the error as one line, None when it ran."""
        ...
