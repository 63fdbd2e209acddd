"""The user's objections to work and answers: requests that are taken back, answers that are called wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.summaries.facts.demands import denies, refutes, takes_back
from leafward.summaries.facts.prose import content_words
from leafward.summaries.summarizers.candidates import OUTCOME, Evidence, add
from leafward.summaries.summarizers.outline import Section, harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.session.entries import EntryIndex
    from leafward.summaries.summarizers.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

CLAIMS = frozenset({Section.DECISIONS, Section.CONTEXT, Section.NEXT})
"""Sections whose lines are claims of the model."""


def taken_back(turns: Sequence[Turn]) -> dict[int, int]:
    """The number of the prompt that takes a turn back, by the number of that turn."""
    return {number - 1: number for number, turn in enumerate(turns) if number and takes_back(turn.text)}


def take_back(evidence: Evidence, messages: Sequence[SpanMessage], turns: Sequence[Turn]) -> None:
    """Leaves out the work that the user took back, and adds a line about that."""
    for number, by in taken_back(turns).items():
        turn, words = turns[number], turns[by]
        entries = {messages[place].entry for place in range(turn.first, words.first)}
        evidence.candidates = [
            candidate
            for candidate in evidence.candidates
            if candidate.first or not candidate.sources or not entries.issuperset(candidate.sources)
        ]
        text = f"{harmless(turn.text, 100)} ({harmless(words.text, 160)})"
        add(evidence, Section.DECISIONS, text, (turn.entry, words.entry), 1.0, lead="Taken back: ")


def refute(evidence: Evidence, messages: Sequence[SpanMessage], turns: Sequence[Turn]) -> None:
    """Leaves out answers of the model that the user called wrong."""
    wrong: dict[EntryIndex, frozenset[str]] = {}
    for number, turn in enumerate(turns[1:]):
        before = turns[number]
        if before.answer and (
            refutes(turn.own) or (denies(turn.own) and not before.answer.rstrip("*_ )").endswith(("?", "？")))
        ):
            wrong[messages[before.last].entry] = frozenset(content_words(turn.own))
            _forget_outcome(evidence, before.entry, wrong[messages[before.last].entry])
    if wrong:
        evidence.candidates = [
            candidate
            for candidate in evidence.candidates
            if not candidate.sources
            or not wrong.keys() >= set(candidate.sources)
            or not (
                candidate.section in CLAIMS
                # Other work stays.
                or (
                    candidate.section is Section.DONE and wrong[candidate.sources[0]] & _words(candidate.text)
                )
            )
        ]


def _words(text: str) -> frozenset[str]:
    return frozenset(content_words(text))


def _forget_outcome(evidence: Evidence, request: EntryIndex, about: frozenset[str]) -> None:
    """Removes the outcome from the line of a request where the user called that outcome wrong."""
    for candidate in evidence.candidates:
        asked, outcome, came = candidate.text.partition(OUTCOME)
        if outcome and candidate.sources == (request,) and about & _words(came):
            candidate.text = asked
