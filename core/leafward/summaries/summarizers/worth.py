"""What a line is worth: what it says by itself, and the facts on it that no chosen line has told yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.entries import NO_ENTRY
from leafward.session.messages import message_text
from leafward.session.tokens import utf16_length
from leafward.summaries.facts import FactKind, Voice
from leafward.summaries.facts.prose import content_words, shared
from leafward.summaries.facts.values import whole_paths
from leafward.summaries.summarizers import Span, unless_cancelled
from leafward.summaries.summarizers.candidates import FIRST_OF_ALL, Candidate, Evidence, leads_somewhere
from leafward.summaries.summarizers.name_lists import file_lines
from leafward.summaries.summarizers.outline import Section
from leafward.summaries.summarizers.ranking import Ranking, likely
from leafward.summaries.summarizers.repeats import Repeats
from leafward.summaries.survival.text_match import FactMatch, Text, file_names

if TYPE_CHECKING:
    from collections.abc import Callable

_PRICE = 6
"""Units that a line costs beyond its text."""
_FACT_WORTH = {Section.DONE: 0.35, Section.NEXT: 0.8}
"""What a fact adds to a line's worth where it is not all of its likelihood: what is done is needed less."""
_NEEDED = 4.0
"""What a fact that is certainly needed is worth, beside the worth of a line by itself."""


class Worth:
    """The lines that could be told, weighed, and what the chosen ones say already."""

    def __init__(self, evidence: Evidence, span: Span, stop: Callable[[], bool], ranking: Ranking) -> None:
        """Weighs every line. Raises Cancelled."""
        self._reader = evidence.reader
        self._focus = tuple(sorted(set(content_words(span.focus))))
        kept = Text.of("\n".join(message_text(message) for _, message in span.kept), span.cwd)
        names = file_names(list(evidence.facts.values()))
        held = {FactMatch.VERBATIM, FactMatch.PARAPHRASED}
        self.likely = likely(
            evidence, lambda fact: bool(kept.text) and kept.holds(fact, names) in held, stop, ranking
        )
        """How likely each fact is needed."""
        self.covered: set[tuple[FactKind, str]] = set()
        """The facts on chosen lines."""
        self._whole = whole_paths({key for kind, key in evidence.facts if kind is FactKind.PATH})
        self.files = file_lines(evidence, self.likely)
        self.candidates = [*evidence.candidates, *(names.candidate for names in self.files)]
        for candidate in unless_cancelled(self.candidates, stop):
            self._weigh(candidate)
        self.repeats = Repeats(self.candidates)

    def _weigh(self, candidate: Candidate) -> None:
        """Finds the facts a line carries."""
        found: set[tuple[FactKind, str]] = set(candidate.carries)
        for seen in self._reader.prose(candidate.text, Voice.TOLD, NO_ENTRY):
            key = self._whole.get(seen.key, seen.key) if seen.kind is FactKind.PATH else seen.key
            if (seen.kind, key) in self.likely:
                found.add((seen.kind, key))
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

    def gain(self, candidate: Candidate) -> float:
        """Worth for the price, with what was told already left out."""
        worth = 0.0 if self.repeats.has(candidate) else candidate.worth
        likely, covered, text = self.likely, self.covered, candidate.text
        needed = 0.0
        for identity in candidate.ordered:
            if identity not in covered:
                needed += likely[identity]
        worth += _NEEDED * _FACT_WORTH.get(candidate.section, 1.0) * needed
        return worth / ((len(text) if text.isascii() else utf16_length(text)) + _PRICE)

    def tell(self, candidate: Candidate) -> None:
        """Notes that a line was chosen."""
        if candidate.place != FIRST_OF_ALL or not candidate.sources:
            # That a file was changed last does not say what else was done to it.
            self.repeats.add(candidate, frozenset(content_words(candidate.text)))
        self.covered |= candidate.facts
