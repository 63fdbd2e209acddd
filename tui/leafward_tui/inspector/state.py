"""The state of the inspector. Written by `Pages`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.inspector.page_request import Goal
from leafward_tui.inspector.tab import Tab

if TYPE_CHECKING:
    from leafward_tui.inspector.page import ContextLimits, Selection


class InspectorState:
    """Values only. No dataclass: it is made before the first frame, and one takes as long as loading a module."""

    def __init__(self, limits: ContextLimits | None) -> None:
        self.tab = Tab.ENTRY
        self.selection: Selection | None = None
        self.limits = limits
        """The limits that contexts are measured against."""
        self.toggled: dict[Tab, frozenset[str]] = {}
        """Sections of the selection that the user opened or closed, by tab."""
        self.goal = Goal()
        """The words of the search, and the hit to go to."""
        self.shown: tuple[Selection | None, Tab, Goal] = (None, Tab.ENTRY, Goal())
        """The selection, tab and search of the page on the screen."""
        self.measured = (0, 0)
        """Cells and rows that the last page was built for."""
        self.built = 0
        """Pages built so far; work counted for tests."""
