"""The gate before a compaction is written: rules and unfinished steps that the model would no longer see.

Pins need no gate: `draft_assembly` adds every pin that a summary lacks, whoever wrote or edited it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.compaction.draft.draft_assembly import edited
from leafward.compaction.stored_summary.pins import clean_pins
from leafward.summaries.facts.calls.declined_calls import DECLINED
from leafward.summaries.facts.calls.printed_errors import ended_with
from leafward.summaries.facts.sentences.remaining_work import remains
from leafward.summaries.facts.values import ANSWERED, FactKind, Voice
from leafward.summaries.fates.report import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.compaction.draft.draft import Draft
    from leafward.summaries.facts.values import Fact
    from leafward.summaries.fates.report import Fate, Survival

_GUARDED = frozenset({FactKind.CONSTRAINT, FactKind.TODO})
_GONE = frozenset({Status.LOST, Status.CONTRADICTED})
LONGEST_PIN = 400
"""Most characters of a pin; no sentence that is a fact has more."""


def unseen(survival: Survival) -> tuple[Fate, ...]:
    """Constraints and open todos that are in neither summary, injected context nor kept messages, or that the summary contradicts.

    The heaviest come first. What was demanded with a request that was answered since is left out, unless it lasts. So is a step of a
    checklist in a file, as the file still has it, and a step from an earlier summary that this summary calls done, as nothing else
    records its outcome.
    """
    found = [
        fate
        for fate in survival.fates
        if fate.fact.kind in _GUARDED
        and fate.status in _GONE
        and fate.fact.voice is not Voice.CODE
        and not (_called_done(fate) or _is_answered(fate.fact))
    ]
    return tuple(sorted(found, key=lambda fate: -fate.fact.weight))


def _called_done(fate: Fate) -> bool:
    told = fate.fact.kind is FactKind.TODO and fate.fact.voice is Voice.TOLD
    return told and fate.status is Status.CONTRADICTED


def _is_answered(fact: Fact) -> bool:
    return fact.kind is FactKind.CONSTRAINT and fact.outcome == ANSWERED


def pin_text(fact: Fact) -> str:
    """The line of a pinned fact: the fact as written; for a command, also its outcome; for a step that does not say so, that it is open.

    Bare tokens become sentences when they are pinned (`pins.as_sentences`), as only the session holds their context.
    """
    text = safe_line(fact.text, LONGEST_PIN)
    if fact.kind is FactKind.TODO and not remains(fact.text):
        return f"Still to do when this was pinned: {text}"
    if fact.kind is not FactKind.COMMAND:
        return text
    if fact.outcome == DECLINED:
        return f"The user declined the command `{text}`."
    return f"The command `{text}` {ended_with(fact.outcome) if fact.outcome else 'came up'}."


def gate_pins(draft: Draft) -> tuple[str, ...]:
    """Pins for everything that is unseen after a draft."""
    return tuple(pin_text(fate.fact) for fate in unseen(draft.survival))


def pinned(before: Draft, pins: Iterable[str]) -> Draft:
    """The draft with pins added to its summary, without writing the summary again."""
    said = (message for _, message in before.ground.there.replaced)
    every = tuple(dict.fromkeys([*before.pins, *clean_pins(pins, said)]))
    return edited(replace(before, pins=every), before.summary.text)
