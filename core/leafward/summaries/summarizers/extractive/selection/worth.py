"""The worth of a line: its own, and that of its facts that no chosen line has yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.cancellation import unless_cancelled
from leafward.session.entries import NO_ENTRY
from leafward.session.messages import message_text
from leafward.session.tokens import utf16_length
from leafward.summaries.facts.sentences.content_words import content_words, shared
from leafward.summaries.facts.values import FactKind, Voice
from leafward.summaries.summarizers.extractive.candidates import (
    FIRST_OF_ALL,
    Evidence,
    LineCandidate,
    leads_somewhere,
)
from leafward.summaries.summarizers.extractive.selection.name_lists import file_lines
from leafward.summaries.summarizers.extractive.selection.ranking import Chances, Ranking
from leafward.summaries.summarizers.extractive.selection.repeats import Repeats
from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.survival.text_match import FactMatch, FactText, file_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.summaries.summarizers.summary import Span

_PRICE = 6
"""The price of a line in units beyond its text."""
_FACT_WORTH = {SummarySection.DONE: 0.35, SummarySection.NEXT: 0.8}
"""The factor of a fact's likelihood in a line's worth: facts about finished work are needed less."""
_NEEDED = 4.0
"""The worth of a fact that is certainly needed, relative to the own worth of a line."""


class Worth:
    """The possible lines with their worth, and the content of the chosen ones."""

    def __init__(self, evidence: Evidence, span: Span, stop: Callable[[], bool], ranking: Ranking) -> None:
        """Weighs every line. Raises Cancelled."""
        self._reader = evidence.reader
        self._focus = tuple(sorted(set(content_words(span.focus))))
        kept = FactText.of(
            "\n".join([*(message_text(message) for _, message in span.kept), *span.quoted]), span.cwd
        )
        names = file_names(list(evidence.facts.values()))
        held = {FactMatch.VERBATIM, FactMatch.PARAPHRASED}
        self.likely = Chances(
            evidence, lambda fact: bool(kept.text) and kept.holds(fact, names) in held, ranking
        )
        """The likelihood of each fact to be needed."""
        self.named = evidence.named
        self.covered: set[tuple[FactKind, str]] = set()
        """The facts on chosen lines."""
        self.files = file_lines(evidence, self.likely)
        self.candidates = [*evidence.candidates, *(names.candidate for names in self.files)]
        for candidate in unless_cancelled(self.candidates, stop):
            self._weigh(candidate)
        self.repeats = Repeats(self.candidates)

    def _weigh(self, candidate: LineCandidate) -> None:
        """Finds the facts of a line."""
        found: set[tuple[FactKind, str]] = set(candidate.carries)
        for seen in self._reader.texts.prose(candidate.text, Voice.TOLD, NO_ENTRY):
            if (identity := (seen.kind, seen.key)) in self.likely:
                found.add(identity)
        candidate.facts = frozenset(found)
        candidate.ordered = tuple(sorted(found) if len(found) > 1 else found)
        candidate.words = frozenset(content_words(candidate.text))
        about = shared(self._focus, candidate.words) if self._focus else 0.0
        if (
            candidate.names_something
            and not about
            and not any(
                self.likely.get((kind, key)) and (kind is not FactKind.URL or leads_somewhere(key))
                for kind, key in found
            )
        ):
            candidate.worth, candidate.ordered = 0.0, ()
        candidate.worth *= 1 + 3 * about

    def gain(self, candidate: LineCandidate) -> float:
        """Worth per price, without content that was chosen already."""
        worth = 0.0 if self.repeats.has(candidate) else candidate.worth
        likely, covered, text = self.likely, self.covered, candidate.text
        needed = 0.0
        for identity in candidate.ordered:
            if identity not in covered:
                needed += likely[identity]
        section = SummarySection.DONE if candidate.reports else candidate.section
        worth += _NEEDED * _FACT_WORTH.get(section, 1.0) * needed
        return worth / ((len(text) if text.isascii() else utf16_length(text)) + _PRICE)

    def tell(self, candidate: LineCandidate) -> None:
        """Records that a line was chosen."""
        if candidate.place != FIRST_OF_ALL or not candidate.sources:
            # The line about the last changed file does not tell the other work on it.
            self.repeats.add(candidate, frozenset(content_words(candidate.text)))
        self.covered |= candidate.facts
