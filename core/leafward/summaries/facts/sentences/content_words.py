"""The content words of texts, by which sentences are compared; for scripts without spaces, pairs of characters."""

from __future__ import annotations

from functools import lru_cache

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.prose import CJK, REMEMBERED, SENTENCE_LIMIT

ENGLISH = late(r"(?i)\b(?:the|is|are|was|were|has|have|and|of|it|this|that|now|with|from|for|(?-i:I)|you)\b")
"""Words that nearly every English sentence has one of."""
_WORD = late(r"[^\W_]+(?:[._/'’-][^\W_]+)*|[_A-Za-z0-9]+")
_ASCII_WORD = late(r"[A-Za-z0-9]+(?:[._/'-][A-Za-z0-9]+)*|[_A-Za-z0-9]+")
"""`_WORD` for a text of ASCII, in half the time."""
_STOP_WORDS = (
    "a an and are as at avoid be because been but by can cannot could did do does dont for from get got had has have he her "
    "his how i if in into is it its itself just let like me more my never no not of ok on or our out she should since so "
    "some than that the their them then there these they this those to too up us was we were what when where which who "
    "why will with without would yes you your also all any now here about "
    "der die das und ist ein eine zu mit auf für les des une est pour que qui dans por los las una con para del"
)
_STOP = frozenset(_STOP_WORDS.split())
_PLAIN_WORD = late(r"[a-z]+")
_IRREGULAR = {
    "written": "writ",
    "wrote": "writ",
    "made": "mak",
    "built": "build",
    "ran": "run",
    "kept": "keep",
    "sent": "send",
}


@lru_cache(maxsize=REMEMBERED)
def content_words(text: str) -> tuple[str, ...]:
    """The content words of a sentence: without stop words, pairs of characters for scripts without spaces, in order."""
    found: dict[str, None] = {}
    text = text[: 4 * SENTENCE_LIMIT]
    for word in (_ASCII_WORD if text.isascii() else _WORD).findall(text):
        for term in _terms(word):
            found[term] = None
    return tuple(found)


@lru_cache(maxsize=REMEMBERED)
def _terms(word: str) -> tuple[str, ...]:
    """The terms of one word: its stem, or its pairs of characters; none for a stop word."""
    word = word.casefold()
    if word.isascii():
        return (_stem(word),) if len(word) > 1 and word not in _STOP else ()
    runs = CJK.findall(word)
    found = [run[place : place + 2] for run in runs for place in range(max(1, len(run) - 1))]
    word = CJK.sub(" ", word).strip() if runs else word
    if len(word) > 1 and word not in _STOP:
        found.append(_stem(word))
    return tuple(found)


def _stem(word: str) -> str:
    """A word without English endings, so that `tests` and `test`, `moved` and `move` are equal."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if not word.isascii() or not word.isalpha() or len(word) < 4:
        return word
    if len(word) > 4 and word.endswith(("ied", "ies")):
        return word[:-3] + "y"
    for ending in ("ing", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    return word.removesuffix("e") if len(word) > 3 else word


def past_verbs(text: str) -> frozenset[str]:
    """The stems of the words in a text that have an English form of the past."""
    words = _PLAIN_WORD.findall(text.lower())
    return frozenset(_stem(word) for word in words if word.endswith("ed") or word in _IRREGULAR)


def shared(words: tuple[str, ...], among: frozenset[str]) -> float:
    """The share of the wanted words that is among the given, 0…1."""
    return sum(word in among for word in words) / len(words) if words else 0.0
