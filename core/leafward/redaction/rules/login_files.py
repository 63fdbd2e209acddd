"""Tokens in the login files of agents, whose names are no names of secrets: `{"access": "…", "refresh": "…"}`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.secret_values import stands_out
from leafward.redaction.spans import SecretKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.redaction.spans import Span

SIGNS = ("access", "refresh")
_LEAST = 24
_TOKEN = late(r"[A-Za-z0-9_.~+/=|-]+")
_VALUE = late(
    r"""(?<![\w-])(?:access|refresh)\\{0,7}["'][ \t]{0,8}:\s{0,8}\\{0,7}["'](?P<value>[^\s"'\\]{24,4000})\\{0,7}["']"""
)


def login_tokens_in(text: str) -> Iterator[Span]:
    """The tokens under these names, in quotes: rights and times stand there too, which are short or words."""
    for sign in SIGNS:
        at = text.find(sign)
        while at >= 0:
            found = _VALUE.match(text, at)
            if found is not None and is_login_token(found["value"]):
                yield *found.span("value"), SecretKind.TOKEN
            at = text.find(sign, at + len(sign))


def is_login_token(value: str) -> bool:
    """Whether a value under one of these names is a token."""
    return len(value) >= _LEAST and _TOKEN.fullmatch(value) is not None and stands_out(value)
