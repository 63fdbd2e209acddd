"""The tab Summary of two branches: its head; the lines are those of a comparison of summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.compare.model.files import HUES
from leafward_tui.ui.panes.pane_lines import SpanLine, blanks
from leafward_tui.ui.text.cells import fit
from leafward_tui.ui.text.spans import Span

if TYPE_CHECKING:
    from leafward.branches.diff.summaries import SummaryDifference
    from leafward_tui.ui.appearance.glyphs import Glyphs


def summary_head(summaries: SummaryDifference | None, width: int, glyphs: Glyphs) -> SpanLine:
    """The entries of both summaries."""
    if summaries is None:
        return SpanLine((Span("making the summaries", "nothing"),))
    found: list[Span] = []
    for letter, one in (("A", summaries.a), ("B", summaries.b)):
        where = f"stored in #{one.entry:,}" if one.entry >= 0 else "none stored: extracted just now"
        words = where if one.text else "no messages since the ancestor"
        room = width // 2 - 6
        found += [
            Span(f"{letter}  ", f"strong_{HUES[letter]}"),
            Span(fit(words, room, pad=letter == "A", ellipsis=glyphs.ellipsis), "sub"),
            blanks(2),
        ]
    return SpanLine(tuple(found))
