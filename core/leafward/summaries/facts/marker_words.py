"""What sentences are told by: patterns of words, and the words without which none of a pattern's forms can stand there.

A sentence is taken apart once for all patterns, which costs less than going over it for each of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_REMEMBERED = 1 << 14
_WORD = re.compile(r"\w+")
OTHER_SCRIPT = re.compile(
    "[^\x00-\x7f\u2010-\u2015\u2018\u201c-\u201e\u2020-\u2022\u2026\u2190-\u21ff\u2500-\u257f]"
)
"""What may be a form that is not all ASCII: anything but dashes, quotation marks, dots, arrows and lines."""


@dataclass(frozen=True, slots=True)
class Markers:
    """A pattern in small letters of which each form that is all ASCII holds one of some words."""

    pattern: re.Pattern[str]
    words: frozenset[str]

    def stand_in(self, sentence: str) -> bool:
        """Whether the pattern is found in a sentence."""
        return self.may_stand_in(sentence) and self.pattern.search(sentence.lower()) is not None

    def may_stand_in(self, sentence: str) -> bool:
        """Whether it can be: what holds letters of another script, or a sign of the pattern's, may hold it in that."""
        if not self.words.isdisjoint(_words_of(sentence)):
            return True
        return not sentence.isascii() and OTHER_SCRIPT.search(sentence) is not None


def markers(pattern: str, words: str) -> Markers:
    """A pattern, and its words separated by spaces."""
    return Markers(re.compile(pattern), frozenset(words.split()))


@lru_cache(maxsize=_REMEMBERED)
def _words_of(sentence: str) -> frozenset[str]:
    return frozenset(_WORD.findall(sentence.lower()))
