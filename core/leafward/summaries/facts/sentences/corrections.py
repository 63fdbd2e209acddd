"""Where the writer of a text corrects himself: what he wrote before that holds no more."""

from __future__ import annotations

from leafward.base.late_pattern import late

_SIGNS = ("ait", "ctually", "old on", "mmm")
"""Parts of the words that begin a correction: a text without any has none."""
_CORRECTS = late(
    r"(?im)(?:^|(?<=[.!?:]) ?|(?<=[.!?…]['\"`)*]) ?)(?:(?:no|hm+)[,.… ]+)?(?:wait|hold on|hm{2,}|actually)\b[,.!… –—-]{1,5}"
    r"(?:no\b(?! (?:longer|need|one|problem|matter))|let me (?:re-?(?:read|think|consider|examine|check|trace|visit)|look again)|that(?:['’]s| is) (?:not right|wrong|backwards)|i (?:was wrong|misread|misunderstood))"
)


def standing_part(text: str) -> str:
    """A text from the last place on where its writer takes back what he wrote before; the whole text where there is none."""
    if not any(map(text.__contains__, _SIGNS)):
        return text
    at = 0
    for found in _CORRECTS.finditer(text):
        at = found.start()
    return text[at:].lstrip() if at else text
