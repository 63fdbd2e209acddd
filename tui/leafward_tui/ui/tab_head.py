"""The head of a pane: tabs, quiet words, the names of number columns; below it the rule whose heavy part says where keys go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rich.segment import Segment
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from leafward_tui.ui.cells import cell_len, fit, right
from leafward_tui.ui.hairline import rule_under
from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from textual import events

__all__ = ["NumberColumns", "TabHead"]

_INDENT = 2
"""Cells before the first tab."""
_GAP, _NARROW_GAP = 3, 1
"""Cells behind a tab, and where the tabs would not fit otherwise."""
_NO_TAB = (2, 6)
"""Where the heavy part lies when no tab is active: its first cell, and the one behind it."""


class NumberColumns(Protocol):
    """Where the number columns below the head stand."""

    @property
    def width(self) -> int:
        """Cells of a row."""
        ...

    @property
    def numbers(self) -> tuple[tuple[str, int], ...]:
        """Names of the columns at the right, with their cells."""
        ...


@dataclass(frozen=True, slots=True)
class _Content:
    tabs: tuple[str, ...] = ()
    active: str = ""
    note: str = ""
    right: str = ""
    columns: NumberColumns | None = None
    focused: bool = False


class TabHead(Widget):
    """Two rows: tabs with words or column names, then the rule."""

    DEFAULT_CSS = "TabHead { height: 2; width: 1fr; }"

    @dataclass(eq=False, repr=False)
    class TabWanted(Message):
        """A tab was clicked; `tab` is its name."""

        head: TabHead
        tab: str

        @property
        def control(self) -> TabHead:
            """The head it came from."""
            return self.head

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self._content = _Content()
        self._spans: list[tuple[int, int, str]] = []

    def show(
        self,
        tabs: tuple[str, ...],
        active: str,
        *,
        note: str = "",
        right: str = "",
        columns: NumberColumns | None = None,
        focused: bool = False,
    ) -> None:
        """Sets everything: tabs, the active one, quiet words beside them and at the edge, the number columns, whether keys go here.

        Where there are columns, they take the place of the words at the edge.
        """
        content = _Content(tabs, active, note, right, columns, focused)
        if content != self._content:
            self._content = content
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Tabs, then the rule."""
        content = self._content
        if y == 0:
            return self._names(content, self.size.width)
        active = ((start, stop) for start, stop, tab in self._spans if tab == content.active)
        return rule_under(self, next(active, _NO_TAB), focused=content.focused)

    def _names(self, content: _Content, width: int) -> Strip:
        services = services_of(self)
        ground = services.styles_now.bg
        gap = _GAP if sum(cell_len(tab) + _GAP for tab in content.tabs) + _INDENT <= width else _NARROW_GAP
        at = _INDENT
        segments = [Segment(" " * at, ground.blank)]
        self._spans = []
        for tab in content.tabs:
            style = ground.strong if tab == content.active else ground.faint
            segments += [Segment(tab, style), Segment(" " * gap, ground.blank)]
            self._spans.append((at, at + cell_len(tab), tab))
            at += cell_len(tab) + gap
        if content.columns is None:
            edge, end = content.right, width
        else:
            edge = "".join(right(name, cells) for name, cells in content.columns.numbers)
            end = content.columns.width
        if at + cell_len(edge) + 1 > end:
            edge = ""
        room = max(0, end - at - cell_len(edge) - 1)
        # Words at the edge would read as one with a note that is cut short.
        note = "" if content.right and cell_len(content.note) + 2 > room else content.note
        note = fit(note, room, pad=True, ellipsis=services.glyphs.ellipsis)
        segments += [Segment(note, ground.faint), Segment(edge, ground.faint)]
        return Strip(segments).adjust_cell_length(width, ground.blank)

    def on_click(self, event: events.Click) -> None:
        """A click on a tab wants it."""
        for start, stop, tab in self._spans:
            if event.y == 0 and start <= event.x < stop + 1:
                self.post_message(self.TabWanted(self, tab))
