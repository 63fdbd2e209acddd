"""The pane with the keys, and the page of the text pane."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward_tui.lab.controllers.controller import LabController, LabMeans
from leafward_tui.lab.state import AREAS, PAGES, TABS

if TYPE_CHECKING:
    from leafward_tui.lab.controllers.display import Display
    from leafward_tui.lab.controllers.prompt import PromptReader


class PaneLayout(LabController):
    """Owns `state.layout`."""

    def __init__(self, means: LabMeans, display: Display, prompt: PromptReader) -> None:
        super().__init__(means)
        self._display = display
        self._prompt = prompt
        self.actions = {
            "pane.next": partial(self.step, 1),
            "pane.previous": partial(self.step, -1),
            "lab.page": self.turn_page,
            "lab.whole": self.toggle_whole,
        }

    def go_to(self, area: str, page: str | None = None) -> None:
        """Gives the keys to a pane, which is shown if it was not."""
        layout = self._state.layout
        page = "Summary" if area == "fates" else page or layout.page
        changed = page != layout.page
        layout.area, layout.page = area, page
        self._display.arrange()
        self._view.panes.focus_area(area)
        if changed:
            self._display.show_text()
            if page == "Prompt" and self._state.prompt.sending is None:
                self._prompt.read()
        self._view.show_hints()

    def step(self, by: int) -> None:
        """Goes to the next pane, or the one before; where one has all the room, to the next page of the bar."""
        layout = self._state.layout
        if self._view.panes.columns_shown == 1:
            tabs = {"cut": "Cut", "plan": "Plan", "fates": "Lost"}
            here = TABS.index(tabs.get(layout.area, layout.page))
            self.go_to_tab(TABS[(here + by) % len(TABS)])
            return
        areas = [area for area in AREAS if area != "fates" or layout.page == "Summary"]
        at = areas.index(layout.area) if layout.area in areas else 0
        self.go_to(areas[(at + by) % len(areas)])

    def turn_page(self) -> None:
        """Turns to the next page: summary, prompt, injected text, exam."""
        layout = self._state.layout
        at = (PAGES.index(layout.page) + 1) % len(PAGES) if layout.area in ("text", "fates") else 0
        self.go_to("text", PAGES[at])

    def toggle_whole(self) -> None:
        """Gives all the room to the pane with the keys, or shares it again."""
        layout = self._state.layout
        if not layout.whole and self._view.panes.columns_shown == 1:
            self._view.tell("this pane has all the room already")
            return
        layout.whole = not layout.whole
        self.go_to(layout.area)

    def go_to_tab(self, tab: str) -> None:
        """Goes to the page of the clicked tab."""
        if tab in PAGES:
            self.go_to("text", tab)
        else:
            self.go_to({"Cut": "cut", "Plan": "plan", "Lost": "fates"}[tab])

    def take_focus(self, area: str) -> None:
        """Takes a click on a pane, which gave it the keys."""
        if area != self._state.layout.area:
            self._state.layout.area = area
            self._display.show_heads()
            self._view.show_hints()
