"""The page of the selection on the open tab: built in a job, while the one before stays."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward_tui.inspector.page_request import Goal, PageRequest
from leafward_tui.inspector.tab import Tab

if TYPE_CHECKING:
    from leafward_tui.inspector.page import ContextLimits, Page, Selection
    from leafward_tui.inspector.ports import InspectorView
    from leafward_tui.inspector.state import InspectorState
    from leafward_tui.ui.jobs import Job, Jobs
    from leafward_tui.ui.services import AppServices


class Pages:
    """Builds a page whenever its inputs change."""

    def __init__(self, state: InspectorState, view: InspectorView, services: AppServices, jobs: Jobs) -> None:
        self._state, self._view, self._services, self._jobs = state, view, services, jobs
        self._about: tuple[object, ...] = ()
        """The inputs of the last job, but for the entries of its selection."""

    def show(self, selection: Selection | None) -> None:
        """Shows another selection, with every section in its first state; one that has grown keeps its sections and its place."""
        before = self._state.selection
        if selection != before:
            self._state.selection = selection
            if _head(selection) != _head(before):
                self._state.toggled = {}
            self.rebuild()

    def show_tab(self, tab: Tab) -> None:
        """Opens a tab."""
        if tab is not self._state.tab:
            self._state.tab = tab
            self._view.show_tab_open(tab)
            self.rebuild()

    def seek(self, goal: Goal) -> None:
        """Lights the words of a search, unfolds the sections that hold them, and goes to one of the hits."""
        if goal != self._state.goal:
            self._state.goal = goal
            self.rebuild()

    def step_tab(self, step: int) -> None:
        """Goes to the next tab, around the ends."""
        tabs = list(Tab)
        self.show_tab(tabs[(tabs.index(self._state.tab) + step) % len(tabs)])

    def measure_by(self, limits: ContextLimits | None) -> None:
        """Measures contexts by another window and onset; None where neither is known."""
        if limits != self._state.limits:
            self._state.limits = limits
            if self._state.tab is Tab.CONTEXT:
                self.rebuild()

    def toggle(self, section: str) -> None:
        """Opens or closes a section of the page."""
        tab = self._state.tab
        self._state.toggled[tab] = self._state.toggled.get(tab, frozenset()) ^ {section}
        self.rebuild()

    def remeasure(self) -> None:
        """Builds the page again for another width."""
        if self._view.room != self._state.measured:
            self.rebuild()

    def rebuild(self) -> None:
        """Builds the page again, because its content or the limits of its context have changed."""
        state = self._state
        width, height = self._view.room
        has_room = width >= 8 and height >= 1
        state.measured = (width, height) if has_room else (0, 0)
        if state.selection is None:
            self._jobs.cancel("page")
            self._view.show_page(None, keep_place=False)
            state.shown = (None, state.tab, Goal())
            return
        if not has_room:
            self._jobs.cancel("page")
            return
        services = self._services
        request = PageRequest(
            state.tab,
            state.selection,
            width,
            height,
            services.glyphs,
            services.config,
            state.toggled.get(state.tab, frozenset()),
            state.limits,
            state.goal,
        )
        about = *request[:1], _head(state.selection), *request[2:]
        if about == self._about and self._jobs.running("page"):
            # A session that grows faster than a page is built would never show one.
            self._jobs.after("page", self.rebuild)
            return
        self._about = about
        self._jobs.latest("page", partial(build_page, request), self._show)

    def _show(self, page: Page) -> None:
        state = self._state
        state.built += 1
        # Where the search has ended, or has no hit here, the page stays where it is.
        goal = state.goal if page.hits else state.shown[2]
        before, tab, goal_before = state.shown
        same = (_head(state.selection), state.tab, goal) == (_head(before), tab, goal_before)
        self._view.show_page(page, keep_place=same)
        state.shown = (state.selection, state.tab, state.goal)


def _head(selection: Selection | None) -> object:
    """The identity of a selection, which stays the same while its turn grows."""
    return selection and (id(selection.session), selection.head, selection.kind)


def build_page(request: PageRequest, job: Job) -> Page:
    """A page, or one with a line on why there is none: the file is gone, or a defect of ours."""
    # Not needed for the first frame.
    from leafward_tui.inspector.model.pages import build
    from leafward_tui.inspector.page import Page, PageLine
    from leafward_tui.ui.text.spans import Span

    try:
        page = build(request, job.unwanted)
        return _sought(page, request.goal) if request.goal.words else page
    except Exception as error:
        strerror = error.strerror if isinstance(error, OSError) else ""
        reason = strerror or f"{type(error).__name__}: {error}"
        spans = (
            Span(f"{request.glyphs.malformed} ", "bad"),
            Span(safe_line(f"this cannot be shown: {reason}", request.width - 2), "warn"),
        )
        return Page(request.tab, [PageLine(), PageLine(spans)])


def _sought(page: Page, goal: Goal) -> Page:
    """The page with the hits of the search, and the line of the hit to go to."""
    if not isinstance(page.lines, list):
        from leafward_tui.inspector.model.context import ContextLines

        at = page.lines.line_of(goal.entry) if isinstance(page.lines, ContextLines) else -1
        return replace(page, words=goal.words, hits={at: ()} if at >= 0 else {}, goal=at)
    from leafward_tui.inspector.model.search_phrase import SearchPhrase

    hits = SearchPhrase(goal.words).places(page.lines)
    lines = [at for at in sorted(hits) for _ in hits[at]]
    # A page may hold less than the entries: text is folded or too long.
    return replace(page, hits=hits, goal=lines[min(goal.number, len(lines) - 1)] if lines else -1)
