"""The line between two panes, where the user puts it with the mouse or by keys; its place is remembered."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from leafward_tui.ui.panes.hairline import ColumnRule
    from leafward_tui.ui.services import AppServices

LEAST_LEFT = 40
LEAST_RIGHT = 36
"""Cells that the panes keep."""
RULE = 3
"""Cells of the line, with the air beside it."""
_STEP = 4
"""Cells that a key moves it by."""
_WHOLE = 1000
"""The share of the left pane is counted in parts of this: a terminal of fewer cells gets back the very cell."""


class Divider:
    """The controller of the line between the two panes of a screen."""

    def __init__(
        self,
        services: AppServices,
        name: str,
        rule: ColumnRule,
        arrange: Callable[[], object] = lambda: None,
    ) -> None:
        """`name` is the screen's, under which the place is remembered."""
        self._services, self._key = services, f"divider.{name}"
        self.rule, self.arrange = rule, arrange
        """`arrange` lays the panes out again."""
        share = services.recall(self._key)
        self._share = share if isinstance(share, int) and 0 < share < _WHOLE else None
        """The part of the terminal's width that the left pane has, out of `_WHOLE`; None for the usual one."""
        self.actions: Mapping[str, Callable[[], object]] = {
            "divider.left": partial(self._step, -_STEP),
            "divider.right": partial(self._step, _STEP),
        }
        rule.drag, rule.drop = self._drag, self._keep

    def enabled(self, intent_id: str) -> bool:  # noqa: ARG002  both need the line
        """Whether there are two panes, and so a line between them."""
        return self.rule.display

    def left(self, width: int) -> int | None:
        """Cells of the left pane in a terminal of some width; None where the line is at its usual place."""
        return None if self._share is None else self._within(round(self._share * width / _WHOLE), width)

    def _drag(self, x: int | None) -> None:
        if x is None:
            self._share = None
            self.arrange()
        else:
            self._put(x - 1)

    def _step(self, cells: int) -> None:
        # The line itself moves with the next layout, which may come behind several keys.
        left = self.left(self.rule.app.size.width)
        self._put((self.rule.region.x if left is None else left) + cells)
        self._keep()

    def _put(self, left: int) -> None:
        width = self.rule.app.size.width
        self._share = round(self._within(left, width) * _WHOLE / width)
        self.arrange()

    def _keep(self) -> None:
        self._services.remember(self._key, self._share)

    @staticmethod
    def _within(left: int, width: int) -> int:
        return max(LEAST_LEFT, min(width - RULE - LEAST_RIGHT, left))
