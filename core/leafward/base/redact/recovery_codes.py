"""Codes that replace a second factor: recovery codes in a row, below or behind a label."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.base.redact.spans import Span

SIGNS = ("recovery", "backup", "scratch", "emergency")
_CODES = re.compile(
    r"(?i)[ _-](?:recovery[ _-]|backup[ _-]|login[ _-]|verification[ _-])?(?:pass)?codes?\b[^\n:=\\]{0,120}[:=\n\\][ \t]{0,4}"
)
_GAP = re.compile(r"(?:[\s,;|│*+•\[\]\"'`]|\\{1,7}[nrt\"]|-[ \t]|[0-9]{1,2}[.):→][ \t]{0,4}){1,30}+")
_CODE = re.compile(r"[A-Za-z0-9]{4,16}(?:-[A-Za-z0-9]{3,12}){0,4}(?![\w-])")
_MOST = 24
_LEAST_CODES = 2
_SHORTEST = 6
"""Letters and digits of a code."""


def codes_in(text: str, low: str) -> Iterator[Span]:
    """The codes of a list whose codes have the same shape, most of them with a digit. `low` is the text in small letters."""
    for sign in SIGNS:
        at = low.find(sign)
        while at >= 0:
            end = at + len(sign)
            label = _CODES.match(text, end)
            if label is not None:
                yield from _alike(text, label.end())
            at = low.find(sign, end)


def _alike(text: str, at: int) -> Iterator[Span]:
    found = list(_listed(text, at))
    shape = Counter(_shape(text[start:end]) for start, end in found).most_common(1)
    if not shape or shape[0][1] < _LEAST_CODES or sum(shape[0][0]) < _SHORTEST:
        return
    alike = [span for span in found if _shape(text[slice(*span)]) == shape[0][0]]
    if 2 * sum(any(map(str.isdigit, text[slice(*span)])) for span in alike) >= len(alike):
        for start, end in alike:
            yield start, end, "recovery code"


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
