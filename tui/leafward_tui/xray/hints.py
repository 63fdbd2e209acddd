"""Texts of the X-ray's title and key bar in its present state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.compaction.xray.alignment import Link
from leafward_tui.ui.bars.key_bar import Hint
from leafward_tui.ui.bars.title_bar import Fact
from leafward_tui.ui.text.cells import count, exact
from leafward_tui.ui.text.times import moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.compaction.xray.alignment import XRay
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.xray.model.arrangement import Piece
    from leafward_tui.xray.state import XRayState


def title_facts(state: XRayState, found: Fact | None, glyphs: Glyphs) -> list[Fact]:
    """The compaction or the context edits on show, the search, and the number of lost facts."""
    session, facts = state.session, []
    if state.compaction >= 0:
        entry = session.entry(state.compaction)
        glyph = glyphs.edited if state.of_edits else glyphs.compaction
        name = "context edit" if state.of_edits else "compaction"
        named = f"{glyph} #{state.compaction:,}"
        facts.append(Fact(f"{name} {named}", short=named, keep=5))
        if entry.timestamp:
            facts.append(Fact(moment(entry.timestamp), keep=1))
    else:
        facts.append(Fact("planned, not written", short="planned", keep=5, hue="ghost"))
    if state.loaded.xray is not None and (edits := _edits_fact(state.loaded.xray, glyphs)) is not None:
        facts.append(edits)
    if found is not None:
        facts.append(found)
    facts += state.file.facts()
    fates = state.loaded.fates
    if fates is not None and fates.lost:
        word, hue = ("may be lost", "sub") if fates.unreadable else ("lost", "warn")
        facts.append(
            Fact(
                f"{counted(len(fates.lost), 'fact')} {word}",
                short=f"{len(fates.lost):,} {word}",
                keep=4,
                hue=hue,
            )
        )
    return facts


def _edits_fact(xray: XRay, glyphs: Glyphs) -> Fact | None:
    """The number of messages that context edits left out or replaced, and the freed tokens; None without edits."""
    if not xray.of_edits:
        return None
    number = sum(row.link is Link.CUT or row.cut > 0 for row in xray.rows)
    if not number:
        return None
    # The same as in the sheet before the edit, and the difference of the totals; single messages are estimates.
    freed = xray.before - xray.after
    about = "" if xray.recorded and xray.recorded_before else "~"
    words = f"{number:,} edited, {about}{exact(freed)} tokens freed"
    return Fact(
        f"{glyphs.edited} {words}", short=f"{glyphs.edited} {about}{count(freed)} freed", keep=4, hue="warn"
    )


def hints_of(state: XRayState, piece: Piece | None, *, searched: bool) -> Sequence[Hint]:
    """The keys that matter now; `piece` is the one under the cursor."""
    loaded = state.loaded
    reload = (Hint("session.reload"),) if state.file.changed else ()
    if loaded.xray is None:
        return (*reload, Hint("app.back"))
    enter = "open fold" if piece is not None and piece.fold else "go to source"
    if piece is not None and piece.cell.line < 0 and not piece.fold:
        enter = "show entry"
    pin = (Hint("fact.pin"),) if loaded.fates is not None and loaded.fates.lost else ()
    leave = "end search" if searched else "show all" if state.folds.only is not None else "back"
    return (
        *reload,
        Hint("pane.next", "other side", "side"),
        Hint("source.go", enter, enter.rpartition(" ")[2]),
        Hint(("change.next", "change.previous"), *(("hit",) if searched else ("next change", "change"))),
        *pin,
        *((Hint("edits.undo"),) if loaded.undo_op else ()),
        Hint("mode.leave", leave),
        Hint("xray.find"),
        Hint("kept.fold", "fold kept", "fold"),
        Hint("summaries.compare", "compare summary", "compare"),
        Hint(("only.kept", "only.replaced"), "only kept, summarised", "only"),
    )
