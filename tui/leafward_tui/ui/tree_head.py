"""The head of a list or tree: its name or, on a narrow screen, all panes as tabs; the number columns; the rule below them."""

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


__all__ = ["NumberColumns", "TreeHead"]


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


class TreeHead(Widget):
    """Two rows: tabs and column headings, then the title rule with its heavy part below the pane in use."""

    DEFAULT_CSS = "TreeHead { height: 2; width: 1fr; }"

    @dataclass(eq=False, repr=False)
    class TabWanted(Message):
        """A tab was clicked; `tab` is its name."""

        head: TreeHead
        tab: str

        @property
        def control(self) -> TreeHead:
            """The head it came from."""
            return self.head

    def __init__(self) -> None:
        super().__init__()
        self._tabs: tuple[str, ...] = ("Tree",)
        self._active = "Tree"
        self._note = ""
        self._columns: NumberColumns | None = None
        self._focused = True
        self._spans: list[tuple[int, int, str]] = []

    def show(
        self, *, tabs: tuple[str, ...], active: str, note: str, columns: NumberColumns | None, focused: bool
    ) -> None:
        """Sets everything: the tabs, the active one, a quiet word beside it, the number columns, whether keys go here."""
        wanted = (tabs, active, note, columns, focused)
        if wanted != (self._tabs, self._active, self._note, self._columns, self._focused):
            self._tabs, self._active, self._note, self._columns, self._focused = wanted
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Headings, then the rule."""
        if y == 0:
            return self._headings(self.size.width)
        active = ((start, stop) for start, stop, tab in self._spans if tab == self._active)
        return rule_under(self, next(active, (1, 7)), focused=self._focused)

    def _headings(self, width: int) -> Strip:
        shell = services_of(self)
        ground = shell.styles_now.bg
        at = 2
        segments = [Segment("  ", ground.blank)]
        self._spans = []
        for tab in self._tabs:
            segments += [
                Segment(tab, ground.strong if tab == self._active else ground.faint),
                Segment("   ", ground.blank),
            ]
            self._spans.append((at, at + cell_len(tab), tab))
            at += cell_len(tab) + 3
        numbers = self._columns.numbers if self._columns is not None else ()
        taken = sum(cells for _, cells in numbers) + 1
        room = (self._columns.width if self._columns is not None else width) - at - taken
        segments.append(
            Segment(fit(self._note, max(0, room), pad=True, ellipsis=shell.glyphs.ellipsis), ground.faint)
        )
        segments += [Segment(right(name, cells), ground.faint) for name, cells in numbers]
        segments.append(Segment(" ", ground.blank))
        return Strip(segments).adjust_cell_length(width, ground.blank)

    def on_click(self, event: events.Click) -> None:
        """A click on a tab wants it."""
        for start, stop, tab in self._spans:
            if event.y == 0 and start <= event.x < stop + 1:
                self.post_message(self.TabWanted(self, tab))
