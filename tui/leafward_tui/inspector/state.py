"""The state of the inspector, written by `Pages`, and the values of it that a page is built from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import NO_ENTRY
from leafward_tui.ui.panes.inspector_tab import Tab

if TYPE_CHECKING:
    from leafward.base.config import Config
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.panes.page import Gauge, Selection


class Goal(NamedTuple):
    """The words of a search, and one of its hits in the selection."""

    words: str = ""
    """The words; empty for no search."""
    number: int = 0
    """The number of the hit within the selection, from 0."""
    entry: int = NO_ENTRY
    """The entry of the hit, where each message is one line."""


class PageRequest(NamedTuple):
    """The inputs of a page."""

    tab: Tab
    selection: Selection
    width: int
    """Cells of a line."""
    height: int
    """Rows that are visible at once."""
    glyphs: Glyphs
    config: Config
    """Decides about the injected context."""
    toggled: frozenset[str] = frozenset()
    """Sections that the user opened or closed."""
    gauge: Gauge | None = None
    goal: Goal = Goal()
    """The words of the search, which unfold the sections that hold them, and the hit to go to."""


class InspectorState:
    """Values only. No dataclass: it is made before the first frame, and one takes as long as loading a module."""

    def __init__(self, gauge: Gauge | None) -> None:
        self.tab = Tab.ENTRY
        self.selection: Selection | None = None
        self.gauge = gauge
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
