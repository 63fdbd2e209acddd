"""What a sentence of an answer is by its form: it tells its reader what to do, points at the text before it, or is code."""

from __future__ import annotations

import re

from leafward.base.late_pattern import late
from leafward.summaries.facts import prose

_POINTS_BACK = re.compile(
    r"(?i)^\W*(?:(?:and|but|so|or|also|now|then),? )?(?:with (?=those\b|these\b))?(?:(?:it|this|that|these|those|they|the (?:former|latter|same))\b"
    r"|(?:das|dies(?:e[mnrs]?)?|cela|ça|ceci|esto|eso|ello|ele|ela|eles|elas|isso|isto)\b|c['’]est\b|これ|それ|この|その|这|那|它|이것|그것|이는)"
)
"""The beginning of a sentence whose subject is in the text before it."""
_IMPERATIVE = re.compile(
    r"(?i)^(?:(?:now|then|just|please|next(?: up| step)?)[,:]? |(?:in order )?to [^,;:]{3,80}, (?:\w+ly )?)?(?:run|set|use|add|try|install|change|update|replace|switch|move|enable|disable|configure|remove|delete|create|wait|keep|make|put|let|open|check"
    r"|consider|upgrade|pin|skip|merge|rebase|revert|rename|extract|split|document|log|verify|ask|search|restart|rebuild|test|bump)\b(?!-)"
)
_ADVISES = re.compile(
    r"(?i)^(?:[^:.]{1,60}: )?(?:(?:and|also|now|then|first|next|just|please|or)[\s,]+)*(?:check|try|open|search|look|compare|toggle|restart|reload|verify|inspect|re-?run|watch|confirm|ask|(?:say|tell me|pick|choose) (?:which|what|one))\b(?!-)"
    r"|^(?:the )?next time (?:you|it|this|that)\b|^(?:(?:i|we|you|one|it) )?(?:could|might) (?:also |then |instead )?(?!(?:be|have|not|only|lead|cause|mean|fail|break|explain)\b)[a-z]+\b"
)
_RECOMMENDS = late(
    r"(?i)\bi(?:['’]d| would)? (?:recommend|suggest|propose)\b|\bmy (?:recommendation|suggestion|proposal)\b|\bmeine empfehlung\b|\b(?:ich )?(?:empfehle|schlage vor)\b"
    r"|\bma recommandation\b|\bje (?:recommande|propose)\b|\b(?:mi|minha) (?:recomendaci[oó]n|recomendação|sugerencia|sugestão)\b|\b(?:recomiendo|recomendo|sugiero|sugiro)\b"
)
"""What the agent would do: nobody has chosen it."""
_LEAVES_IT = re.compile(
    # It begins with one class, so that the search passes over all other characters quickly.
    r"[IiWw](?<!\w.)(?i:(?<=i)f you(?:['’]d)? (?:want|like|need|prefer|wish)\b|(?<=w)orth (?:checking|trying|a (?:try|look))\b)"
)
"""What the reader of an answer was told to do, or could do, perhaps below words that say where."""


def bids(line: str) -> bool:
    """Whether a line of an answer tells its reader what to do."""
    return (
        is_imperative(line)
        or _RECOMMENDS.search(line) is not None
        or _ADVISES.match(line) is not None
        or _LEAVES_IT.search(line) is not None
    )


def is_imperative(line: str) -> bool:
    """Whether a line begins with what is to be done."""
    return _IMPERATIVE.match(line) is not None


def points_back(sentence: str) -> bool:
    """Whether the subject of a sentence is in the text before it."""
    return _POINTS_BACK.match(sentence) is not None


def is_code(sentence: str) -> bool:
    """Whether a sentence has hardly a word outside its code, or comments some."""
    if sentence.startswith(("//", "/*")):
        return True
    outside = re.sub(r"`[^`]*`", " ", sentence) if "`" in sentence else sentence
    return len(prose.content_words(outside)) == 0
