"""Notations of a name's value: in quotes that may be escaped, bare up to a sign that ends it, in a cell."""

from __future__ import annotations

import re

from leafward.base.late_pattern import late
from leafward.redaction.names import Meaning
from leafward.redaction.secret_values import LEAST_PERHAPS, ValueNotation, is_secret

_DEFAULT = late(r"\$\{\w{1,60}:?[-=](?P<value>[^\s{}\"'`\\]{4,400})\}")

QUOTE = late(
    r"""(?:[rRbBfFuULN$@]{1,2}(?=["']))?(?:(\\{0,15})(\"{3}|'{3}|["'`])|(&quot;|&\#39;|\\{1,7}u0022|%22))"""
)
_COMMAND = late(
    r"(?:cat|pass|echo|op|vault|aws|gcloud|kubectl|openssl|security|gh|jq|grep|sed|awk|head|tail|cut)[ \t]"
)
"""Commands that a shell runs between grave accents."""
_BACKSLASHES = {quote: re.compile(rf"(\\*){quote}") for quote in ('"', "'", "`")}
LONGEST_BARE = 400
"""Characters of a bare value beyond which the rest is not looked at."""
RAW = late(rf"(?:[^\s\\]|\\(?![nrt\"'`\\u])){{1,{LONGEST_BARE}}}")
_LINE_END = late(r"[ \t,;]{0,8}(?:$|[\r\n]|\\{1,7}[nr]|#|[│|]|\\{1,7}[\"']|[\"'])")
_ENDS = {
    "query": late(r"[&#\"'<>`,;)]"),
    "inline": late(r"[,;)}\]\"'<>`|]"),
    "setting": late(r"[\"'`<]"),
    "path": late(r"[/\"'<>`,;)]"),
}
_LEAST_OF_WALLET = 11
_SPACED_VALUE = late(r"(?:[a-z]{4}(?: [a-z]{4}){3}|[a-z]{3,8}(?: [a-z]{3,8}){11,23})(?=$|[\s\\\"',;])")
"""Passwords with spaces: those that Google issues for one program, and the words of a wallet."""
_NO_WORD = late(r"\b[bcdfghj-np-tv-xz]{4}\b")
"""A group without a vowel: the other groups are no words either."""


def cell_value(text: str, at: int, stop: int, meaning: Meaning) -> tuple[int, int] | None:
    """The value in a cell of a table that ends before `stop`."""
    if stop < 0:
        return None
    end = at + len(text[at:stop].rstrip(" \t`*"))
    while at < end and text[at] in " \t`*":
        at += 1
    return judged(text, at, end, meaning, ValueNotation.INLINE)


def quoted_value(text: str, at: int, meaning: Meaning, place: ValueNotation) -> tuple[int, int] | None:
    """The value in quotes at a place; escaped quotes end with quotes of the same number of backslashes."""
    opening = QUOTE.match(text, at)
    if opening is None:
        return None
    begin = opening.end()
    limit = begin + 600
    if opening[3] is not None:
        return judged(text, begin, text.find(opening[3], begin, limit), meaning, place, quoted=True)
    escapes, quote = len(opening[1]), opening[2]
    if quote == "`" and _COMMAND.match(text, begin):
        return None
    if len(quote) == 3:
        return judged(text, begin, text.find(quote, begin, limit), meaning, place, quoted=True)
    for closing in _BACKSLASHES[quote].finditer(text, begin, limit):
        if len(closing[1]) <= escapes:
            return judged(text, begin, closing.start(), meaning, place, quoted=True)
    stop = text.find("\n", begin, limit)
    return judged(text, begin, stop if stop >= 0 else min(len(text), limit), meaning, place)


def bare_value(
    text: str, at: int, meaning: Meaning, place: ValueNotation, ends: str = ""
) -> tuple[int, int] | None:
    """The bare value at a place. `ends` names the signs that end it."""
    spaced = _SPACED_VALUE.match(text, at) if meaning is Meaning.PASSWORD else None
    if spaced is not None and (
        place in (ValueNotation.SETTING, ValueNotation.LINE)
        or spaced[0].count(" ") >= _LEAST_OF_WALLET
        or _NO_WORD.search(spaced[0])
    ):
        return spaced.span()
    raw = RAW.match(text, at)
    if raw is None:
        return None
    if meaning is Meaning.PERHAPS and len(raw[0]) < LEAST_PERHAPS:
        # No step below makes it longer.
        return None
    default = _DEFAULT.match(text, at)
    if default is not None:
        return judged(text, default.start("value"), default.end("value"), meaning, place)
    value = raw[0]
    last = _LINE_END.match(text, raw.end()) is not None
    if ends not in ("query", "path") and last and place in (ValueNotation.SETTING, ValueNotation.LINE):
        value = _to_the_end(value)
    else:
        sign = _ENDS[ends or "inline"].search(value)
        value = _to_the_end(value if sign is None else value[: sign.start()])
        if place is ValueNotation.LINE and ends != "setting" and not _LINE_END.match(text, at + len(value)):
            place = ValueNotation.INLINE
    while (value and value[-1] in ",;.:") or (
        value and value[-1] in ")]}" and value.count(value[-1]) > value.count(_OPENING[value[-1]])
    ):
        value = value[:-1]
    return judged(text, at, at + len(value), meaning, place)


_MOST_SIGNS = 5
"""Equals signs in a bare value beyond which it is taken for a row of settings."""
_OPENING = {")": "(", "]": "[", "}": "{"}
_NEXT_FIELD = late(
    r";(?:$|[\w ]{1,40}=)|,(?:$|\\?[\"'\w][\w.\"'-]{0,40}[=:])|&(?:amp;)?[\w.-]{1,40}=|&&|[\"'`<]"
)


def _to_the_end(value: str) -> str:
    """A value up to the end of its line, without fields behind it."""
    field = _NEXT_FIELD.search(value)
    return value if field is None else value[: field.start()]


def judged(
    text: str, start: int, end: int, meaning: Meaning, place: ValueNotation, *, quoted: bool = False
) -> tuple[int, int] | None:
    """The place of a value between two places, without white space around it; None where it is not a secret."""
    if end <= start:
        return None
    value = text[start:end]
    if not quoted and value.count("=") > _MOST_SIGNS:
        return None
    bare = value.strip()
    if not bare or "\n" in bare or not is_secret(bare, meaning, place, quoted=quoted):
        return None
    start += len(value) - len(value.lstrip())
    return start, start + len(bare)
