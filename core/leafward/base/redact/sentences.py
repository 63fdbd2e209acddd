"""Secrets that a sentence names from afar: `with … as the password`, `the token you need is …`, a value alone below what says it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.base.redact.names import Meaning
from leafward.base.redact.secret_values import Place, is_secret, stands_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.base.redact.spans import Span

_NAMES: tuple[tuple[str, Meaning], ...] = (
    ("password", Meaning.PASSWORD),
    ("passwd", Meaning.PASSWORD),
    ("passphrase", Meaning.PASSWORD),
    ("pass phrase", Meaning.PASSWORD),
    ("pwd", Meaning.PASSWORD),
    ("pw", Meaning.PASSWORD),
    ("token", Meaning.SECRET),
    ("secret", Meaning.SECRET),
    ("key", Meaning.SECRET),
    ("credentials", Meaning.PASSWORD),
    ("creds", Meaning.PASSWORD),
    ("login", Meaning.PASSWORD),
)
SIGNS = tuple(name for name, _ in _NAMES)
_BEFORE = re.compile(
    r"(?P<quote>[\"'`“*]{0,3})(?P<value>[^\s\"'`“”*]{6,100})[\"'`”*]{0,3} (?P<link>is|was|as|for|=) (?:(?:the|its|your|my|our|a|new|db|root|admin|database|user|default|temporary)[ ]){0,4}(?:\w{1,20} )?\Z"
)
_VALUE = r"(?P<value>[A-Za-z0-9!#$%&*+?@^~_./=-]{8,100}?)(?=[\"'`”*)]{0,3}[.,;:!?]?(?:[\s)]|\\n|$))"
_AHEAD = re.compile(
    rf"(?:['’]?s)?(?:(?:[ \t]{{1,2}}[(\"'`]?[a-z'’]{{1,12}}[)\"'`,]?){{1,6}}?:?)?[ \t]{{1,4}}[(\"'`“*]{{0,3}}(?P<who>[\w.@-]{{1,40}}[ ]?[:/][ ]?)?{_VALUE}"
)
_AND = re.compile(rf"[\"'`”*]{{0,3}} (?:to|or|and) [\"'`“*]{{0,3}}{_VALUE}")
_CHANGED = re.compile(
    r" (?:was |is )?(?:changed )?from [\"'`“*]{0,3}(?P<old>[^\s\"'`“”*]{6,100})[\"'`”*]{0,3} to [\"'`“*]{0,3}(?P<new>[^\s\"'`“”*]{6,100}?)(?=[\"'`”*)]{0,3}[.,;:!?]?(?:\s|$))"
)
_BELOW = re.compile(
    r"(?:s|\(s\))?(?: [\w,.'’()-]{1,20}){0,16}[ \t]?:[ \t]{0,4}(?:(?:\r?\n|\\{1,7}n)[ \t]{0,12}){1,3}[\"'`*]{0,3}(?P<value>[A-Za-z0-9!#$%&*+?@^~_./=-]{8,200})[\"'`*]{0,3}[ \t]{0,4}(?=\r?\n|\\{1,7}n|\Z|\")"
)
"""The rest of a line that ends with a colon, and what stands alone below it."""

_GROUPS = r"(?:[A-Z2-7]{4}[ -]){3,15}[A-Z2-7]{2,4}|(?:[a-z2-7]{4}[ -]){3,15}[a-z2-7]{2,4}"
_SEED = re.compile(rf"[^\n:\\]{{0,60}}[:\n\\]n?[ \t\n`\"'*]{{0,12}}(?P<value>{_GROUPS})(?![\w-])")
"""The seed of a generator of codes, in groups of four, as it is shown beside a picture to scan."""
_LINKS = (" as ", " is ", " was ", " for ", " = ")
_NEAR = 60
_REACH = 160
_NO_SECRET = re.compile(
    r"(?i)\b(?:public|hash|sha[0-9]*|digest|fingerprint|checksum|signature|uuid|ids?|named?|called|type|class|field|column|file|path|url)\b|sha[0-9]|hash"
)
"""Words near a name that make what is meant something else."""
_GOES_ON = ("", " ", "\t", "'", "’", "s", "(", ":")
_PARTS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_./:$@\\")
"""What stands before a word that is part of a name."""


def sentences_in(text: str, low: str) -> Iterator[Span]:
    """The secrets that stand some words away from what names them. `low` is the text in small letters."""
    for name, meaning in _NAMES:
        at = low.find(name)
        while at >= 0:
            end = at + len(name)
            if low[at - 1 : at] not in _PARTS or at == 0:
                yield from _around(text, at, end, meaning)
            at = low.find(name, end)


def _around(text: str, at: int, end: int, meaning: Meaning) -> Iterator[Span]:
    if any(map(text[max(0, at - _NEAR) : at].__contains__, _LINKS)):
        before = _BEFORE.search(text, max(0, at - _REACH), at)
        sure = before is not None and before["link"] == "as" and meaning is Meaning.PASSWORD
        if before is not None and (
            is_secret(before["value"], meaning, Place.INLINE) if sure else _is_value(before["value"])
        ):
            yield *before.span("value"), "password"
    if text[end : end + 1] not in _GOES_ON:
        return
    if _NO_SECRET.search(text, max(0, at - _NEAR), at):
        return
    changed = _CHANGED.match(text, end) if meaning is Meaning.PASSWORD else None
    if changed is not None:
        for group in ("old", "new"):
            if is_secret(changed[group], meaning, Place.INLINE):
                yield *changed.span(group), "password"
    ahead = _AHEAD.match(text, end)
    if ahead is not None and _NO_SECRET.search(text, end, ahead.start("value")):
        return
    if ahead is not None and ahead["who"] and meaning is not Meaning.PASSWORD:
        return
    while ahead is not None and _is_value(ahead["value"]):
        yield *ahead.span("value"), "password"
        ahead = _AND.match(text, ahead.end("value"))
    seed = _SEED.match(text, end) if meaning is Meaning.SECRET else None
    if seed is not None and any(map(str.isdigit, seed["value"])):
        yield *seed.span("value"), "one-time seed"
    below = _BELOW.match(text, end)
    if (
        below is not None
        and is_secret(below["value"], meaning, Place.LINE)
        and not below["value"].isdecimal()
    ):
        yield *below.span("value"), "password"


def _is_value(value: str) -> bool:
    return stands_out(value.rstrip(".,;:!?)"))
