"""Texts of the lab's title and key bar in its present state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.base.strategies import Strategy
from leafward_tui.lab.model.choices import AS_IT_IS
from leafward_tui.lab.model.fates import lost_facts
from leafward_tui.lab.model.paid_summaries import worth_keeping
from leafward_tui.lab.state import Mode
from leafward_tui.ui.bars.key_bar import Hint
from leafward_tui.ui.bars.title_bar import Fact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward_tui.lab.model.what_if import WhatIf
    from leafward_tui.lab.state import LabState
    from leafward_tui.ui.appearance.glyphs import Glyphs

_FOCUS = 40
"""Characters of the focus that the title shows."""


def title_facts(state: LabState, glyphs: Glyphs) -> list[Fact]:
    """The place of the planned compaction, and remarks on the file."""
    path = state.path
    where = f"planned at #{path.at:,}" if path.at >= 0 else "planned at the beginning"
    if path.what_if is None and not path.trouble:
        where = "measuring the path"
    if path.beside >= 0:
        compaction = f"{glyphs.compaction} #{path.beside:,}"
        corrects = path.what_if is not None and path.what_if.choices.summarizer == AS_IT_IS
        where = f"Correcting {compaction}" if corrects else f"{where}, beside {compaction}"
    facts = [Fact(where, short=where, keep=3, hue="text")]
    if path.what_if is not None and (focus := path.what_if.choices.focus):
        facts.append(Fact(f"focus: {safe_line(focus, _FOCUS)}", short="focused", keep=2))
    facts += state.file.since.facts()
    if path.shut:
        facts.append(Fact("read only", keep=4, hue="warn"))
    else:
        facts.append(Fact("nothing is written until you accept", short="", keep=1))
    return facts


def hints_of(state: LabState, *, alone: bool) -> Sequence[Hint]:
    """The keys that matter now; `alone` where the terminal has room for one pane."""
    if state.path.trouble or state.what_if is None:
        return (Hint("mode.leave", "back"),)
    if state.mode is Mode.EDIT:
        return (Hint("mode.leave", "keep edit", "keep"), Hint("compaction.accept"))
    if state.mode is Mode.STREAM:
        return (Hint("mode.leave", "cancel the summary", "cancel"),)
    nothing = state.what_if.plan.nothing
    written = state.draft is not None and not state.larger(state.draft)
    accept = Hint("compaction.accept") if written else Hint("summary.run", "summarise")
    kept = nothing or (state.draft is not None and worth_keeping(state.draft))
    leave = Hint("mode.leave", "all panes" if state.layout.whole else "back" if kept else "discard")
    pages = (Hint("pane.next", "next page", "page"),) if alone else ()
    more = [Hint("summarizer.choose")]
    if state.draft is not None:
        more.insert(0, Hint("summary.edit"))
    if not nothing:
        more.append(Hint("draft.xray"))
    if len(state.drafts.runs) > 1:
        more.append(Hint("runs.compare"))
    return (
        *(() if nothing else (accept,)),
        leave,
        *pages,
        *_of_area(state, state.what_if, alone=alone),
        *more,
    )


def _of_area(state: LabState, what_if: WhatIf, *, alone: bool) -> Sequence[Hint]:
    """The keys of the pane with the focus, where they do something."""
    area = state.layout.area
    source = () if what_if.plan.nothing else (Hint("lab.choose", "source"),)
    if area == "fates":
        draft = state.shown_draft
        lost = lost_facts(draft.survival, what_if.pinned) if draft is not None else []
        pin_all = (Hint("lost.pin_all"),) if any(not fact.pinned for fact in lost) else ()
        return (Hint("lost.pin"), *pin_all, *source) if lost else ()
    if area == "text":
        whole = (
            () if alone else (Hint("lab.whole", "whole pane", "whole"), Hint("lab.page", "next page", "page"))
        )
        return (*whole, *source)
    slide = Hint(("slider.less", "slider.more"), "slide")
    strategies = Hint(tuple(f"strategy.{one}" for one in Strategy), "strategy")
    if area == "plan":
        return (slide, strategies, Hint("injection.switch"))
    ways = () if what_if.plan.nothing else (("cut.down", 1, "keep less"), ("cut.up", -1, "keep more"))
    cuts = [(key, words) for key, step, words in ways if what_if.next_cut(step) >= 0]
    if len(cuts) == len(ways) and cuts:
        return (slide, Hint(("cut.down", "cut.up"), "keep less, more", "cut"), strategies)
    return (slide, *(Hint(key, words) for key, words in cuts), strategies)
