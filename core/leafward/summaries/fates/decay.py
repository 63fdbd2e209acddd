"""The loss of facts over successive compactions: facts of one span, followed through every later summary."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.session.messages import message_text
from leafward.summaries.fates.report import SURVIVED, facts_of, survival
from leafward.summaries.survival.spans import compactions, replaced_by

if TYPE_CHECKING:
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session
    from leafward.summaries.facts.values import Fact, FactKind


@dataclass(frozen=True, slots=True)
class Generation:
    """The facts that first occurred in the span which one compaction replaced."""

    compaction: EntryIndex
    """The compaction that replaced the span."""
    born: dict[FactKind, int]
    """The number of facts by kind; those of earlier generations are not counted again."""
    alive: tuple[tuple[EntryIndex, dict[FactKind, int]], ...]
    """For this compaction and each later one the number of facts in the context right after it."""


def decay(session: Session, at: int | None = None) -> list[Generation]:
    """The generations of facts on the path to an entry (the leaf by default), one for each compaction on it."""
    spans = [replaced_by(session, compaction) for compaction in compactions(session, at)]
    kept = ["\n".join(message_text(message.message) for message in span.kept) for span in spans]
    seen: set[tuple[FactKind, str]] = set()
    generations: list[list[Fact]] = []
    alive: list[list[tuple[EntryIndex, dict[FactKind, int]]]] = []
    # Each context is asked for all facts before it at once: it is read the first time.
    for span, tail in zip(spans, kept, strict=True):
        facts = [fact for fact in facts_of(span.messages, session.cwd) if (fact.kind, fact.key) not in seen]
        seen.update((fact.kind, fact.key) for fact in facts)
        generations.append(facts)
        alive.append([])
        for born, counted in zip(generations, alive, strict=True):
            fates = survival(born, span.summary, injected=span.injected, kept=tail, cwd=session.cwd).fates
            there = Counter(fate.fact.kind for fate in fates if fate.status in SURVIVED)
            counted.append((span.compaction, dict(there)))
    return [
        Generation(span.compaction, dict(Counter(fact.kind for fact in facts)), tuple(counted))
        for span, facts, counted in zip(spans, generations, alive, strict=True)
    ]
