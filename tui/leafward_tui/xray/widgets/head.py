"""The heads over both sides: their names, numbers of messages and sizes, and the rules below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.message import Message

from leafward.base.figures import counted
from leafward_tui.ui.panes.hairline import tab_rule
from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import count, fit
from leafward_tui.xray.model.arrangement import Side
from leafward_tui.xray.model.painting import MIDDLE, SideColumns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual import events

    from leafward.compaction.xray.alignment import XRay
    from leafward_tui.ui.appearance.theme import Ground


class XRayHead(Painted):
    """Two rows over the columns; on a narrow screen both sides are tabs."""

    DEFAULT_CSS = "XRayHead { height: 2; width: 1fr; }"

    @dataclass
    class SideWanted(Message):
        """A head was clicked."""

        side: Side

    def __init__(self) -> None:
        super().__init__()
        self._xray: XRay | None = None
        self._side = Side.AFTER
        self._words: Mapping[Side, str] = {}
        self._spans: list[tuple[int, int, Side]] = []

    def show(self, xray: XRay | None, words: Mapping[Side, str], side: Side) -> None:
        """Shows the sizes of an X-ray, the names of the sides in `words`, and the side with the keys."""
        if (xray, words, side) != (self._xray, self._words, self._side):
            self._xray, self._words, self._side = xray, words, side
            self.refresh()

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """Names, then rules."""
        columns = SideColumns.fitting(width, self._side)
        return self._both(y, columns, ground) if columns.both else self._one(y, width, ground)

    def _both(self, y: int, columns: SideColumns, ground: Ground) -> list[Segment]:
        self._spans = [(0, columns.before, Side.BEFORE), (columns.after_at, columns.width, Side.AFTER)]
        gap = Segment(" " * MIDDLE, ground.blank)
        # The right side ends a cell earlier, beside the place of the scrollbar.
        left = self._part(y, Side.BEFORE, columns.before, 2, ground)
        return [*left, gap, *self._part(y, Side.AFTER, columns.after - 2, 1, ground)]

    def _part(self, y: int, side: Side, width: int, lead: int, ground: Ground) -> list[Segment]:
        glyphs = services_of(self).glyphs
        active = side is self._side
        if y == 1:
            heavy = min(width - lead, len(side.value) + 2)
            return [
                Segment(" " * lead, ground.blank),
                Segment(glyphs.heavy * heavy, ground.leaf if active else ground.sub),
                Segment(glyphs.hairline * max(0, width - lead - heavy), ground.line),
            ]
        messages, size = self._sizes(side)
        room = width - lead - len(side.value) - cell_len(messages) - cell_len(size) - 4
        about = self._words.get(side, "")
        return [
            Segment(" " * lead, ground.blank),
            Segment(side.value, ground.strong if active else ground.sub),
            Segment(
                fit(f"   {about}" if len(about) + 4 <= room else "", max(0, room), pad=True), ground.faint
            ),
            Segment(f"{messages}  ", ground.faint),
            Segment(f"  {size}", ground.strong),
        ]

    def _one(self, y: int, width: int, ground: Ground) -> list[Segment]:
        at = active = 2
        names: list[Segment] = [Segment(" " * at, ground.blank)]
        self._spans = []
        for side in Side:
            name = side.value
            names.append(Segment(name, ground.strong if side is self._side else ground.faint))
            names.append(Segment("   ", ground.blank))
            self._spans.append((at, at + len(name), side))
            if side is self._side:
                active = at
            at += len(name) + 3
        if y == 1:
            span = (active, active + len(self._side.value))
            return tab_rule(services_of(self).glyphs, ground, width, ground.leaf, span)
        messages, size = self._sizes(self._side)
        room = width - at - cell_len(messages) - cell_len(size) - 4
        about = self._words.get(self._side, "")
        return [
            *names,
            Segment(fit(about if len(about) <= room else "", max(0, room), pad=True), ground.faint),
            Segment(f"{messages}  ", ground.faint),
            Segment(f"{size} ", ground.strong),
        ]

    def _sizes(self, side: Side) -> tuple[str, str]:
        xray = self._xray
        if xray is None:
            return "", ""
        before = side is Side.BEFORE
        messages = xray.messages_before if before else xray.messages_after
        sign = "" if (xray.recorded_before if before else xray.recorded) else "~"
        size = count(xray.before if before else xray.after, zero="0")
        rest = " + not in file" if xray.is_short and not before else ""
        return counted(messages, "message"), f"{sign}{size}{rest}"

    def on_click(self, event: events.Click) -> None:
        """Goes to the side whose head was clicked."""
        for start, stop, side in self._spans:
            if start <= event.x <= stop:
                self.post_message(self.SideWanted(side))
                return
