"""The head of a pane: tabs, quiet words, names of number columns; below it a rule, heavy where keys go."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from rich.cells import cell_len
from rich.segment import Segment
from textual.message import Message

from leafward_tui.ui.panes.hairline import tab_rule
from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import fit, right

if TYPE_CHECKING:
    from textual import events

    from leafward_tui.ui.appearance.theme import Ground

_GAP, _NARROW_GAP = 3, 1
"""Cells after a tab, and where the tabs would not fit otherwise."""
_NO_TAB = (2, 6)
"""The place of the heavy part when no tab is active: its first cell, and the one after its last."""


class NumberColumns(Protocol):
    """The places of the number columns below the head."""

    @property
    def width(self) -> int:
        """Cells of a row."""
        ...

    @property
    def numbers(self) -> tuple[tuple[str, int], ...]:
        """Names of the columns at the right, with their cells."""
        ...


class _Content(NamedTuple):
    tabs: tuple[str, ...] = ()
    active: str = ""
    note: str = ""
    right: str = ""
    columns: NumberColumns | None = None
    focused: bool = False


class TabHead(Painted):
    """Two rows: tabs with words or column names, then the rule."""

    DEFAULT_CSS = "TabHead { height: 2; width: 1fr; }"

    class TabWanted(Message):
        """A tab was clicked; `tab` is its name."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, *, margin: int = 1, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self._margin = margin
        """Free cells at both ends of the rule, whose heavy part begins a cell before its tab."""
        self._content = _Content()

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
        """Sets tabs, the active one, quiet words beside them and at the edge, number columns, and whether keys go here.

        Where there are columns, they take the place of the words at the edge.
        """
        content = _Content(tabs, active, note, right, columns, focused)
        if content != self._content:
            self._content = content
            self.refresh()

    def places(self) -> list[tuple[str, int, int]]:
        """Each tab with its first cell and the one after its last; a narrow pane has smaller gaps."""
        at, gap = self._margin + 1, self._gap()
        found: list[tuple[str, int, int]] = []
        for tab in self._content.tabs:
            found.append((tab, at, at + cell_len(tab)))
            at = found[-1][2] + gap
        return found

    def _gap(self) -> int:
        tabs = self._content.tabs
        fits = self._margin + sum(map(cell_len, tabs)) + _GAP * (len(tabs) - 1) + 2 <= self.size.width
        return _GAP if fits else _NARROW_GAP

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """Tabs, then the rule."""
        content, places = self._content, self.places()
        if y:
            active = ((start, stop) for tab, start, stop in places if tab == content.active)
            ink = ground.leaf if content.focused else ground.sub
            glyphs, span = services_of(self).glyphs, next(active, _NO_TAB)
            return tab_rule(glyphs, ground, width, ink, span, self._margin)
        at = 0
        segments: list[Segment] = []
        for tab, start, stop in places:
            style = ground.strong if tab == content.active else ground.faint
            segments += [Segment(" " * (start - at), ground.blank), Segment(tab, style)]
            at = stop
        free = self._gap() if places else self._margin + 1
        segments.append(Segment(" " * free, ground.blank))
        at += free
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
        note = fit(note, room, pad=True, ellipsis=services_of(self).glyphs.ellipsis)
        return [*segments, Segment(note, ground.faint), Segment(edge, ground.faint)]

    def on_click(self, event: events.Click) -> None:
        """Posts the tab whose label or part of the rule was clicked."""
        for tab, start, stop in self.places():
            if start - 1 <= event.x <= stop:
                event.stop()
                self.post_message(self.TabWanted(tab))
                return
