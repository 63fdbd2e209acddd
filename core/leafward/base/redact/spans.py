"""Where a secret lies in a text, and how places that overlap become one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Span = tuple[int, int, str]
    """Begin and end in code points, and the kind of secret: a plain tuple, because a text can hold very many candidates."""
    Rule = Callable[[str], Iterable[Span]]
    """Finds secrets of one family in a text, in linear time."""

MARKER = "[redacted: "
"""How what stands in place of a secret begins. No rule takes it for a secret."""

_VAGUE = frozenset({"secret", "password", "bearer token", "cookie"})
"""Kinds that say where a secret stood, not whose it is: a rule that knows the form says more."""


def words(text: str) -> frozenset[str]:
    """The words of a list that is written as one text."""
    return frozenset(text.split())


def merged(spans: Iterable[Span]) -> Iterator[Span]:
    """The spans in order, those that overlap as one: all that any of them covers, under the name that says most."""
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
    return size if kind not in _VAGUE else -1 if kind == "secret" else 0
