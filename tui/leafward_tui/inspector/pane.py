"""The inspector: tabs over the details of the cursor. Composes and routes; pages are built by its controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.inspector.controllers.pages import Pages
from leafward_tui.inspector.messages import (
    EntryWanted,
    ExamWanted,
    PageShown,
    TabChanged,
    XRayWanted,
)
from leafward_tui.inspector.page_request import Goal
from leafward_tui.inspector.state import InspectorState
from leafward_tui.inspector.tab import Tab
from leafward_tui.inspector.widgets.page_view import AIR, MARGIN, PageView
from leafward_tui.ui.delay import Delay
from leafward_tui.ui.panes.painted import Pane
from leafward_tui.ui.panes.tab_head import TabHead
from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from leafward_tui.inspector.page import ContextLimits, Page, Selection


_PATIENCE = 0.3
"""Seconds for which the page of the tab before stays."""


class Inspector(Pane):
    """The right pane of the explorer."""

    def __init__(self, *, limits: ContextLimits | None = None, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self.state = InspectorState(limits)
        services = services_of(self)
        self._pages = Pages(self.state, self, services, services.jobs(self))
        self._waiting = Delay(self.set_timer)
        self.head = TabHead(margin=0)
        self._show_head(focused=False)
        self.view = PageView()

    def compose(self) -> ComposeResult:
        """The tabs and the page."""
        yield self.head
        yield self.view

    # --- its interface ------------------------------------------------------------------------------------------------

    @property
    def tab(self) -> Tab:
        """The tab that is open."""
        return self.state.tab

    @property
    def page(self) -> Page | None:
        """The page on the screen; None before the first one."""
        return self.view.page

    @property
    def file(self) -> str:
        """The file under the cursor, as the session names it; empty where the keys go elsewhere, or for none."""
        page, at, top = self.view.page, self.view.cursor, self.view.scroll_offset.y
        in_sight = top <= at < top + self.view.scrollable_content_region.height
        if page is None or not self.view.has_focus or not in_sight or at >= len(page.lines):
            return ""
        return page.lines[at].file

    def show(self, selection: Selection | None) -> None:
        """Shows another selection, as soon as its page is built; None empties the pane."""
        self._pages.show(selection)

    def reload(self) -> None:
        """Builds the page again, because the session has grown, or the limits of its context have changed."""
        self._pages.rebuild()

    def show_tab(self, tab: Tab) -> None:
        """Opens a tab."""
        self._pages.show_tab(tab)

    def seek(self, words: str, number: int = 0, entry: int = -1) -> None:
        """Lights the words of a search, unfolds the sections that hold them, and goes to a hit; no words end the search.

        `number` is the hit's number within the selection, from 0; where each message is one line, the hit is the one of
        `entry`.
        """
        self._pages.seek(Goal(words, number, entry))

    def set_limits(self, limits: ContextLimits | None) -> None:
        """Measures contexts by another window and onset; None where neither is known."""
        self._pages.measure_by(limits)

    def show_tabs(self, shown: bool) -> None:
        """Shows the tabs, or leaves them to the screen."""
        if shown != self.head.display:
            self.head.display = shown

    def focus(self, scroll_visible: bool = True) -> Inspector:
        """Gives the page the keys."""
        self.view.focus(scroll_visible)
        return self

    # --- its port -----------------------------------------------------------------------------------------------------

    @property
    def room(self) -> tuple[int, int]:
        """Cells and rows of a page: all but the margin and air before the scrollbar."""
        if not self.is_mounted:
            return 0, 0
        region = self.view.scrollable_content_region
        return region.width - MARGIN - AIR, region.height

    def show_page(self, page: Page | None, *, keep_place: bool) -> None:
        """Shows a page from its top or, for the same page built again, at its place; None empties the pane."""
        self.view.show(page, keep_place=keep_place)
        if page is not None:
            self.post_message(PageShown(page.tab))

    def show_tab_open(self, tab: Tab) -> None:
        """Marks the open tab, and posts that it is open; a page that takes long shows so."""
        self._show_head(focused=self.view.has_focus)
        self.post_message(TabChanged(tab))
        self._waiting.start(_PATIENCE, self._say_waiting)

    def _say_waiting(self) -> None:
        """Empties the page of the tab before, which would seem to be that of the open tab."""
        before, tab = self.page, self.state.tab
        if self.state.selection is None or (before is not None and self.state.shown[1] is tab):
            return
        self.view.show(None, keep_place=False, waiting=f"counting{services_of(self).glyphs.ellipsis}")

    # --- messages of its parts ----------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Builds the page again for another width."""
        self.call_after_refresh(self._pages.remeasure)

    def on_page_view_line_opened(self, message: PageView.LineOpened) -> None:
        """Opens or closes a section, or asks for the entry."""
        from leafward.session.entries import EntryIndex
        from leafward_tui.inspector.page import EXAM, XRAY

        message.stop()
        line = message.line
        if line.toggle.startswith(XRAY):
            self.post_message(XRayWanted(int(line.toggle.removeprefix(XRAY))))
        elif line.toggle.startswith(EXAM):
            self.post_message(ExamWanted(int(line.toggle.removeprefix(EXAM))))
        elif line.toggle:
            self._pages.toggle(line.toggle)
        elif line.entry >= 0:
            self.post_message(EntryWanted(EntryIndex(line.entry)))

    def on_page_view_tab_stepped(self, message: PageView.TabStepped) -> None:
        """Goes to the next tab, around the ends."""
        message.stop()
        self._pages.step_tab(message.step)

    def on_page_view_text_wanted(self, message: PageView.TextWanted) -> None:
        """Copies a line or the page."""
        message.stop()
        services_of(self).copy(message.text)

    def on_tab_head_tab_wanted(self, message: TabHead.TabWanted) -> None:
        """Opens the tab that was clicked."""
        message.stop()
        self._pages.show_tab(Tab(message.tab))

    def on_descendant_focus(self) -> None:
        """Draws the rule heavy, because the keys go here."""
        self._show_head(focused=True)

    def on_descendant_blur(self) -> None:
        """Draws the rule light, because the keys go elsewhere."""
        self._show_head(focused=False)

    def _show_head(self, *, focused: bool) -> None:
        self.head.show(tuple(Tab), self.state.tab, focused=focused)
