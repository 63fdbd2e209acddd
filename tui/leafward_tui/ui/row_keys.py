"""Keys that go from row to row: they mean the same wherever there are rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.ui.routed_screen import Actions

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["RowKeys", "RowSteps"]

_ALL = 1 << 40
"""More rows than there are."""


class RowSteps(Actions):
    """The controller of the row keys: it is given what a step is and how many rows are seen."""

    def __init__(self, step: Callable[[int], object], seen: Callable[[], int]) -> None:
        """`step` goes so many rows down, or up, and stops at the ends."""

        def page() -> int:
            # Two rows of the page before stay in sight.
            return max(1, seen() - 2)

        def half() -> int:
            return max(1, page() // 2)

        super().__init__(
            {
                "row.down": lambda: step(1),
                "row.up": lambda: step(-1),
                "page.down": lambda: step(page()),
                "page.up": lambda: step(-page()),
                "half.down": lambda: step(half()),
                "half.up": lambda: step(-half()),
                "row.top": lambda: step(-_ALL),
                "row.bottom": lambda: step(_ALL),
            }
        )


class RowKeys:
    """Actions of the row keys; a screen says what a step is and how many rows it sees."""

    def step_rows(self, by: int) -> None:
        """Goes so many rows down, or up; stops at the ends."""
        raise NotImplementedError

    def rows_seen(self) -> int:
        """Rows on the screen."""
        raise NotImplementedError

    def _page(self) -> int:
        # Two rows of the page before stay in sight.
        return max(1, self.rows_seen() - 2)

    def action_row_down(self) -> None:
        """One row down."""
        self.step_rows(1)

    def action_row_up(self) -> None:
        """One row up."""
        self.step_rows(-1)

    def action_page_down(self) -> None:
        """One page down."""
        self.step_rows(self._page())

    def action_page_up(self) -> None:
        """One page up."""
        self.step_rows(-self._page())

    def action_half_down(self) -> None:
        """Half a page down."""
        self.step_rows(max(1, self._page() // 2))

    def action_half_up(self) -> None:
        """Half a page up."""
        self.step_rows(-max(1, self._page() // 2))

    def action_row_top(self) -> None:
        """The first row."""
        self.step_rows(-_ALL)

    def action_row_bottom(self) -> None:
        """The last row."""
        self.step_rows(_ALL)
