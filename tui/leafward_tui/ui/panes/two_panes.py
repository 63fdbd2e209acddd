"""A list beside the details of its cursor; where there is no room for both, one of the two at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.geometry import Size


TWO_PANES_FROM = 100
"""Cells of a terminal from which on there is room for two panes."""


def has_two_panes(size: Size) -> bool:
    """Whether a terminal has room for two panes beside each other."""
    return size.width >= TWO_PANES_FROM and size.height >= 30


class PanedView(Protocol):
    """A screen with a list beside the details of its cursor."""

    @property
    def two_panes(self) -> bool:
        """Whether there is room for two panes beside each other."""
        ...

    @property
    def in_field(self) -> bool:
        """Whether the field over the list has the keys."""
        ...

    def leave_field(self) -> bool:
        """Goes from the field to the list; whether it was in the field."""
        ...

    def arrange_panes(self) -> None:
        """Shows the panes as they are wanted."""
        ...

    def look(self) -> None:
        """Fills the second pane, once the cursor rests."""
        ...


class Panes:
    """The controller of the keys that go between the two panes."""

    def __init__(self, view: PanedView, some: Callable[[], bool]) -> None:
        """`some` says whether there is anything that a second pane could show."""
        self._view = view
        self._some = some
        self.with_preview = True
        """Whether the second pane is shown where there is room for both."""
        self._beside = False
        """Whether keys were sent to the second pane."""
        self.actions: Mapping[str, Callable[[], object]] = {
            "pane.next": self.other,
            "pane.previous": self.other,
            "preview.toggle": self.toggle,
        }

    def enabled(self, intent_id: str) -> bool:
        """Whether one of its intents does something now."""
        return self._some() or (intent_id != "preview.toggle" and self._view.in_field)

    @property
    def side(self) -> bool:
        """Whether keys go to the second pane; on a narrow screen it is shown instead of the list."""
        return self._beside and self._some()

    def other(self) -> None:
        """Switches between the panes; from the field, to the list."""
        if self._view.leave_field():
            return
        if not self.with_preview and self._view.two_panes:
            self.with_preview = True
        self._beside = not self.side
        self._shown()

    def toggle(self) -> None:
        """Shows or hides the second pane; on a narrow screen, shows it instead of the list."""
        if self._view.two_panes:
            self.with_preview = not self.with_preview
            self._beside = False
        else:
            self._beside = not self.side
        self._shown()

    def to_list(self) -> None:
        """Goes back to the list."""
        if self._beside:
            self._beside = False
            self._view.arrange_panes()

    def _shown(self) -> None:
        self._view.arrange_panes()
        self._view.look()
