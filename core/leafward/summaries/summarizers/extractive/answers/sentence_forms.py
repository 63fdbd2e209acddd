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


_LOOKED = late(
    r"(?i)^\W*(?:(?:ok(?:ay)?|so|done|all right|alright)[,.:!]? )?(?:i|we)(?:['’]ve| have| just)? (?:(?:now|just|also|carefully|thoroughly|re-?) ?)*"
    r"(?:looked|checked(?! (?:in|out)\b)|read(?! (?:it|that|this) )|traced|profiled|counted|went|gone|walked|dug|reviewed|examined|inspected|searched|investigated|analy[sz]ed|explored|studied|gathered|compared|grepped|scanned|(?:had|took|taken) a (?:\w+ )?look"
    r"|(?:finished|completed|done|concluded) (?:the|my|an?) (?:\w+ ){0,2}(?:analysis|audit|investigation|research|review|search|check|exploration|comparison)|found (?:it|out|the (?:answer|place|spot)))\b(?! that\b)"
    r"(?:(?! (?:is|are|was|were|has|have|had|does|do|can|cannot|but|because|so|which)\b|n['’]t\b)[^:;–—]){0,150}(?: (?:how|where|what|whether|why|every\w*|all)\b[^:;,–—]{0,150})?[.!]$"
)
"""A sentence that only tells where the agent looked, and not what it saw there."""
_FOLLOWS = late(
    r"(?i)(?:^|^[^:;]{3,80}, )(?:here(?:['’]s| is| are) (?:what|how|why|the|my|an?|all|everything)\b|(?:i|we) (?:now )?(?:have|see|get|understand) (?:(?:a|the|your) )?(?:\w+ ){0,2}(?:picture|understanding|overview|confusion|situation|question|idea|flow)\b)"
    r"[^:;,–—]{0,60}[.!]$|^\W*(?:the|my|your) (?:\w+ )?(?:answer|explanation|reason|question) is (?:\w+ )?(?:simple|short|easy|straightforward|clear|twofold|a good one)[.!]$"
    r"|^\W*(?:there (?:are|were) |i (?:found|see|have) )?(?:two|three|four|five|six|seven|a few|several|some|\d{1,2}) (?:\w+ ){0,2}(?:places|things|reasons|ways|options|causes|points|parts|cases|layers|aspects|answers|pieces|findings|observations)\b[^:;,–—]{0,60}[.!]$"
)
"""A sentence that says that something follows, or how many things."""
_LEADS_LIMIT = 160
"""Characters of such a sentence."""


def only_leads(sentence: str) -> bool:
    """Whether a sentence only leads to what is said behind it: where was looked, that something follows, how much of it."""
    return (
        len(sentence) <= _LEADS_LIMIT
        and ". " not in sentence
        and (_LOOKED.match(sentence) is not None or _FOLLOWS.match(sentence) is not None)
    )


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
