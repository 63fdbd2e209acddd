"""What sentences deny: two with the same words may say the opposite."""

from __future__ import annotations

from functools import lru_cache

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.marker_words import markers
from leafward.summaries.facts.sentences.prose import REMEMBERED

_NEGATION = markers(
    r"\b(?:no|not|never|none|without|avoid|stop|forbid(?:den)?|cannot|nicht|kein(?:e[nmrs]?)?|nie(?:mals)?|jamais|nunca|не|нельзя)\b"
    r"|n['’]t\b|\bdont\b|不|别|禁止|勿|ない|しないで|마세요|지 ?마|금지",
    "no not never none without avoid stop forbid forbidden cannot nicht kein keine keinen keinem keiner "
    "keines nie niemals jamais nunca t dont",
)
_DENIED = 60
"""Characters after a negation that may hold the negated part."""
_CLAUSE = late(r"[;,:](?:\s+|$)| (?:but|aber|mais|pero) ")


def negated(sentence: str) -> bool:
    """Whether a sentence forbids: it has an odd number of negations."""
    if not _NEGATION.may_stand_in(sentence):
        return False
    return len(_NEGATION.pattern.findall(sentence.lower())) % 2 == 1


def opposed(one: str, other: str) -> bool:
    """Whether one of two sentences about the same thing denies the other, which has the negated part without negation."""
    if negated(one) == negated(other):
        return False
    denying, saying = (one, other) if negated(one) else (other, one)
    said = frozenset(content_words(saying))
    behind = [
        content_words(denying[match.end() : match.end() + _DENIED])[:2]
        for match in _NEGATION.pattern.finditer(denying.lower())
    ]
    return any(not words or not said.isdisjoint(words) for words in behind)


def affirmed(sentence: str) -> str:
    """The clauses of a sentence that negate nothing."""
    return "; ".join(part for part in _CLAUSE.split(sentence) if not negated(part))


@lru_cache(maxsize=REMEMBERED)
def sentence_key(text: str) -> str:
    """A sentence in comparable form: its content words, and whether it negates."""
    words = " ".join(content_words(text))
    return f"not {words}" if words and negated(text) else words
