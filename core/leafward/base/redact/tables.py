"""Secrets in tables of plain text: a column whose head is the name of one, separated by commas, semicolons or tabs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.base.redact.names import meaning_of
from leafward.base.redact.secret_values import Place, is_secret

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.base.redact.spans import Span

_HEAD = re.compile(
    r"[ \t]*\"?[A-Za-z][\w .-]{0,40}\"?(?:[,;\t][ ]?\"?[A-Za-z][\w .-]{0,40}\"?){1,40}[ \t\r]*\Z"
)
_KEYWORDS = ("passw", "secret", "token", "api")
_SEPARATORS = ",;\t"
_MOST_ROWS = 1000
"""Rows below a head that are looked at."""


def columns_in(text: str, low: str) -> Iterator[Span]:
    """The values in columns of secrets. `low` is the text in small letters."""
    if "\n" not in text:
        return
    done = 0
    for keyword in filter(low.__contains__, _KEYWORDS):
        at = low.find(keyword)
        while at >= 0:
            start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
            if end < 0:
                break
            head = text[start:end] if start >= done else ""
            separator = next((sign for sign in _SEPARATORS if sign in head), "")
            if separator and _HEAD.match(head):
                yield from _column_values(text, end + 1, head, separator)
            done = max(done, end)
            at = low.find(keyword, end)


def _column_values(text: str, at: int, head: str, separator: str) -> Iterator[Span]:
    names = [name.strip(' "\r') for name in head.split(separator)]
    meanings = [
        (column, found) for column, name in enumerate(names) if (found := meaning_of(name)) is not None
    ]
    for _ in range(_MOST_ROWS if meanings else 0):
        end = text.find("\n", at)
        cells = (text[at:] if end < 0 else text[at:end]).split(separator)
        if len(cells) != len(names):
            return
        for column, meaning in meanings:
            cell = cells[column]
            value = cell.strip(' "\r')
            if is_secret(value, meaning, Place.QUOTED):
                begin = at + sum(len(one) + 1 for one in cells[:column]) + cell.index(value)
                yield begin, begin + len(value), "secret"
        if end < 0:
            return
        at = end + 1
