"""Places of secrets in a text, and the union of overlapping places."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Span = tuple[int, int, str]
    """Begin and end in code points, and the kind of secret: a plain tuple, because a text can hold very many candidates."""
    Rule = Callable[[str], Iterable[Span]]
    """Finds secrets of one family in a text, in linear time."""

MARKER = "[redacted: "
"""Beginning of the text in place of a secret. No rule takes it for a secret."""


class SecretKind(StrEnum):
    """The kinds that no provider's form tells; those of providers stand with their forms."""

    SECRET = "secret"  # noqa: S105  # a kind, as all below
    PASSWORD = "password"  # noqa: S105
    TOKEN = "token"  # noqa: S105
    BEARER_TOKEN = "bearer token"  # noqa: S105
    COOKIE = "cookie"
    PRIVATE_KEY = "private key"
    PIN = "pin"
    ONE_TIME_CODE = "one-time code"
    ONE_TIME_SEED = "one-time seed"
    RECOVERY_CODE = "recovery code"
    WALLET_PHRASE = "wallet phrase"
    ENCODED_SECRET = "encoded secret"  # noqa: S105
    AWS_SECRET = "aws secret"  # noqa: S105


_VAGUE = frozenset({SecretKind.SECRET, SecretKind.PASSWORD, SecretKind.BEARER_TOKEN, SecretKind.COOKIE})
"""Kinds that tell the place of a secret and not its provider: the kind of a rule that knows the form is preferred."""


def words(text: str) -> frozenset[str]:
    """The words of a list that is written as one text."""
    return frozenset(text.split())


def hits(text: str, sought: Iterable[str]) -> list[int]:
    """The places of some words in a text, in order."""
    found: list[int] = []
    for word in sought:
        at = text.find(word)
        while at >= 0:
            found.append(at)
            at = text.find(word, at + len(word))
    found.sort()
    return found


def merged(spans: Iterable[Span]) -> Iterator[Span]:
    """The spans in order, overlapping ones united under the kind that tells most."""
    start = end = -1
    kind = ""
    rank = 0
    for begin, stop, name in sorted(spans):
        if begin >= end:
            if kind:
                yield start, end, kind
            start, end, kind, rank = begin, stop, name, _rank(name, stop - begin)
            continue
        here = _rank(name, stop - begin)
        if here > rank:
            kind, rank = name, here
        end = max(end, stop)
    if kind:
        yield start, end, kind


def _rank(kind: str, size: int) -> int:
    return size if kind not in _VAGUE else -1 if kind == SecretKind.SECRET else 0
