"""What the inspector works out beside the screen: its pages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.safe_text import safe_line
from leafward_tui.inspector.model.pages import build
from leafward_tui.inspector.state import Goal
from leafward_tui.ui.page import Line, Page, Span

if TYPE_CHECKING:
    from leafward.base.config import Config
    from leafward_tui.ui.glyphs import Glyphs
    from leafward_tui.ui.inspector_tab import Tab
    from leafward_tui.ui.page import Gauge, Selection
    from leafward_tui.ui.services import Job

__all__ = ["PageRequest", "build_page"]


class PageRequest(NamedTuple):
    """Which page is wanted."""

    tab: Tab
    selection: Selection
    width: int
    """Cells of a line."""
    height: int
    """Rows that are seen at once."""
    glyphs: Glyphs
    config: Config
    toggled: frozenset[str]
    """Sections that the user opened or closed."""
    gauge: Gauge | None
    goal: Goal = Goal()
    """What is searched for, and which place of it."""


def build_page(request: PageRequest, job: Job) -> Page:
    """A page, or one that says in a line why there is none: the file went away, or a fault of ours."""
    tab, width, glyphs = request.tab, request.width, request.glyphs
    try:
        page = build(
            tab,
            request.selection,
            width,
            glyphs,
            request.config,
            height=request.height,
            toggled=request.toggled,
            gauge=request.gauge,
            words=request.goal.words,
            stop=job.unwanted,
        )
        return _sought(page, request.goal) if request.goal.words else page
    except Exception as error:
        strerror = error.strerror if isinstance(error, OSError) else ""
        reason = strerror or f"{type(error).__name__}: {error}"
        spans = (
            Span(f"{glyphs.malformed} ", "bad"),
            Span(safe_line(f"this cannot be shown: {reason}", width - 2), "warn"),
        )
        return Page(tab, width, [Line(), Line(spans)])


def _sought(page: Page, goal: Goal) -> Page:
    """The page with the words that are searched for, and the line of the place that was stepped to."""
    if not isinstance(page.lines, list):
        from leafward_tui.inspector.model.context import ContextLines

        at = page.lines.line_of(goal.entry) if isinstance(page.lines, ContextLines) else -1
        return replace(page, words=goal.words, hits={at: ()} if at >= 0 else {}, goal=at)
    from leafward_tui.inspector.model.sought import Sought

    hits = Sought(goal.words).places(page.lines)
    lines = [at for at in sorted(hits) for _ in hits[at]]
    # A page may say less than the entries hold: what is folded, or too long.
    return replace(page, hits=hits, goal=lines[min(goal.number, len(lines) - 1)] if lines else -1)
