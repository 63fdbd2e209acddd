"""Whether a line tells a rule of the user in other words: it is about the same things, and binds in the same direction.

Words that only say that something is a rule count for its direction, not for what it is about: "never push to main" and "no pushes
to main" share all that they are about. A line that does what a rule forbids is about the same things and does not bind.
"""

from __future__ import annotations

import re
from functools import lru_cache

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.negation import negated

_ENOUGH = 0.6
"""The part of what a rule is about that a line which binds must name."""
_NEARLY_ALL = 0.8
"""The same of a line without a word that binds."""
_FEW = 2
_STEM = 5
"""Letters by which two forms of a word are one: `debugging`, `debug`."""
_CLAUSE = re.compile(r";(?=\s)|(?<=\w)[.!?](?=\s)")
_FIGURE = re.compile(r"(?<![\w.])\d{1,18}(?:[.,]\d{1,18}){0,8}(?!\d)")
_SPELT = late(r"(?i)\b(?:two|three|four|five|six|seven|eight|nine|ten)\b")
_NUMBERS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
}  # fmt: skip
_BINDING_WORDS = (
    "must shall should may might need needed have has ought always never only don't dont doesn't please use using used keep leave stay "
    "remain most least every each all any before first prior under maximum minimum max min required require forbidden allowed limited "
    "more less fewer longer larger below above than anything yet existing continue put make one"
)
_BINDING = frozenset(_BINDING_WORDS.split())
_BINDS = late(
    r"(?i)\b(?:must|ha(?:s|ve) to|needs? to|should|shall|requires?|required|mandatory|always|ask (?:for|me|the user))\b"
)
_PRESERVES = (
    r"off[- ]limits|read[- ]only|untouched|unchanged|unmodified|intact|as (?:it is|is|they are)|free of|excluding|except|forbids?|forbidden|prohibited|banned|disallowed"
    r"|stays?|keep|keeps|kept|leave|remains?|continues? to|the same|refuse\w*|must\b.{0,40}\bbefore|do(?:es)? without|reserved|restrict(?:ed)?"
)
_ALONE = late(r"(?i)\b(?:only|alone|exclusively|reserved|restrict(?:ed)?|limited)\b")
_SPARES = late(rf"(?i)\b(?:{_PRESERVES})\b")
_UNTIL = late(r"(?i)\b(?:before|until|unless|without)\b")
_NEEDS = late(r"(?i)\b(?:requires?|needs?|only (?:after|once|when|if|with))\b")
"""Words of what has to come first; "not before" tells the same."""
_NEGATION = late(r"(?i)\b(?:no|not|never|none|nothing|without|avoid|cannot)\b|n['’]t\b")
_UP = r"(?:more|longer|larger|greater|higher|bigger|later|newer)"
_DOWN = r"(?:less|fewer|shorter|smaller|lower|older|earlier)"
_BOUNDS = (
    (
        1,
        late(
            rf"(?i)\b(?:{_UP} than|(?:above|over) (?=\d)|at least|min(?:imum)?)\b|(?<=\d).{{0,20}}\b(?:or|and) (?:above|{_UP})\b|\bexceed\w*"
        ),
    ),
    (
        -1,
        late(
            rf"(?i)\b(?:{_DOWN} than|(?:below|under) (?=\d)|at most|up to|max(?:imum)?|(?:limited|limit) to|capped at)\b|(?<=\d).{{0,20}}\b(?:or|and) (?:below|{_DOWN})\b"
        ),
    ),
)
_NEAR_BEFORE = 40
"""Characters before a bound in which a negation of it stands."""
_DENIED = re.compile(r"(?i)(?:\b(?:no|not|never|cannot)|n['’]t)\b[\w\s]{0,30}$")


def tells_rule(rule: str, line: str) -> bool:
    """Whether a clause of the line tells the rule. A clause that only names what the rule is about does not."""
    return any(_tells(rule, clause) for clause in _CLAUSE.split(line))


def is_contrary(rule: str, line: str) -> bool:
    """Whether a line that shares the words of a rule says something else by its direction."""
    bounds, others = _bounds(rule), _bounds(line)
    if bounds and others:
        return bounds.isdisjoint(others)
    return not _restricts(rule, line) if _is_restricting(rule) else _NEGATION.search(line) is not None


def _tells(rule: str, clause: str) -> bool:
    about = _topic(rule)
    if not about or not _figures(clause) >= _figures(rule):
        return False
    named = len(about & _topic(clause)) / len(about)
    binds = _BINDS.search(clause) is not None or _is_restricting(clause)
    # Of one thing or two, each counts.
    enough = (_ENOUGH if binds else _NEARLY_ALL) if len(about) > _FEW else 1.0
    if named < enough:
        return False
    return not is_contrary(rule, clause)


def _is_restricting(text: str) -> bool:
    return bool(_bounds(text)) or any(sign.search(text) for sign in (_NEGATION, _SPARES, _ALONE))


def _restricts(rule: str, line: str) -> bool:
    """Whether a line restricts as a rule does that restricts."""
    # Two negations may say the same twice, in the rule and in the line alike.
    denies = negated(line) or (not negated(rule) and _NEGATION.search(line) is not None)
    if denies or _SPARES.search(line) or (_UNTIL.search(rule) and _NEEDS.search(line)):
        return True
    # "Only on disk" does not tell "never on disk".
    return not negated(rule) and (_ALONE.search(line) is not None or bool(_bounds(line)))


def _bounds(text: str) -> set[int]:
    """1 for a least amount, -1 for a most; "no more than" is a most."""
    return {
        -side if _DENIED.search(text, max(0, found.start() - _NEAR_BEFORE), found.start()) else side
        for side, sign in _BOUNDS
        for found in sign.finditer(text)
    }


@lru_cache(maxsize=4096)
def _topic(text: str) -> frozenset[str]:
    """What a text is about: beginnings of its content words, without those that bind, and whole names."""
    words = (word.removesuffix("'s").removesuffix("’s") for word in text.casefold().split())
    found = set()
    for word in content_words(" ".join(word for word in words if word.strip(".,:;!?()\"'`") not in _BINDING)):
        name = word.removesuffix("'s")
        if name in _BINDING or name.isdecimal() or name in _NUMBERS:
            continue
        found.add(name[:_STEM] if name.isalpha() else name)
    return frozenset(found)


def _figures(text: str) -> frozenset[str]:
    """Figures, also where they are spelt."""
    return frozenset(_FIGURE.findall(text)) | {_NUMBERS[word.casefold()] for word in _SPELT.findall(text)}
