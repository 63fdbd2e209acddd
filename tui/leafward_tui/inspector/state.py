"""What the inspector shows or is about to. Written by `Pages`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import NO_ENTRY
from leafward_tui.ui.inspector_tab import Tab

if TYPE_CHECKING:
    from leafward_tui.ui.page import Gauge, Selection


class Goal(NamedTuple):
    """Words that are searched for, and a place of the selection that holds them."""

    words: str = ""
    """Empty where nothing is searched for."""
    number: int = 0
    """The how-manieth place of the selection, from 0."""
    entry: int = NO_ENTRY
    """Its entry, where messages are a line each."""


class InspectorState:
    """Values only. No dataclass: it is made before the first frame, and one takes as long as loading a module."""

    def __init__(self, gauge: Gauge | None) -> None:
        self.tab = Tab.ENTRY
        self.selection: Selection | None = None
        self.gauge = gauge
        """What contexts are measured by."""
        self.toggled: dict[Tab, frozenset[str]] = {}
        """Sections of the selection that the user opened or closed, by tab."""
        self.goal = Goal()
        """What is searched for, and which place of it."""
        self.shown: tuple[Selection | None, Tab, Goal] = (None, Tab.ENTRY, Goal())
        """What the page on the screen is of, and what was searched for."""
        self.measured = (0, 0)
        """Cells and rows that the last page was built for."""
        self.built = 0
        """Pages built so far; work counted for tests."""
