"""Which rules of the user's stand: what takes one back says what it is about, and seldom in the same words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward.summaries.facts.demands import is_for_once, revoked
from leafward.summaries.facts.prose import content_words, list_items
from leafward.summaries.facts.values import DROPPED, FactKind, Sighting, Voice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.session.entries import EntryIndex

_SAME = 2
"""Words that a rule has in common at least with the sentence that takes it back, where that has so many."""

_STEM = 3
"""Letters that two forms of a word share at least."""


@dataclass(slots=True)
class StandingRules:
    """The rules that the user set so far, and what was taken back."""

    _told: dict[str, str] = field(default_factory=dict)
    """By the key of their fact."""
    _revoked: list[frozenset[str]] = field(default_factory=list)

    def set(self, sightings: Iterable[Sighting]) -> None:
        """Takes in what a prompt demands."""
        for seen in sightings:
            if seen.kind is FactKind.CONSTRAINT and seen.voice is Voice.USER:
                self._told[seen.key] = seen.text

    def revoke(self, sentences: Iterable[str], entry: EntryIndex) -> Iterator[Sighting]:
        """Takes in the sentences of a prompt; the rules that they take back."""
        for about in filter(None, map(revoked, sentences)):
            self._revoked.append(about)
            for key in [key for key, rule in self._told.items() if _is_about(rule, about)]:
                rule = self._told.pop(key)
                yield Sighting(
                    FactKind.CONSTRAINT, key, rule, Voice.USER, entry, outcome=DROPPED, is_open=False
                )

    def is_revoked(self, rule: str) -> bool:
        """Whether the user took back a rule that was told before anything else."""
        return any(_is_about(rule, about) for about in self._revoked)


def _is_about(rule: str, about: frozenset[str]) -> bool:
    words = content_words(rule)
    same = sum(any(_is_form(word, other) for other in words) for word in about)
    return same >= min(_SAME, len(about)) and 2 * same >= len(about)


def _is_form(one: str, other: str) -> bool:
    """Whether two words are one, or one of them in another form."""
    shorter, longer = sorted((one, other), key=len)
    return one == other or (len(shorter) >= _STEM and longer.startswith(shorter))


def ends_with_answer(demand: str, prompt: str, *, ordered: bool) -> bool:
    """Whether a demand of a prompt binds what is done about that alone. `ordered`: something was to be written just before."""
    items = list_items(prompt)
    amid = items if any(demand in item for item in items) else ()
    return is_for_once(demand, ordered=ordered, amid=amid)
