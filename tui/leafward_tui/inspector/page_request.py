"""The inputs of a page, all that a job needs to build it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from leafward.base.config import Config
    from leafward_tui.inspector.page import ContextLimits, Selection
    from leafward_tui.inspector.tab import Tab
    from leafward_tui.ui.appearance.glyphs import Glyphs


class Goal(NamedTuple):
    """The words of a search, and one of its hits in the selection."""

    words: str = ""
    """The words; empty for no search."""
    number: int = 0
    """The number of the hit within the selection, from 0."""
    entry: int = -1
    """The entry of the hit, where each message is one line; -1 for none."""


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
    limits: ContextLimits | None = None
    goal: Goal = Goal()
    """The words of the search, which unfold the sections that hold them, and the hit to go to."""
