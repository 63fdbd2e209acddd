"""What the controllers of the search see of its screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.catalog import Card
    from leafward.query.search.text_match import Hit
    from leafward_tui.search.model.finds import FindKind, FindLine, Finds, HitText
    from leafward_tui.ui.title_bar import Progress
    from leafward_tui.ui.two_panes import Panes


class SearchView(Protocol):
    """The screen of the search."""

    @property
    def finds(self) -> Finds:
        """What was found."""
        ...

    @property
    def line(self) -> FindLine | None:
        """The line under the cursor."""
        ...

    @property
    def panes(self) -> Panes:
        """Which of results and text has the keys."""
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
        """Lines were added behind the first so many."""
        ...

    def opened_up(self) -> None:
        """More hits of a session are shown."""
        ...

    def show_state(self) -> None:
        """Shows what stands around the lines: title, counts, what stands where there are none."""
        ...

    def show_progress(self, progress: Progress | None) -> None:
        """How far the search is; None where none goes on."""
        ...

    def show_hints(self) -> None:
        """Other keys matter now."""
        ...

    def arrange_panes(self) -> None:
        """Results, the text, or both."""
        ...

    def show_hit(self, card: Card, hit: Hit | None) -> None:
        """Shows where a hit stands, until its text is read."""
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
        """Does something once nothing was typed for a moment; forgets what was to be done then before."""
        ...

    def forget_pause(self) -> None:
        """Forgets what was to be done after a pause."""
        ...

    def go_back(self) -> None:
        """Back to where the search was opened."""
        ...
