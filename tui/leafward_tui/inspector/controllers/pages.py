"""The page of the selection on the open tab: built behind, while the one before stays."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward_tui.inspector.state import Goal
from leafward_tui.ui.inspector_tab import Tab

if TYPE_CHECKING:
    from leafward_tui.inspector.ports import InspectorView
    from leafward_tui.inspector.state import InspectorState
    from leafward_tui.ui.page import Gauge, Page, Selection
    from leafward_tui.ui.services import AppServices, Jobs

__all__ = ["Pages"]


class Pages:
    """Builds a page whenever what it is made of changes."""

    def __init__(self, state: InspectorState, view: InspectorView, services: AppServices, jobs: Jobs) -> None:
        self._state, self._view, self._services, self._jobs = state, view, services, jobs

    def show(self, selection: Selection | None) -> None:
        """Another selection, with every section as it is at first."""
        if selection != self._state.selection:
            self._state.selection = selection
            self._state.toggled = {}
            self.rebuild()

    def show_tab(self, tab: Tab) -> None:
        """Opens a tab."""
        if tab is not self._state.tab:
            self._state.tab = tab
            self._view.show_tab_open(tab)
            self.rebuild()

    def seek(self, goal: Goal) -> None:
        """Lights words that are searched for, unfolds what holds them, and goes to one of their places."""
        if goal != self._state.goal:
            self._state.goal = goal
            self.rebuild()

    def step_tab(self, step: int) -> None:
        """Goes round the tabs."""
        tabs = list(Tab)
        self.show_tab(tabs[(tabs.index(self._state.tab) + step) % len(tabs)])

    def measure_by(self, gauge: Gauge | None) -> None:
        """Measures contexts by another window."""
        if gauge != self._state.gauge:
            self._state.gauge = gauge
            if self._state.tab is Tab.CONTEXT:
                self.rebuild()

    def toggle(self, section: str) -> None:
        """Opens or closes a section of the page."""
        tab = self._state.tab
        self._state.toggled[tab] = self._state.toggled.get(tab, frozenset()) ^ {section}
        self.rebuild()

    def remeasure(self) -> None:
        """Another width is another page."""
        if self._view.room != self._state.measured:
            self.rebuild()

    def rebuild(self) -> None:
        """Builds the page anew: what it shows or what it is measured by has changed."""
        state = self._state
        width, height = self._view.room
        if width < 8 or height < 1:
            state.measured = (0, 0)
            self._jobs.cancel("page")
            return
        state.measured = (width, height)
        if state.selection is None:
            self._jobs.cancel("page")
            self._view.show_page(None, keep_place=False)
            state.shown = (None, state.tab, Goal())
            return
        # Not needed for the first frame.
        from leafward_tui.inspector.jobs import PageRequest, build_page

        services = self._services
        request = PageRequest(
            state.tab,
            state.selection,
            width,
            height,
            services.glyphs,
            services.config,
            state.toggled.get(state.tab, frozenset()),
            state.gauge,
            state.goal,
        )
        self._jobs.latest("page", partial(build_page, request), self._show)

    def _show(self, page: Page) -> None:
        state = self._state
        state.built += 1
        # Where words are no longer searched for, or stand nowhere here, the page stays where it is.
        goal = state.goal if page.hits else state.shown[2]
        self._view.show_page(page, keep_place=(state.selection, state.tab, goal) == state.shown)
        state.shown = (state.selection, state.tab, state.goal)
