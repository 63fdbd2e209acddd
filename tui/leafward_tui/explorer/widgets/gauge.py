"""The gauge as a widget: it keeps a reading, and draws its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from leafward_tui.explorer.model.gauge_lines import Forecast, Load, Reading, gauge_lines
from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from rich.style import Style

    from leafward.compaction.plan.onset import Onset
    from leafward_tui.ui.appearance.theme import Ground


class Gauge(Painted):
    """Shows loads against the window. Four lines, two, or one beside the strip; one free cell at the right."""

    DEFAULT_CSS = "Gauge { height: 4; width: 36; background: $lw-bg; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self._reading = Reading()

    def _show(self, reading: Reading) -> None:
        if reading != self._reading:
            self._reading = reading
            self.refresh()

    def show(self, now: Load | None, window: int, onset: Onset | None = None) -> None:
        """Sets the present context (None: not known yet), its window, and the size at which its agent compacts."""
        self._show(self._reading._replace(now=now, window=window, onset=onset))

    def set_forecast(self, *, live: bool, forecast: Forecast | None) -> None:
        """Shows the distance to the next compaction while a session is live, and its effect where that is known."""
        self._show(self._reading._replace(live=live, forecast=forecast))

    def set_ghost(self, *, moving: bool, moved: Load | None = None) -> None:
        """Shows a proposed move; a load of None while that is computed."""
        self._show(self._reading._replace(moving=moving, moved=moved))

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """One of the gauge's lines; none before a session is read, or where it cannot be."""
        if not self._reading.window:
            return []
        lines = gauge_lines(width - 1, self.size.height, services_of(self).glyphs, self._reading)
        return [Segment(text, _style(ground, ink)) for text, ink in lines[y]] if y < len(lines) else []


def _style(ground: Ground, ink: str) -> Style:
    style: Style = getattr(ground, ink)
    return style
