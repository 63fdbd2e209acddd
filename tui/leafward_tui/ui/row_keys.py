"""Keys that go from row to row: they mean the same wherever there are rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.ui.routed_screen import Actions

if TYPE_CHECKING:
    from collections.abc import Callable

_ALL = 1 << 40
"""More rows than there are."""


class RowSteps(Actions):
    """The controller of the row keys; it is given the step and the number of visible rows."""

    def __init__(self, step: Callable[[int], object], seen: Callable[[], int]) -> None:
        """`step` goes a number of rows down, or up, and stops at the ends; `seen` is the number of visible rows."""

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
