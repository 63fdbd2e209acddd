"""Lines that repeat the content of chosen ones."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from leafward.summaries.summarizers.extractive.candidates import OUTCOME
from leafward.summaries.summarizers.outline import SummarySection

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.summaries.summarizers.extractive.candidates import LineCandidate

_REPEATED = 0.75
"""The part of a line's words that a chosen line has to share for the line to say nothing new."""


class Repeats:
    """The words of the chosen lines. Lines are only ever added, so a line is compared with each once.

    A line that repeats another shares all but a quarter of its words with it: at least one of any larger part of them. So a
    line is compared only with those that hold one of its rarest words.
    """

    def __init__(self, candidates: Iterable[LineCandidate]) -> None:
        """Takes all lines that may be compared: a word is rare where few of them have it."""
        self.compared = 0
        """The number of pairs of lines that were compared."""
        self._often = Counter(word for candidate in candidates for word in candidate.words)
        self._chosen: list[tuple[LineCandidate, frozenset[str]]] = []
        self._holding: dict[str, list[int]] = {}
        self._rare: dict[int, list[str]] = {}

    def add(self, candidate: LineCandidate, words: frozenset[str]) -> None:
        """Adds a chosen line, with its current words."""
        for word in words:
            self._holding.setdefault(word, []).append(len(self._chosen))
        self._chosen.append((candidate, words))

    def has(self, candidate: LineCandidate) -> bool:
        """Whether a chosen line holds most of a line; a line without words is never a repeat."""
        words = candidate.words
        if not words or candidate.repeats:
            return True
        since, candidate.compared = candidate.compared, len(self._chosen)
        if since < len(self._chosen):
            candidate.repeats = self._is_told_since(candidate, since)
        return candidate.repeats

    def _is_told_since(self, candidate: LineCandidate, since: int) -> bool:
        """Whether one of the lines chosen from a number on holds most of a line."""
        for word in self._rarest(candidate):
            holding = self._holding.get(word)
            if holding is None or holding[-1] < since:
                continue
            # Backwards from the last one.
            for at in reversed(holding):
                if at < since:
                    break
                if self._is_told(candidate, at):
                    return True
        return False

    def _rarest(self, candidate: LineCandidate) -> list[str]:
        """As many of a line's rarest words as ensure that every repeat of it has one of them."""
        found = self._rare.get(id(candidate))
        if found is None:
            words = candidate.words
            most = int(len(words) * (1 - _REPEATED)) + 1
            found = sorted(words, key=lambda word: (self._often[word], word))[:most]
            self._rare[id(candidate)] = found
        return found

    def _is_told(self, candidate: LineCandidate, at: int) -> bool:
        """Whether one chosen line holds most of a line."""
        self.compared += 1
        words = candidate.words
        chosen, other = self._chosen[at]
        among = len(words)
        if len(other) < _REPEATED * among:
            # It has too few words to share that many.
            return False
        if candidate.tells_work and chosen.asks and OUTCOME not in chosen.text:
            # A request does not tell that the work was done.
            return False
        if chosen.section is not candidate.section and candidate.section is SummarySection.CONSTRAINTS:
            # A demand stays among the demands, even where a longer quoted request holds it.
            among = max(among, len(other))
        return len(words & other) >= _REPEATED * among
