"""What became of facts, as JSON: what `survival` says of a compaction and `compact` of a draft."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.base.safe_text import safe

if TYPE_CHECKING:
    from leafward.session.session import Session
    from leafward.summaries.survival import Fate, Survival


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
