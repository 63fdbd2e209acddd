"""The pane's interface for the controller of the inspector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from leafward_tui.inspector.page import Page
    from leafward_tui.inspector.tab import Tab


class InspectorView(Protocol):
    """The pane with its tabs and its page."""

    @property
    def room(self) -> tuple[int, int]:
        """Cells and rows of a page; zeros before there is a size."""
        ...

    def show_page(self, page: Page | None, *, keep_place: bool) -> None:
        """Shows a page from its top or, for the same page built again, at its place; None empties the pane."""
        ...

    def show_tab_open(self, tab: Tab) -> None:
        """Marks the open tab, and posts that it is open."""
        ...
