"""The head of a pane: its tabs, quiet words at the right, and the rule whose heavy part says where keys go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from leafward_tui.ui.cells import cell_len, fit
from leafward_tui.ui.hairline import rule_under
from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from textual import events

__all__ = ["PaneHead"]


class PaneHead(Widget):
    """Two rows: tabs with words, then the rule."""

    DEFAULT_CSS = "PaneHead { height: 2; width: 1fr; }"

    @dataclass
    class TabWanted(Message):
        """A tab was clicked."""

        head: PaneHead
        tab: str

        @property
        def control(self) -> PaneHead:
            """The head it came from."""
            return self.head

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self._tabs: tuple[str, ...] = ()
        self._active = ""
        self._note = ""
        self._right = ""
        self._focused = False
        self._spans: list[tuple[int, int, str]] = []

    def show(
        self, tabs: tuple[str, ...], active: str, *, note: str = "", right: str = "", focused: bool = False
    ) -> None:
        """Sets everything: tabs, the active one, quiet words beside them and at the edge, whether keys go here."""
        wanted = (tabs, active, note, right, focused)
        if wanted != (self._tabs, self._active, self._note, self._right, self._focused):
            self._tabs, self._active, self._note, self._right, self._focused = wanted
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Tabs, then the rule."""
        if y == 0:
            return self._names(self.size.width)
        active = ((start, stop) for start, stop, tab in self._spans if tab == self._active)
        return rule_under(self, next(active, (2, 6)), focused=self._focused)

    def _names(self, width: int) -> Strip:
        shell = services_of(self)
        ground, glyphs = shell.styles_now.bg, shell.glyphs
        gap = 3 if sum(cell_len(tab) + 3 for tab in self._tabs) + 2 <= width else 1
        at = 2
        segments = [Segment("  ", ground.blank)]
        self._spans = []
        for tab in self._tabs:
            segments += [
                Segment(tab, ground.strong if tab == self._active else ground.faint),
                Segment(" " * gap, ground.blank),
            ]
            self._spans.append((at, at + cell_len(tab), tab))
            at += cell_len(tab) + gap
        right = self._right if at + cell_len(self._right) + 1 <= width else ""
        room = width - at - cell_len(right) - 1
        note = self._note if cell_len(self._note) + 2 <= room else ""
        segments += [
            Segment(fit(note, max(0, room), pad=True, ellipsis=glyphs.ellipsis), ground.faint),
            Segment(right, ground.faint),
        ]
        return Strip(segments).adjust_cell_length(width, ground.blank)

    def on_click(self, event: events.Click) -> None:
        """A click on a tab wants it."""
        for start, stop, tab in self._spans:
            if event.y == 0 and start <= event.x < stop + 1:
                self.post_message(self.TabWanted(self, tab))
