"""What heals a session, as lines: every change with the entry it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward_tui.explorer.model.write_words import named
from leafward_tui.ui.cells import cell_len, fit, right, wrap
from leafward_tui.ui.pane_lines import Block, LabLine, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.branches.healing import Change
    from leafward_tui.ui.glyphs import Glyphs

__all__ = ["change_lines"]

_PLACE = 9
_LONGEST = 400
"""Characters shown of one change."""


def change_lines(changes: Sequence[Change], width: int, glyphs: Glyphs) -> Block:
    """The changes in the order of the session: what is missing, odd or too much, what becomes of it, and where."""
    lines = []
    codes = max((cell_len(one.code) for one in changes), default=0)
    room = max(12, width - codes - 2 - _PLACE)
    for one in changes:
        place = named(one.entry) if one.entry >= 0 else "all"
        texts = wrap(safe_line(one.text, _LONGEST), room, lines=3, ellipsis=glyphs.ellipsis) or [""]
        for at, text in enumerate(texts):
            lines.append(
                LabLine(
                    (
                        Span(fit(one.code if not at else "", codes, pad=True), "sub"),
                        Span("  ", "blank"),
                        Span(fit(text, room, pad=True), "text"),
                        Span(right(place if not at else "", _PLACE), "faint"),
                    )
                )
            )
    return Block(lines)
