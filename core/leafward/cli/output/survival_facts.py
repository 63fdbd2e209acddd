"""Facts that survive a compaction or not, as text and JSON: for `survival` and for a draft of `compact`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.base.figures import counted, percent
from leafward.base.safe_text import safe, safe_line
from leafward.base.shown_path import shortened
from leafward.cli.output.page import cells
from leafward.summaries.facts.values import FactKind

if TYPE_CHECKING:
    from leafward.cli.output.page import Page
    from leafward.session.session import Session
    from leafward.summaries.facts.values import Fact
    from leafward.summaries.fates.report import Fate, Survival


def survival_json(session: Session, found: Survival) -> dict[str, Any]:
    """A survival report as JSON."""
    return {
        "facts": [fate_json(session, fate) for fate in found.fates],
        "score": {str(kind): share for kind, share in found.score().items()},
        "overall": found.overall(),
        "unreadable": found.unreadable,
        "counts": {
            str(kind): {str(status): count for status, count in row.items()}
            for kind, row in found.counts().items()
        },
    }


def fate_json(session: Session, fate: Fate) -> dict[str, Any]:
    """A fact and what became of it as JSON."""
    fact = fate.fact
    return {
        "kind": str(fact.kind),
        "text": safe(fact.text),
        "entry": session.columns.id_at(fact.entry),
        "status": str(fate.status),
        "weight": fact.weight,
        "outcome": fact.outcome or None,
    }


def share_text(found: Survival, overall: float) -> str:
    """The share that survived, counted and by weight: the shares differ, as a rule weighs more than a number."""
    alive, there = found.alive()
    return f"{alive:,} of {counted(there, 'fact')} survive, {percent(overall, 1)} by weight"


def fact_text(fact: Fact, width: int, page: Page) -> str:
    """A fact in `width` cells; a path loses its middle, as paths differ at their ends."""
    text = safe_line(fact.text, 300)
    if fact.kind is FactKind.PATH:
        text = shortened(text, width, cells, page.gap)
    return page.fit(text, width)
