"""The row over the summary: its summariser and its progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import exact, fit

if TYPE_CHECKING:
    from leafward_tui.ui.appearance.theme import Ground


@dataclass(frozen=True, slots=True)
class Writing:
    """The content of the row over a summary."""

    verb: str
    """`writing`, `draft`, `edited`, `waiting`, …"""
    tokens: int = 0
    rate: float = 0.0
    """Tokens a second."""
    share: float | None = None
    """The progress, 0…1; None where nothing is under way."""
    key: str = ""
    """A key that helps, with its effect."""
    words: str = ""
    hue: str = ""
    short: str = ""
    """Instead of the first words where there is no room for them."""


class StateLine(Painted):
    """Two rows: words and numbers, then a thin line that fills."""

    DEFAULT_CSS = "StateLine { height: 2; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._state = Writing("")

    def show(self, state: Writing) -> None:
        """Sets all of the row."""
        if state != self._state:
            self._state = state
            self.refresh()

    @property
    def state(self) -> Writing:
        """The content on show."""
        return self._state

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """The words, then the line."""
        if y == 0:
            return self._words(width, ground)
        share, cells, glyphs = self._state.share, max(0, width - 2), services_of(self).glyphs
        if share is None:
            return []
        reached = min(cells, max(1, round(cells * share)))
        return [
            Segment(" ", ground.blank),
            Segment(glyphs.thin * reached, ground.leaf),
            Segment(glyphs.hairline * (cells - reached), ground.line),
        ]

    def _words(self, width: int, ground: Ground) -> list[Segment]:
        state = self._state
        ellipsis = services_of(self).glyphs.ellipsis
        ink = getattr(ground, state.hue or "sub")
        numbers = f"   {exact(state.tokens)} tokens" if state.tokens else ""
        rate = f"   {state.rate:.0f}/s" if state.rate else ""
        right = cell_len(state.key) + 1 + cell_len(state.words) if state.key else 0
        room = width - 4 - cell_len(numbers) - right
        if not state.short and room < cell_len(state.verb) <= room + right:
            # The key stands in the key bar too.
            room, right = room + right, 0
        if cell_len(state.verb) + cell_len(rate) <= room:
            numbers, room = numbers + rate, room - cell_len(rate)
        text = state.short if state.short and cell_len(state.verb) > room else state.verb
        verb = fit(text, max(4, room), ellipsis=ellipsis)
        segments = [Segment(" ", ground.blank), Segment(verb, ink), Segment(numbers, ground.sub)]
        gap = width - 1 - right - sum(segment.cell_length for segment in segments)
        if right and gap > 0:
            segments += [
                Segment(" " * gap, ground.blank),
                Segment(state.key, ground.strong),
                Segment(f" {state.words}", ground.faint),
            ]
        return segments
