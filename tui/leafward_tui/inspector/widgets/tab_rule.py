"""The tabs of the inspector and the rule below them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from leafward_tui.inspector.widgets.page_view import MARGIN
from leafward_tui.ui.page import Tab
from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from textual import events

__all__ = ["TabRule"]

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
