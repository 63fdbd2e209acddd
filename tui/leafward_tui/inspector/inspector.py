"""The inspector: four tabs over what the cursor rests on. Pages are built behind; the old one stays until then."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from leafward.session.entries import EntryIndex
from leafward_tui.inspector.jobs import PageRequest, build_page
from leafward_tui.inspector.view import AIR, MARGIN, PageView
from leafward_tui.ui.inspector_pane import CopyWanted, EntryWanted, PageShown, TabChanged, XRayWanted
from leafward_tui.ui.page import XRAY, Gauge, Page, Selection, Tab
from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult


_GAP = 3
"""Cells between two tabs."""


class TabRule(Widget):
    """The tabs and the rule below them; the rule's heavy part is the tab that is open."""

    DEFAULT_CSS = "TabRule { height: 2; width: 1fr; background: $lw-bg; }"

    @dataclass(eq=False, repr=False)
    class TabChosen(Message):
        """A tab was clicked."""

        rule: TabRule
        tab: Tab

        @property
        def control(self) -> TabRule:
            """The tabs it came from."""
            return self.rule

    def __init__(self) -> None:
        super().__init__()
        self.tab = Tab.ENTRY
        self.focused_below = False
        """Whether the page has the keys."""

    def places(self) -> list[tuple[Tab, int, int]]:
        """Each tab with its first cell and the one behind its last; a narrow pane has smaller gaps."""
        words = sum(len(tab) for tab in Tab)
        gap = _GAP if words + _GAP * (len(Tab) - 1) + 2 <= self.size.width else 1
        found: list[tuple[Tab, int, int]] = []
        at = MARGIN
        for tab in Tab:
            found.append((tab, at, at + len(tab)))
            at += len(tab) + gap
        return found

    def render_line(self, y: int) -> Strip:
        """The words, then the rule."""
        shell = services_of(self)
        ground, glyphs = shell.styles_now.bg, shell.glyphs
        width = self.size.width
        places = self.places()
        if y == 0:
            segments: list[Segment] = []
            at = 0
            for tab, start, stop in places:
                style = ground.strong if tab is self.tab else ground.faint
                segments += [Segment(" " * (start - at), ground.blank), Segment(str(tab), style)]
                at = stop
            return Strip(segments).adjust_cell_length(width, ground.blank)
        _, start, stop = next(place for place in places if place[0] is self.tab)
        heavy = min(stop + 1, width) - max(start - 1, 0)
        style = ground.leaf if self.focused_below else ground.sub
        segments = [
            Segment(glyphs.hairline * max(start - 1, 0), ground.line),
            Segment(glyphs.heavy * heavy, style),
            Segment(glyphs.hairline * max(0, width - stop - 1), ground.line),
        ]
        return Strip(segments).adjust_cell_length(width, ground.blank)

    def on_click(self, event: events.Click) -> None:
        """A click near a word is that tab."""
        for tab, start, stop in self.places():
            if start - 1 <= event.x <= stop:
                event.stop()
                self.post_message(self.TabChosen(self, tab))
                return


class Inspector(Widget):
    """The right pane of the explorer."""

    DEFAULT_CSS = "Inspector { layout: vertical; background: $lw-bg; width: 1fr; height: 1fr; }"

    def __init__(self, *, tabs: bool = True, gauge: Gauge | None = None, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self._tab = Tab.ENTRY
        self._gauge = gauge
        self._selection: Selection | None = None
        self._toggled_by: dict[Tab, frozenset[str]] = {}
        self._words = ""
        self._shown: tuple[Selection | None, Tab, str] = (None, Tab.ENTRY, "")
        self._measured = (0, 0)
        self.rule = TabRule()
        self.rule.display = tabs
        self.view = PageView()
        self.built = 0
        """Pages built so far; work counted for tests."""

    def compose(self) -> ComposeResult:
        """The tabs and the page."""
        self._jobs = services_of(self).jobs(self)
        yield self.rule
        yield self.view

    # --- what is asked of it ------------------------------------------------------------------------------------------

    @property
    def tab(self) -> Tab:
        """The tab that is open."""
        return self._tab

    @property
    def selection(self) -> Selection | None:
        """What is shown, or about to be."""
        return self._selection

    @property
    def page(self) -> Page | None:
        """The page on the screen."""
        return self.view.page

    def show(self, selection: Selection | None) -> None:
        """Shows another selection, as soon as its page is built; None empties the pane."""
        if selection == self._selection:
            return
        self._selection = selection
        self._toggled_by = {}
        self._rebuild()

    def reload(self) -> None:
        """Builds the page anew: the session has grown, or what it is measured by has changed."""
        self._rebuild()

    def show_tab(self, tab: Tab) -> None:
        """Opens a tab."""
        if tab is self._tab:
            return
        self._tab = tab
        self.rule.tab = tab
        self.rule.refresh()
        self.post_message(TabChanged(tab))
        self._rebuild()

    def seek(self, words: str) -> None:
        """Lights words that are searched for, unfolds what holds them, and goes there; empty for none."""
        if words != self._words:
            self._words = words
            self._rebuild()

    def show_gauge(self, gauge: Gauge | None) -> None:
        """Measures contexts by another window."""
        if gauge != self._gauge:
            self._gauge = gauge
            if self._tab is Tab.CONTEXT:
                self._rebuild()

    def show_tabs(self, shown: bool) -> None:
        """Shows the tabs, or leaves them to the screen."""
        self.rule.display = shown

    def focus(self, scroll_visible: bool = True) -> Inspector:
        """Gives the page the keys."""
        self.view.focus(scroll_visible)
        return self

    def copied_text(self) -> str:
        """What a copy takes now: the line under the cursor, or the page."""
        return self.view.copied_text()

    # --- building -----------------------------------------------------------------------------------------------------

    def _room(self) -> tuple[int, int]:
        """Cells and rows of a page: all but the margin and air before the scrollbar."""
        region = self.view.scrollable_content_region
        return region.width - MARGIN - AIR, region.height

    def on_resize(self) -> None:
        """Another width is another page."""
        self.call_after_refresh(self._remeasure)

    def _remeasure(self) -> None:
        if self._room() != self._measured:
            self._rebuild()

    def _rebuild(self) -> None:
        if not self.is_mounted:
            return
        width, height = self._room()
        if width < 8 or height < 1:
            self._measured = (0, 0)
            self._jobs.cancel("page")
            return
        self._measured = (width, height)
        if self._selection is None:
            self._jobs.cancel("page")
            self.view.show(None, keep_place=False)
            self._shown = (None, self._tab, "")
            return
        services = services_of(self)
        request = PageRequest(
            self._tab,
            self._selection,
            width,
            height,
            services.glyphs,
            services.config,
            self._toggled_by.get(self._tab, frozenset()),
            self._gauge,
            self._words,
        )
        self._jobs.latest("page", partial(build_page, request), self._show_page)

    def _show_page(self, page: Page) -> None:
        self.built += 1
        # Where words are no longer searched for, or stand nowhere here, the page stays where it is.
        words = self._words if page.hits else self._shown[2]
        now = (self._selection, self._tab, words)
        self.view.show(page, keep_place=now == self._shown)
        self._shown = (self._selection, self._tab, self._words)
        self.post_message(PageShown(self._tab))

    # --- what its parts say -------------------------------------------------------------------------------------------

    def on_page_view_line_opened(self, message: PageView.LineOpened) -> None:
        """Opens or closes a section, or asks for the entry."""
        message.stop()
        line = message.line
        if line.toggle.startswith(XRAY):
            self.post_message(XRayWanted(int(line.toggle.removeprefix(XRAY))))
        elif line.toggle:
            self._toggled_by[self._tab] = self._toggled_by.get(self._tab, frozenset()) ^ {line.toggle}
            self._rebuild()
        elif line.entry >= 0:
            self.post_message(EntryWanted(EntryIndex(line.entry)))

    def on_page_view_tab_stepped(self, message: PageView.TabStepped) -> None:
        """Goes round the tabs."""
        message.stop()
        tabs = list(Tab)
        self.show_tab(tabs[(tabs.index(self._tab) + message.step) % len(tabs)])

    def on_page_view_text_wanted(self, message: PageView.TextWanted) -> None:
        """Hands the wish on."""
        message.stop()
        self.post_message(CopyWanted(message.text))

    def on_tab_rule_tab_chosen(self, message: TabRule.TabChosen) -> None:
        """Opens the tab that was clicked."""
        message.stop()
        self.show_tab(message.tab)

    def on_descendant_focus(self) -> None:
        """The rule shows that the keys go here."""
        self.rule.focused_below = True
        self.rule.refresh()

    def on_descendant_blur(self) -> None:
        """The rule shows that they do not."""
        self.rule.focused_below = False
        self.rule.refresh()
