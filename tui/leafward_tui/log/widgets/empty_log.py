"""What stands in the place of an empty log."""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from leafward_tui.ui.cells import fit
from leafward_tui.ui.services import services_of

__all__ = ["EmptyLog"]

_SENTENCE = "No operation yet: nothing was moved, labelled, named or archived, here or in the agent."


class EmptyLog(Widget):
    """One sentence."""

    DEFAULT_CSS = "EmptyLog { width: 1fr; height: 1fr; display: none; }"

    def render_line(self, y: int) -> Strip:
        """The sentence, below an empty line where there is room."""
        ground = services_of(self).styles_now.bg
        width = self.size.width
        if y != min(1, self.size.height - 1):
            return Strip.blank(width, ground.blank)
        segments = [Segment("  ", ground.blank), Segment(fit(_SENTENCE, width - 3), ground.nothing)]
        return Strip(segments).adjust_cell_length(width, ground.blank)
