"""The screen's interface for the controllers of the search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.catalog.card import Card
    from leafward.query.search.text_match import Hit
    from leafward_tui.search.model.finds import FindKind, FindLine, Finds, HitText
    from leafward_tui.ui.bars.title_bar import Progress
    from leafward_tui.ui.panes.two_panes import Panes


class SearchView(Protocol):
    """The screen of the search."""

    @property
    def finds(self) -> Finds:
        """The results."""
        ...

    @property
    def line(self) -> FindLine | None:
        """The line under the cursor."""
        ...

    @property
    def panes(self) -> Panes:
        """The panes: results and text, and which one has the keys."""
        ...

    @property
    def editing(self) -> bool:
        """Whether the field has the keys."""
        ...

    @property
    def text_shown(self) -> bool:
        """Whether the text of a hit is on the screen."""
        ...

    def show_finds(self, finds: Finds, cursor: int = 0) -> None:
        """Shows other results."""
        ...

    def finds_grew(self, before: int) -> None:
        """Draws the lines added after the first `before`."""
        ...

    def opened_up(self) -> None:
        """Draws the further hits of a session."""
        ...

    def show_state(self) -> None:
        """Shows everything around the lines: title, counts, and words for an empty list."""
        ...

    def show_progress(self, progress: Progress | None) -> None:
        """Shows the progress of the search; None ends it."""
        ...

    def show_hints(self) -> None:
        """Shows the keys that matter now."""
        ...

    def arrange_panes(self) -> None:
        """Shows the results, the text, or both."""
        ...

    def show_hit(self, card: Card, hit: Hit | None) -> None:
        """Shows the place of a hit, until its text is read."""
        ...

    def fill_hit(self, hit: Hit, text: HitText) -> None:
        """Shows the text of a hit, if the cursor is still there."""
        ...

    def move_to(self, kind: FindKind, step: int) -> None:
        """Moves the cursor to the next line of a kind, or the one before."""
        ...

    def edit(self) -> None:
        """Gives the field the keys."""
        ...

    def focus_results(self) -> None:
        """Gives the results the keys."""
        ...

    def after_pause(self, then: Callable[[], None]) -> None:
        """Calls `then` after a pause in the typing; drops an earlier call."""
        ...

    def forget_pause(self) -> None:
        """Drops the call after a pause."""
        ...

    def go_back(self) -> None:
        """Goes back to the screen where the search was opened."""
        ...
