"""Passwords behind their hashes, as programs that find them out print them: `5f4d…cf99:…`, `$2b$12$…:…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.names import Meaning
from leafward.redaction.secret_values import ValueNotation, is_secret
from leafward.redaction.spans import SecretKind

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from leafward.redaction.spans import Span

_SIGN = late(r":(?<=[0-9a-fA-F]{32}:)|\$(?:2[aby]|[156y]|apr1|argon2[a-z]{1,2})\$[^\s:]{20,300}:")
"""Among the long runs of a text, a hash and the sign behind it."""
_LINE_END = r"(?=[ \t]*(?:\r?\n|\\{1,7}[rn]|\\{0,7}\"|\Z))"
_VALUE = r"(?P<value>[^\s:\"\\]{4,100})"
_HASHED = late(
    rf"(?<![^\n\"n])(?:[0-9a-fA-F]{{32}}|[0-9a-fA-F]{{40}}|[0-9a-fA-F]{{64}}|[0-9a-fA-F]{{96}}|[0-9a-fA-F]{{128}}):{_VALUE}{_LINE_END}"
)
"""A line of nothing but a checksum and a word. A revision and a file, or a checksum and a number, are written so too."""
_CRYPTED = late(
    rf"\$(?:2[aby]|[156y]|apr1|argon2[a-z]{{1,2}})\$[A-Za-z0-9./$=,+]{{20,300}}:{_VALUE}{_LINE_END}"
)
"""A hash that is made for passwords alone."""
_CRACKERS = ("hashcat", "potfile", "john --", "john.pot", "cracked", "crackstation")
_MARKS = frozenset("!@#$%^&*?+~")


def cracked_in(text: str, together: str) -> Iterator[Span]:
    """The passwords behind hashes. `together` are the long runs of the text."""
    if ":" not in together or _SIGN.search(together) is None:
        return
    for found in _CRYPTED.finditer(text):
        yield from _judged(found)
    sure = any(map(text.__contains__, _CRACKERS))
    for found in _HASHED.finditer(text):
        if sure or _is_chosen(found["value"]):
            yield from _judged(found)


def _judged(found: re.Match[str]) -> Iterator[Span]:
    value = found["value"]
    if not value.isdecimal() and is_secret(value, Meaning.PASSWORD, ValueNotation.LINE):
        yield *found.span("value"), SecretKind.PASSWORD


def _is_chosen(value: str) -> bool:
    """Whether a word has the signs that rules for passwords demand, and is no place of a file."""
    return "/" not in value and not _MARKS.isdisjoint(value[1:]) and any(map(str.isalnum, value))
