"""What the inspector shows or is about to. Written by `Pages`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.ui.page import Tab

if TYPE_CHECKING:
    from leafward_tui.ui.page import Gauge, Selection

__all__ = ["InspectorState"]


class InspectorState:
    """Values only. No dataclass: it is made before the first frame, and one takes as long as loading a module."""

    def __init__(self, gauge: Gauge | None) -> None:
        self.tab = Tab.ENTRY
        self.selection: Selection | None = None
        self.gauge = gauge
        """What contexts are measured by."""
        self.toggled: dict[Tab, frozenset[str]] = {}
        """Sections of the selection that the user opened or closed, by tab."""
        self.words = ""
        """What is searched for; empty where nothing is."""
        self.shown: tuple[Selection | None, Tab, str] = (None, Tab.ENTRY, "")
        """What the page on the screen is of, and the words that were searched for."""
        self.measured = (0, 0)
        """Cells and rows that the last page was built for."""
        self.built = 0
        """Pages built so far; work counted for tests."""
