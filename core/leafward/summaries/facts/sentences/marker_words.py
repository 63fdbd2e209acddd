"""Markers of sentences: patterns, each with a set of words such that every match holds at least one of them.

A sentence is split once for all patterns, which costs less than a search for each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.prose import REMEMBERED

if TYPE_CHECKING:
    import re

_counted = count()
_WORD = late(r"\w+")
_ASCII_WORDS = bytes(
    ord(char.lower()) if (char := chr(byte)).isascii() and (char.isalnum() or char == "_") else 32
    for byte in range(256)
)
"""Makes letters of ASCII small, and blanks of everything that is in no word."""
OTHER_SCRIPT = late(
    "[^\x00-\x7f\u2010-\u2015\u2018\u201c-\u201e\u2020-\u2022\u2026\u2190-\u21ff\u2500-\u257f]"
)
"""Characters of a form that is not all ASCII: anything but dashes, quotation marks, dots, arrows and lines."""


_EVERY = -1
"""The signs of a sentence that may match any pattern."""
_signs: dict[str, int] = {}
"""For each word of a pattern the bits of all patterns that have it."""


@dataclass(frozen=True, slots=True)
class Markers:
    """A lower-case pattern and its marker words: every match that is all ASCII holds at least one of them."""

    pattern: re.Pattern[str]
    words: frozenset[str]
    bit: int
    """The pattern's bit among the signs of a sentence."""

    def stand_in(self, sentence: str) -> bool:
        """Whether the pattern matches a sentence."""
        return _signs_of(sentence) & self.bit != 0 and self.pattern.search(sentence.lower()) is not None

    def may_stand_in(self, sentence: str) -> bool:
        """Whether it may match: the sentence has letters of another script, or one of the pattern's words."""
        return _signs_of(sentence) & self.bit != 0


def markers(pattern: str, words: str) -> Markers:
    """A pattern, and its words separated by spaces."""
    bit = 1 << next(_counted)
    for word in words.split():
        _signs[word] = _signs.get(word, 0) | bit
    # Modules with patterns of their own may be imported after sentences were split already.
    _signs_of.cache_clear()
    return Markers(late(pattern), frozenset(words.split()), bit)


@lru_cache(maxsize=REMEMBERED)
def _signs_of(sentence: str) -> int:
    """The bits of the patterns that may match a sentence: it is split once for all of them."""
    if not sentence.isascii() and OTHER_SCRIPT.search(sentence) is not None:
        return _EVERY
    if sentence.isascii():
        words = sentence.encode().translate(_ASCII_WORDS).decode().split()
    else:
        words = _WORD.findall(sentence.lower())
    signs = 0
    for word in _signs.keys() & words:
        signs |= _signs[word]
    return signs
