"""How likely a fact is needed again: what a summary spends its room on.

The shares were counted on real sessions cut at several places: how often a fact that the kept messages did not hold came
back afterwards, by kind, by who said it, and by how many entries had held it. Nothing after the cut is looked at here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.summaries.facts import Fact, FactKind, Voice
from leafward.summaries.summarizers import unless_cancelled

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.summaries.summarizers.candidates import Evidence

_SHARE: dict[FactKind, dict[Voice, float]] = {
    FactKind.PATH: {
        Voice.USER: 0.35,
        Voice.CHANGED: 0.35,
        Voice.AGENT: 0.35,
        Voice.TOLD: 0.30,
        Voice.CALL: 0.10,
        Voice.CODE: 0.08,
        Voice.THOUGHT: 0.05,
        Voice.OUTPUT: 0.04,
    },
    FactKind.IDENTIFIER: {
        Voice.USER: 0.40,
        Voice.AGENT: 0.30,
        Voice.TOLD: 0.30,
        Voice.CODE: 0.30,
        Voice.CALL: 0.20,
        Voice.THOUGHT: 0.20,
        Voice.OUTPUT: 0.05,
    },
    FactKind.COMMAND: dict.fromkeys(Voice, 0.02),
    FactKind.NUMBER: {**dict.fromkeys(Voice, 0.06), Voice.OUTPUT: 0.02},
    FactKind.ERROR: dict.fromkeys(Voice, 0.03),
    FactKind.URL: dict.fromkeys(Voice, 0.20),
    FactKind.TODO: dict.fromkeys(Voice, 0.12),
    FactKind.CONSTRAINT: dict.fromkeys(Voice, 0.0),
    FactKind.DECISION: dict.fromkeys(Voice, 0.0),
}
_RECURRENCE: dict[FactKind, tuple[float, float, float, float]] = {
    FactKind.PATH: (0.5, 0.9, 1.2, 1.8),
    FactKind.IDENTIFIER: (0.8, 1.1, 1.2, 1.3),
    FactKind.COMMAND: (0.5, 4.0, 12.0, 20.0),
    FactKind.NUMBER: (0.7, 1.0, 2.0, 4.0),
}
"""By how many entries hold it: one, two, three, more."""
_EVENLY = (1.0, 1.0, 1.0, 1.0)

_AT_HAND = 1.5
"""What a name gains that stands in a file which the kept messages or the last part of the span work on."""


def likely(
    evidence: Evidence, held: Callable[[Fact], bool], stop: Callable[[], bool]
) -> dict[tuple[FactKind, str], float]:
    """For each fact how likely it is needed, 0…1; 0 where the kept messages hold it. Raises Cancelled."""
    total = max(1, evidence.size)
    at_hand: set[str] = set()
    for work in evidence.files.values():
        # A path that is the end of one longer path counts as that path, and is no fact by itself.
        fact = evidence.facts.get((FactKind.PATH, work.path))
        if work.changes and (work.last >= 0.8 * total or (fact is not None and held(fact))):
            at_hand.update(work.names)
    found: dict[tuple[FactKind, str], float] = {}
    for identity, fact in unless_cancelled(evidence.facts.items(), stop):
        if held(fact):
            found[identity] = 0.0
            continue
        times = _RECURRENCE.get(fact.kind, _EVENLY)[min(4, len(fact.entries)) - 1]
        recency = 0.7 + 0.3 * (evidence.position.get(fact.last, 0) + 1) / total
        chance = _SHARE[fact.kind][fact.voice] * times * recency
        if fact.kind is FactKind.IDENTIFIER and fact.key in at_hand:
            chance *= _AT_HAND
        found[identity] = min(0.9, chance)
    return found
