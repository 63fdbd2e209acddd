"""Codes that replace a second factor: recovery codes in a row, below or behind a label."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.spans import SecretKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.redaction.spans import Span

_OF_LISTS = ("recovery", "backup", "scratch", "emergency")
_SENT = ("verification code", "verification pin", "confirmation code", "passcode", "2fa code")
"""Names of a code that a message brings and that is used once."""
_PIN_WORD = late(r"""pin[ :=\\"']""")
_PIN = late(
    r"""(?x) (?:PIN|[Pp]in) (?:[ ](?:for|of|on|at)(?:[ ][\w'’-]{1,20}){1,5}?)?
    (?P<said> [ ](?:is|was)(?:[ ](?:now|(?:re)?set[ ]to|changed[ ]to))?:? | [ ]?: )? [ ] (?P<code>[0-9]{4,8})(?!\.[0-9])
    (?= [ ]*(?: \Z | [.,;!?)(\#\n\\"'`] | (?:if|to|and|or|for|on|at|when|then|works?|accepted)\b ))"""
)
"""The number that opens a door, a card or a phone: not pages that are pinned, nor pins of a chip, which have fewer digits."""
_PIN_SET = late(
    r"""(?:(?:PIN|[Pp]in)\\{0,7}["']?[ ]?[:=][ ]?|(?<=--)pin[ ])\\{0,7}["']?(?P<code>[0-9]{4,8})(?![\w.-])"""
)
"""A setting of that name: `CARD_PIN=`, `"pin": "…"`, `--pin`."""
_OF_WHAT = late(r"(?i)\b(?:card|door|phone|voicemail|sim|use|with|enter|unlock|my|your)(?: the)? \Z")
"""Words before a `pin` that is no verb."""
SIGNS = (*_OF_LISTS, "verification", "confirmation", "passcode", "2fa", "pin")
_CODE_SENT = late(
    r"""(?:[ ](?:for|to|from|of)[ ][\w@.'-]{1,40}(?:[ ][\w@.'-]{1,20})?)?(?:[ ]is(?:[ ]now)?:?|[ ]?[:=])[ \t]{0,3}(?:\n|\\n)?[\\\"'`*]{0,4}(?P<code>[0-9]{3}[ -]?[0-9]{3}|[0-9]{4,8}|G-[0-9]{6})(?![\w-]|\.[0-9])"""
)
_CODES = late(
    r"(?i)[ _-](?:recovery[ _-]|backup[ _-]|login[ _-]|verification[ _-])?(?:pass)?codes?\b[^\n:=\\]{0,120}[:=\n\\][ \t]{0,4}"
)
_GAP = late(r"(?:[\s,;|│*+•\[\]\"'`]|\\{1,7}[nrt\"]|-[ \t]|[0-9]{1,2}[.):→][ \t]{0,4}){1,30}+")
_CODE = late(r"[A-Za-z0-9]{4,16}(?:-[A-Za-z0-9]{3,12}){0,4}(?![\w-])")
_MOST = 24
_LEAST_CODES = 2
_SHORTEST = 6
"""Letters and digits of a code."""

_CODE_BEFORE = late(
    r"(?<![\w.-])(?P<code>[0-9]{3}[ -]?[0-9]{3}|[0-9]{4,8}|G-[0-9]{6}) is (?:your|the) (?:[\w.-]{1,20} ){0,3}\Z"
)
_REACH = 100
"""Characters before a name in which its code stands."""


def codes_in(text: str, low: str) -> Iterator[Span]:
    """The codes of a list whose codes have the same shape, most of them with a digit. `low` is the text in small letters."""
    for sign in filter(low.__contains__, _SENT):
        at = low.find(sign)
        while at >= 0:
            end = at + len(sign)
            sent = _CODE_SENT.match(text, end) or _CODE_BEFORE.search(text, max(0, at - _REACH), at)
            if sent is not None:
                yield *sent.span("code"), SecretKind.ONE_TIME_CODE
            at = low.find(sign, end)
    yield from _pins(text, low)
    for sign in _OF_LISTS:
        at = low.find(sign)
        while at >= 0:
            end = at + len(sign)
            label = _CODES.match(text, end)
            if label is not None:
                yield from _alike(text, label.end())
            at = low.find(sign, end)


def _pins(text: str, low: str) -> Iterator[Span]:
    for word in _PIN_WORD.finditer(low):
        at = word.start()
        if low[at - 1 : at].isalnum():
            continue
        if (setting := _PIN_SET.match(text, at)) is not None:
            yield *setting.span("code"), SecretKind.PIN
        elif (pin := _PIN.match(text, at)) is not None:
            sure = pin["said"] is not None or text.startswith("PIN", at)
            if sure or _OF_WHAT.search(text, max(0, at - 24), at) is not None:
                yield *pin.span("code"), SecretKind.PIN


def _alike(text: str, at: int) -> Iterator[Span]:
    found = list(_listed(text, at))
    shape = Counter(_shape(text[start:end]) for start, end in found).most_common(1)
    if not shape or shape[0][1] < _LEAST_CODES or sum(shape[0][0]) < _SHORTEST:
        return
    alike = [span for span in found if _shape(text[slice(*span)]) == shape[0][0]]
    if 2 * sum(any(map(str.isdigit, text[slice(*span)])) for span in alike) >= len(alike):
        for start, end in alike:
            yield start, end, SecretKind.RECOVERY_CODE


def _listed(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Possible codes that follow each other from a place on."""
    for _ in range(_MOST):
        gap = _GAP.match(text, at)
        code = _CODE.match(text, gap.end() if gap is not None else at)
        if code is None:
            return
        yield code.span()
        at = code.end()


def _shape(code: str) -> tuple[int, ...]:
    """The lengths of the parts of a code: the codes of one list share them."""
    return tuple(len(part) for part in code.split("-"))
