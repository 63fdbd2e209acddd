"""Work that is still to be done, and work that a sentence tells as done."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.content_words import ENGLISH, content_words, past_verbs
from leafward.summaries.facts.sentences.marker_words import markers
from leafward.summaries.facts.sentences.negation import affirmed
from leafward.summaries.facts.sentences.prose import REMEMBERED
from leafward.summaries.facts.sentences.questions import is_offered
from leafward.summaries.facts.sentences.replies import hedges

_TODO = markers(
    # Amid a sentence it names a mark in the code.
    r"^\W{0,6}(?:todo|fixme)\b(?! (?:comment|list|item|marker|file|app)s?\b)|\b(?:still (?:need|to do|missing|(?<!can still )(?<!could still )(?<!may still )(?<!might still )(?<!will still )(?<!would still )open)"
    r"|(?:remaining|outstanding) (?:work|steps?|tasks?|todos?|items?|pieces?|parts?|issues?|problems?|failures?|tests?)|remaining(?=:)"
    r"|next step|^next(?:(?=: )| steps(?=[^.?!\n]{0,30}: ))|next,? (?:we|i)|not yet(?! (?:staged|tracked|committed|pushed)\b)|left to do|(?<!what )needs? to be (?:done|fixed|added)"
    r"|(?<!appropriate for )(?<!suitable for )(?<!candidate for )(?<!candidates for )(?<!good )(?<!fine as )(?<!fine for )follow[- ]ups?(?! (?!(?:to|for|in|on|is|are|would|could|should|will|work|tasks?|steps?|items?)\b)\w))\b"
    r"|\b(?:als nächstes|nächste[rn]? schritt|steht noch aus|(?:muss|müssen|müsste) (?:\w+ ){0,2}noch|fehlt noch|noch (?:zu tun|offen)"
    r"|il reste à|reste à faire|prochaine étape|queda por|falta por|próximo paso|осталось)\b|待办|接下来|下一步|还需要|残り|次[はに]|다음 (?:단계|작업|할 일)|남은 (?:단계|작업|일)",
    "todo fixme still remaining outstanding next yet left need needs follow steht fehlt muss noch reste queda falta",
)
_NAMED = 2
"""Content words, besides the marker, that make a step specific."""


_ADVISED = late(
    r"(?i)^\W*(?:(?:nit|minor|optional(?:ly)?|suggestion|possible(?: follow[- ]ups?)?)\b[^:]{0,40}:|(?:optionally|consider|could consider|might consider|worth considering)\b)"
)
"""The beginning of a piece of advice: nobody is to do it yet."""
_FORBIDS_YET = late(r"(?i)\bdo(?: not|n['’]?t)\b.{0,200}\bnot yet\W*$")
"""What is not to be done for now."""
_ALL = late(r"\b[Tt]odo\b(?!s?:)")
"""The Spanish word for all, where the sentence is not English: it is no todo."""
_POINTS = late(r"(?i)^(?:this|that|it|these|those|they)(?:['’]s| is|['’]re| are| was| were)\b")
_OPENS, _CLOSES = frozenset('"“„«「『'), frozenset('"”“»」』')
_SUPPOSES = late(r"(?i)\W*(?:if|once|when|after|until|unless|as soon as|before)\b")


@lru_cache(maxsize=REMEMBERED)
def remains(sentence: str) -> bool:
    """Whether a sentence names work that is still to be done; one that only points at it, or quotes all of it, does not count."""
    if sentence[:1] in _OPENS and sentence[-1:] in _CLOSES:
        return False
    if "odo" in sentence and not ENGLISH.search(sentence):
        sentence = _ALL.sub(" ", sentence)
    if not _TODO.stand_in(sentence) or _POINTS.match(sentence) or _ADVISED.match(sentence):
        return False
    if is_offered(sentence) or _FORBIDS_YET.search(sentence):
        return False
    return len(content_words(_TODO.pattern.sub(" ", sentence.lower()))) >= _NAMED


def without_marker(sentence: str) -> str:
    """A sentence about remaining work without the marker words."""
    return _TODO.pattern.sub(" ", sentence.lower()) if _TODO.stand_in(sentence) else sentence


class Past(NamedTuple):
    """What a sentence tells of the past."""

    words: frozenset[str]
    """Its content words."""
    verbs: frozenset[str]
    """Those of them that tell what was done; none in a sentence that tells nothing of the past."""

    def tells_done(self, step: str) -> bool:
        """Whether it tells what a step asks for: `the lexer is ported` of `Port the lexer`."""
        words = content_words(step)
        return len(words) >= _NAMED and words[0] in self.verbs and self.words.issuperset(words)


def past_in(sentence: str) -> Past:
    """What a sentence tells of the past."""
    if remains(sentence) or hedges(sentence) or _SUPPOSES.match(sentence):
        return Past(frozenset(), frozenset())
    told = affirmed(sentence)
    return Past(frozenset(content_words(told)), past_verbs(told))
