"""Two lines under a narrow tree: the last words of the turn under the cursor, and the files it changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from leafward_tui.ui.cells import cell_len, fit
from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from leafward.files.working_set import FileChange

__all__ = ["Glance", "Peek"]

_LABEL = 7


class Glance(NamedTuple):
    """What a turn came to."""

    word: str
    """Who spoke last."""
    text: str
    changes: tuple[FileChange, ...]


class Peek(Widget):
    """Shows a glance at a turn."""

    DEFAULT_CSS = "Peek { height: 2; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._glance: Glance | None = None

    def show(self, glance: Glance | None) -> None:
        """Shows a glance, or nothing."""
        if glance != self._glance:
            self._glance = glance
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Words, then files."""
        shell = services_of(self)
        ground, glyphs, width = shell.styles_now.bg, shell.glyphs, self.size.width
        glance = self._glance
        if glance is None or (y and not glance.changes):
            return Strip([Segment(" " * width, ground.blank)], width)
        label = glance.word if y == 0 else "files"
        segments = [Segment(" " + fit(label, _LABEL, pad=True), ground.faint)]
        room = width - _LABEL - 2
        if y == 0:
            segments.append(Segment(fit(glance.text, room, ellipsis=glyphs.ellipsis), ground.sub))
            return Strip(segments).adjust_cell_length(width, ground.blank)
        for number, change in enumerate(glance.changes):
            name = change.path.rpartition("/")[2]
            more = f"{len(glance.changes) - number} more"
            pieces = [
                (name, ground.text),
                (f" +{change.added}", ground.leaf),
                (f" {glyphs.minus}{change.removed}", ground.bad),
            ]
            taken = sum(cell_len(text) for text, _ in pieces) + 3
            last = number == len(glance.changes) - 1
            if taken + (0 if last else len(more)) > room:
                segments.append(Segment(more, ground.faint))
                break
            segments += [Segment(text, style) for text, style in pieces]
            segments.append(Segment("   ", ground.blank))
            room -= taken
        return Strip(segments).adjust_cell_length(width, ground.blank)
