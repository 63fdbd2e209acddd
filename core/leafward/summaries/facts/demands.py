"""What a sentence of the user's asks for: a question wants an answer, a rule holds from now on, all else is talk or work.

A rule is told by its words: what forbids or obliges whatever stands around it (`never`, `must`), and what does so only in a
sentence of its own that is neither a question, nor a guess, nor a remark on how things are.
"""

from __future__ import annotations

import re
from functools import lru_cache

from leafward.summaries.facts.marker_words import markers

_REMEMBERED = 1 << 14
_CODE = re.compile(r"`[^`]{0,200}`|[@\w.]{0,80}\([^()]{0,200}\)|\{[^{}]{0,400}\}|\"[^\"\n]{0,200}\"")
"""What is quoted in a sentence, or said beside it, obliges nobody."""
_FILLER = re.compile(
    r"(?i)(?:(?:ok(?:ay)?|alright|all right|btw|by the way|so|well|hm+|ah|oh|also|and|but|then|now|actually|wait|wtf|wow|dude|man"
    r"|yes|yeah|yep|yup|sure|please|great|good|perfect|cool|thanks)\b[\s,.!…:-]*)+"
)
_ASKED = re.compile(
    r"(?:(?:why|how|where|when|who|which|what(?:['’]s)?)\s+(?:is|are|was|were|do|does|did|can|could|should|would|will|about|if|happens|happened|else)\b"
    r"|(?:can|could|do|does|did|is|are|was|were|should|would|will|have|has|isn['’]t|aren['’]t|don['’]t|doesn['’]t|didn['’]t|can['’]t"
    r"|couldn['’]t|shouldn['’]t|wouldn['’]t|won['’]t)\s+(?:we|you|i|it|this|that|they|there|he|she|these|those)\b"
    r"|any idea\b|what's\b)"
)
_TAG = re.compile(r"\b(?:no|right|correct|ok|yes)\s*[?？]+\s*$|[?？]\W*$")
# All patterns but those of the first words are in small letters, as is what is looked at.
_OBLIGED = re.compile(
    r"\b(?:must|mustn['’]?t|never|always|mandatory|forbid(?:den)?|prohibited|under no circumstances|at (?:most|least)|no (?:more|longer|later) than"
    r"|niemals|nie|muss|müssen|darf|dürfen|immer|jamais|toujours|doi[st]|il faut|nunca|siempre|debe|sempre|deve|никогда|всегда|нельзя"
    r"|должен|не надо)\b"
    "|必须|不要|不能|不得|务必|禁止|一定要|应该|只能|请勿|别|しないで|ください|必ず|してはいけない|하지 ?마|반드시|금지|해야"
)
_CONCLUDES = re.compile(
    r"\bmust (?:have been|be (?:because|due|that|the|a)\b)|\bmust (?:now|still) be\b"
    r"|\b(?:always|never) (?:seem\w*|happens?|happened|fails|failed|works|worked|gets|got|was|were|did|does|had)\b"
)
"""Guesses in the words of rules."""
_FORBIDS = re.compile(
    r"(?:^|[,;:.!–—-]\s*|\b(?:and|but|please|so|then|you|should|ok|also|just|we)\s+)(?:please\s+)?(?:do not|don['’]?t)\s+"
    r"(?!(?:understand|know|think|see|get|care|mind|feel|remember|believe|have to|need to|like|worry)\b)\w"
)
_RULES = re.compile(
    r"\b(?:avoid|prefer(?:ably|red)?|make sure|ensure|instead of|rather than|before (?:we|you|i|any|every|each)|by default"
    r"|no (?:new|other|more|extra|additional|need for)\b|only (?:use|if|when|for|with|in|on|the)|use only"
    r"|should(?:n['’]t)?(?: not| only| always)? (?:\w+ )?(?:be(?! good| fine| ok| done)|stay|return|use|have(?! been)|keep|look|work|contain|show|not)\b"
    r"|(?:has|have|needs?) to (?:be|stay|have|contain|cover|work|survive|hold|keep|fit|run|pass|push)\b"
    r"|(?:want|wants) (?:it|them|all|every|no|only|the|to be|to keep)\b|(?:would|i['’]d) (?:only |prefer|like (?:it|them|all|every|no|only|the|to keep)\b)"
    r"|sin|sans|ohne|nicht|нужно)\b"
)
_RULE_FIRST = re.compile(
    r"^(?:please\s+)?(?:(?:only|keep|use|without|stop using|stick to|throughout)\s+\w+|[\w-]+(?: library)? only\b)"
)
_STATES = re.compile(
    r"\b(?:there(?:['’]s| is| are)|(?:it|that|this|they|you|and|we)(?:['’]s)?) only\b|\bonly (?:displays|shows|have|has|had|got|one|\d+)\b"
    r"|\b(?:does|do|did)(?:n['’]t| not) have to\b|\bdon['’]t need\b|\bno longer\b"
)
"""How things are, in the words of rules."""
_GUESSED = markers(
    r"\b(?:i(?:['’]m| am| would| actually| basically| just| also| still| really| kinda)?(?: not)? (?:think(?:ing)?|guess|suppose|bet|suspect|believe|assume|wonder|thought|hope)"
    r"|i (?:don['’]?t|do not) (?:think|know|understand|see|get)|i have a feeling|i feel like|maybe|perhaps|probably|not sure|sounds like|in theory)\b",
    "think thinking guess suppose bet suspect believe assume wonder thought hope know understand see get "
    "feeling feel maybe perhaps probably sure sounds theory",
)
_WORK = re.compile(
    r"^let (?:me|us)\b[^,;]*|^let['’]s\b[^,;]*|\b(?:we|i|you)(?:['’]ll|['’]d)?(?: \w+)?(?: \w+)? (?:need|needs|have|want|wanted|would like) (?:you )?to\b|\bwe (?:\w+ )?need (?:a|an|some|the)\b"
)
"""What is to be done now is a request: it is done, and binds nothing afterwards."""
_TAKES_BACK = re.compile(
    r"(?i)^(?:(?:ok(?:ay)?|yeah|yes|no|nah|nope|please|hm+|actually|wait|sorry)[\s,.!]+)*(?:you can |let['’]s |please |just )*"
    r"(?:undo|revert|roll back|take back|back out|never ?mind|scratch|forget)(?: about)? (?:that|this|it|those|these|them|the last|what you)\b"
)
_REFUTES = re.compile(
    r"(?i)^(?:(?:hm+|sorry|wait|wtf|um+|ok(?:ay)?|well|but|actually|no|nope|nah)[\s,.!]+)*"
    r"(?:(?:that|this|it)(?:['’]s| is| was|s)? (?:just |simply |completely |totally )?(?:not (?:right|true|correct|it|the case|what|how|the (?:problem|cause|reason|issue))"
    r"|wrong|incorrect|false|nonsense|horrible)\b|you(?:['’]re| are) (?:wrong|mistaken)\b|wrong\b|(?:das )?stimmt nicht\b|c['’]est faux\b|不对|错了|違う)"
)
"""Of the answer before it."""
_DENIES = re.compile(r"(?i)^(?:no|nope|nah|nein|non)[,.!]+\s")
_LEAST_WORDS = 3


@lru_cache(maxsize=_REMEMBERED)
def asks(sentence: str) -> bool:
    """Whether a sentence is a question, with its mark or without."""
    sentence = sentence.lower()
    if ("?" in sentence or "？" in sentence) and _TAG.search(sentence) is not None:
        return True
    return _ASKED.match(without_fillers(sentence)) is not None


def without_fillers(sentence: str) -> str:
    """A sentence without the small words by which people begin to talk."""
    sentence = sentence.strip()
    found = _FILLER.match(sentence)
    return sentence[found.end() :] if found is not None else sentence


def guesses(sentence: str) -> bool:
    """Whether a sentence says what somebody takes to be so, rather than what is so."""
    return _GUESSED.stand_in(sentence)


def takes_back(prompt: str) -> bool:
    """Whether a prompt takes back the one before it."""
    return _TAKES_BACK.match(prompt) is not None


def refutes(prompt: str) -> bool:
    """Whether a prompt says that what was answered before is wrong."""
    return _REFUTES.match(prompt) is not None


def denies(prompt: str) -> bool:
    """Whether a prompt begins with a no: to what was answered, where that asked nothing."""
    return _DENIES.match(prompt) is not None


@lru_cache(maxsize=_REMEMBERED)
def demands(sentence: str) -> bool:
    """Whether a sentence of the user's states a rule or a limit that holds from now on."""
    if asks(sentence):
        return False
    sentence = sentence.lower()
    words = without_fillers(_CODE.sub(" ` ", sentence))
    if len(words) < len(sentence) and len(words.split()) < _LEAST_WORDS and words.isascii():
        return False
    if _OBLIGED.search(_CONCLUDES.sub(" ", words)) is not None:
        return True
    if guesses(words) and not words.startswith(("i would only", "i'd only")):
        return False
    words = _STATES.sub(" ", words)
    if _FORBIDS.search(words) is not None:
        return True
    words = _WORK.sub(" ", words)
    if len(words.split()) < _LEAST_WORDS + 1:
        return False
    return _RULE_FIRST.search(words) is not None or (_RULES.search(words) is not None and not _is_half(words))


_HALF = re.compile(r"^(?:should|needs?|has|have|must)\b")


def _is_half(words: str) -> bool:
    """Whether it begins with its verb: of what it is said stands elsewhere."""
    return _HALF.search(words) is not None and "," not in words
