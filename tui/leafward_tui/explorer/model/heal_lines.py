"""What heals a session, as lines: every change with the entry it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward_tui.explorer.model.write_words import named
from leafward_tui.ui.cells import fit, right, wrap
from leafward_tui.ui.pane_lines import LabLine, LazyLines, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.branches.refused_blocks import Change
    from leafward_tui.ui.glyphs import Glyphs
    from leafward_tui.ui.pane_lines import Lines

__all__ = ["change_lines"]

_PLACE = 9
_LONGEST = 400
"""Characters shown of one change."""


def change_lines(changes: Sequence[Change], width: int, glyphs: Glyphs) -> Lines:
    """The changes in the order of the session: what is missing, odd or too much, what becomes of it, and where."""
    room = max(12, width - _PLACE)
    rows: list[tuple[Change, str, bool]] = []
    for one in changes:
        text = safe_line(one.text, _LONGEST)
        short = len(text) <= room and text.isascii()
        parts = [text] if short else wrap(text, room, lines=4, ellipsis=glyphs.ellipsis)
        rows += [(one, part, at == 0) for at, part in enumerate(parts)]

    def made(y: int) -> LabLine:
        change, text, first = rows[y]
        place = named(change.entry) if change.entry >= 0 else "all"
        spans = (
            Span(fit(text, room, pad=True), "text"),
            Span(right(place if first else "", _PLACE), "faint"),
        )
        return LabLine(spans)

    return LazyLines(len(rows), made)
