"""The head of the list of sessions: headings of the columns, and the rule whose heavy part is the focus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.message import Message

from leafward.catalogue.lineage import Sort
from leafward_tui.catalogue.widgets.session_row import TEXT_AT, SessionColumns
from leafward_tui.ui.panes.hairline import title_rule
from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import fit, right

if TYPE_CHECKING:
    from textual import events

    from leafward_tui.ui.appearance.theme import Ground

_SORTED = {"context": Sort.TOKENS, "size": Sort.SIZE, "when": Sort.WHEN, "turns": Sort.TURNS}
"""The sort of each column that can be sorted by."""


class ListHead(Painted):
    """`Sessions` with the headings of the columns, and the rule whose heavy part is the focus. Two rows."""

    DEFAULT_CSS = "ListHead { height: 2; width: 1fr; }"

    @dataclass
    class SortPressed(Message):
        """A heading was clicked."""

        sort: Sort

    def __init__(self) -> None:
        super().__init__()
        self._sort = Sort.WHEN
        self._order = ""
        self._agents = False
        self._lit = True
        self._bare = True

    def show(self, sort: Sort, order: str, *, agents: bool, lit: bool, bare: bool = False) -> None:
        """Sets the head: `lit` while the list has the focus; `bare` leaves out the headings of an empty list.

        `order` is the grouping and the order in words.
        """
        state = (sort, order, agents, lit, bare)
        if state != (self._sort, self._order, self._agents, self._lit, self._bare):
            self._sort, self._order, self._agents, self._lit, self._bare = state
            self.refresh()

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """Headings, then the rule."""
        if y == 1:
            return title_rule(
                services_of(self).glyphs, ground, width, ground.leaf if self._lit else ground.edge
            )
        columns = SessionColumns.of(width - 1, agents=self._agents, sort=self._sort)
        room = TEXT_AT + columns.text - 1
        title = "Sessions"
        order = f"   {self._order}" if self._order and not self._bare else ""
        order = order if len(title) + len(order) <= room else ""
        pieces = [
            Segment(" ", ground.blank),
            Segment(title, ground.strong if self._lit else ground.faint),
            Segment(fit(order, room - len(title), pad=True), ground.faint),
        ]
        for name, size, gap in columns.shown:
            heading = "" if name == "agent" or self._bare else name
            style = ground.text if _SORTED.get(name) is self._sort else ground.faint
            pieces += [Segment(" " * gap, ground.blank), Segment(right(heading, size), style)]
        return pieces

    def on_click(self, event: events.Click) -> None:
        """Sorts by the column that was clicked; by name on the text."""
        columns = SessionColumns.of(self.size.width - 1, agents=self._agents, sort=self._sort)
        end = TEXT_AT + columns.text
        if event.x < end:
            self.post_message(self.SortPressed(Sort.NAME))
            return
        for name, size, gap in columns.shown:
            if end <= event.x < end + gap + size and name in _SORTED:
                self.post_message(self.SortPressed(_SORTED[name]))
            end += gap + size
