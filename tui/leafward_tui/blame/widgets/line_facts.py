"""All facts of one line: its turn, the request, the agent's answer, the checks after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import fit, right, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward_tui.blame.model.blame_text import LineFact
    from leafward_tui.ui.appearance.theme import Ground

_NAME = 9


class LineFacts(Painted):
    """The facts below each other; spare room goes to the long ones, from the first."""

    DEFAULT_CSS = "LineFacts { width: 1fr; height: 7; }"

    def __init__(self) -> None:
        super().__init__(id="facts")
        self._head: tuple[str, str] = ("", "")
        self._facts: Sequence[LineFact] = ()

    def show(self, head: tuple[str, str], facts: Sequence[LineFact]) -> None:
        """Shows the facts of a line."""
        self._head, self._facts = head, facts
        self.refresh()

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """One line of the facts."""
        lines = [self._title(width, ground), *self._lines(width, self.size.height - 1, ground)]
        return [Segment(" ", ground.blank), *(lines[y] if y < len(lines) else [])]

    def _title(self, width: int, ground: Ground) -> list[Segment]:
        name, about = self._head
        return [
            Segment(name, ground.strong),
            Segment(right(about, max(0, width - 2 - cell_len(name))), ground.faint),
        ]

    def _lines(self, width: int, height: int, ground: Ground) -> list[list[Segment]]:
        ellipsis = services_of(self).glyphs.ellipsis
        left, found = max(0, height - len(self._facts)), []
        for fact in self._facts:
            at = _NAME if fact.name else 0
            room = max(8, width - 2 - at)
            lines = wrap(fact.text, room, lines=1 + left, ellipsis=ellipsis) or [""]
            left -= len(lines) - 1
            for number, line in enumerate(lines):
                name = fact.name if not number else ""
                found.append(
                    [
                        Segment(fit(name, at, pad=True), ground.faint),
                        Segment(line, getattr(ground, fact.ink)),
                    ]
                )
        return found
