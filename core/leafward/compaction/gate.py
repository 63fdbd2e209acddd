"""The gate before a compaction is written: rules and unfinished steps that the model would not see any more.

Pins need no gate: `run` puts every pin back into a summary that lacks it, whoever wrote or edited that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.compaction.draft_assembly import edited
from leafward.compaction.pins import clean_pins
from leafward.summaries.facts import FactKind, Voice
from leafward.summaries.facts.printed_errors import DECLINED
from leafward.summaries.survival import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.compaction.draft import Draft
    from leafward.summaries.facts import Fact
    from leafward.summaries.survival import Fate, Survival

_GUARDED = frozenset({FactKind.CONSTRAINT, FactKind.TODO})
_GONE = frozenset({Status.LOST, Status.CONTRADICTED})
_PIN = 400
"""Characters of a pin: a sentence that is a fact has no more."""


def unseen(survival: Survival) -> tuple[Fate, ...]:
    """The constraints and open todos that neither summary, injected context nor kept messages hold, or that the summary denies.

    What weighs most comes first. A step of a checklist that was written into a file is left out: the file still has it. So is
    one that an earlier summary told and this one calls done: nobody else says of such a step what became of it.
    """
    found = [
        fate
        for fate in survival.fates
        if fate.fact.kind in _GUARDED
        and fate.status in _GONE
        and fate.fact.voice is not Voice.CODE
        and not _called_done(fate)
    ]
    return tuple(sorted(found, key=lambda fate: -fate.fact.weight))


def _called_done(fate: Fate) -> bool:
    told = fate.fact.kind is FactKind.TODO and fate.fact.voice is Voice.TOLD
    return told and fate.status is Status.CONTRADICTED


def pin_text(fact: Fact) -> str:
    """The line that a pinned fact makes: the fact as written; of a command that it was run, and how it ended.

    Bare tokens are made sentences where they are pinned (`pins.as_sentences`): only the session knows what was said of them.
    """
    text = safe_line(fact.text, _PIN)
    if fact.kind is not FactKind.COMMAND:
        return text
    if fact.outcome == DECLINED:
        return f"The user declined the command `{text}`."
    ended = "failed" if fact.outcome == "failed" else f"ended with {fact.outcome}"
    return f"The command `{text}` {ended if fact.outcome else 'came up'}."


def gate_pins(draft: Draft) -> tuple[str, ...]:
    """Pins for all that is unseen after a draft."""
    return tuple(pin_text(fate.fact) for fate in unseen(draft.survival))


def pinned(before: Draft, pins: Iterable[str]) -> Draft:
    """A draft with pins put into its summary, which is not written anew for them."""
    every = tuple(dict.fromkeys([*before.pins, *clean_pins(pins)]))
    return edited(replace(before, pins=every), before.summary.text)
