"""What sentences are told by: patterns of words, and the words without which none of a pattern's forms can stand there.

A sentence is taken apart once for all patterns, which costs less than going over it for each of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import count

_REMEMBERED = 1 << 14
_counted = count()
_WORD = re.compile(r"\w+")
OTHER_SCRIPT = re.compile(
    "[^\x00-\x7f\u2010-\u2015\u2018\u201c-\u201e\u2020-\u2022\u2026\u2190-\u21ff\u2500-\u257f]"
)
"""What may be a form that is not all ASCII: anything but dashes, quotation marks, dots, arrows and lines."""


_EVERY = -1
"""The signs of a sentence in which any pattern may stand."""
_signs: dict[str, int] = {}
"""For each word of a pattern the bits of all patterns that have it."""


@dataclass(frozen=True, slots=True)
class Markers:
    """A pattern in small letters of which each form that is all ASCII holds one of some words."""

    pattern: re.Pattern[str]
    words: frozenset[str]
    bit: int
    """What the pattern is known by among the signs of a sentence."""

    def stand_in(self, sentence: str) -> bool:
        """Whether the pattern is found in a sentence."""
        return self.may_stand_in(sentence) and self.pattern.search(sentence.lower()) is not None

    def may_stand_in(self, sentence: str) -> bool:
        """Whether it can be: what holds letters of another script, or a sign of the pattern's, may hold it in that."""
        return _signs_of(sentence) & self.bit != 0


def markers(pattern: str, words: str) -> Markers:
    """A pattern, and its words separated by spaces."""
    bit = 1 << next(_counted)
    for word in words.split():
        _signs[word] = _signs.get(word, 0) | bit
    # Modules with patterns of their own may be imported when sentences were taken apart already.
    _signs_of.cache_clear()
    return Markers(re.compile(pattern), frozenset(words.split()), bit)


@lru_cache(maxsize=_REMEMBERED)
def _signs_of(sentence: str) -> int:
    """The bits of the patterns that may stand in a sentence: it is taken apart once for all of them."""
    if not sentence.isascii() and OTHER_SCRIPT.search(sentence) is not None:
        return _EVERY
    signs = 0
    for word in _WORD.findall(sentence.lower()):
        if word in _signs:
            signs |= _signs[word]
    return signs
