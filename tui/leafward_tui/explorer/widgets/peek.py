"""Two lines under a narrow tree: the last words of the turn under the cursor, and the files it changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment

from leafward.base.safe_text import safe_line
from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import fit, wrap
from leafward_tui.ui.text.hits import lit

if TYPE_CHECKING:
    from leafward.files.working_set import FileChange
    from leafward_tui.ui.appearance.theme import Ground

_LABEL = 7
_LONGEST_LABEL = 13
_LINES = 2
_SHORT = {"extension": "ext"}
"""Shorter names of speakers whose names are longer than a label."""


class TurnDigest(NamedTuple):
    """The end of a turn."""

    word: str
    """The last speaker."""
    text: str
    changes: tuple[FileChange, ...]
    hit: str = ""
    """The words of a search, lit in the text; empty for none."""
    inside: bool = False
    """Whether the text begins in the middle of a message."""

    @property
    def label(self) -> str:
        """The last speaker, cut only where the name of a tool is longer than most."""
        return fit(_SHORT.get(self.word, self.word), _LONGEST_LABEL - 1)

    @property
    def label_cells(self) -> int:
        """Cells of the label and its gap."""
        return max(_LABEL, cell_len(self.label) + 1)

    def words(self, room: int, ellipsis: str) -> list[str]:
        """The words in lines of `room` cells: both lines where no file was changed."""
        text = (ellipsis if self.inside else "") + self.text
        return wrap(text, room, lines=1 if self.changes else _LINES, ellipsis=ellipsis)


class Peek(Painted):
    """Shows a glance at a turn."""

    DEFAULT_CSS = "Peek { height: 2; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._glance: TurnDigest | None = None

    def show(self, glance: TurnDigest | None) -> None:
        """Shows a glance, or nothing."""
        if glance != self._glance:
            self._glance = glance
            self.refresh()

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """Words, then files; more of the words where there are no files."""
        glyphs, glance = services_of(self).glyphs, self._glance
        if glance is None:
            return []
        cells = glance.label_cells
        room = width - cells - 2
        if y == 0 or not glance.changes:
            words = glance.words(room, glyphs.ellipsis)
            label = glance.label if y == 0 else ""
            return [
                Segment(" " + fit(label, cells, pad=True), ground.faint),
                *lit(words[y] if y < len(words) else "", glance.hit, ground.sub, ground.hit),
            ]
        segments = [Segment(" " + fit("files", cells, pad=True), ground.faint)]
        for number, change in enumerate(glance.changes):
            name = safe_line(change.path.rpartition("/")[2])
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
        return segments
