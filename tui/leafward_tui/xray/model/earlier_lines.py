"""The lines of a summary that an earlier one had: the compaction summarised it too, and wrote most of it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.compaction.stored_summary.summary_comparison import (
    LineRelation,
    paired,
    sections_of,
    summary_at,
)

if TYPE_CHECKING:
    from leafward.compaction.xray.alignment import XRay

_NOTES = {LineRelation.SAME: "as before", LineRelation.CHANGED: "rewritten"}


def earlier_lines(xray: XRay) -> dict[tuple[str, str], str]:
    """A note for each line that the earlier summary had or had similarly, by its heading and text; none without one."""
    cells = (row.before for row in xray.rows if row.before is not None)
    earlier = next((cell.entry for cell in cells if cell.role == "compactionSummary"), -1)
    if earlier < 0 or not xray.summary:
        return {}
    old, new = sections_of(summary_at(xray.session, earlier)), sections_of(xray.summary)
    return {
        (title, pair.after): _NOTES[pair.mark]
        for key, (title, lines) in new.items()
        for pair in paired(old.get(key, ("", []))[1], lines)
        if pair.mark in _NOTES and pair.after
    }
