"""What sentences are told by: patterns of words, and the words without which none of a pattern's forms can stand there.

A sentence is taken apart once for all patterns, which costs less than going over it for each of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_REMEMBERED = 1 << 14
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Markers:
    """A pattern in small letters of which each form that is all ASCII holds one of some words."""

    pattern: re.Pattern[str]
    words: frozenset[str]

    def stand_in(self, sentence: str) -> bool:
        """Whether the pattern is found in a sentence."""
        return self.may_stand_in(sentence) and self.pattern.search(sentence.lower()) is not None

    def may_stand_in(self, sentence: str) -> bool:
        """Whether it can be: what is not all ASCII may hold it in another script."""
        return not sentence.isascii() or not self.words.isdisjoint(_words_of(sentence))


def markers(pattern: str, words: str) -> Markers:
    """A pattern, and its words separated by spaces."""
    return Markers(re.compile(pattern), frozenset(words.split()))


@lru_cache(maxsize=_REMEMBERED)
def _words_of(sentence: str) -> frozenset[str]:
    return frozenset(_WORD.findall(sentence.lower()))
