"""Secrets in tables of plain text: a column whose head is the name of a secret, separated by commas, semicolons or tabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.base.redact.names import Meaning, meaning_of
from leafward.base.redact.secret_values import ValueNotation, is_secret, stands_out
from leafward.base.redact.spans import SecretKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from leafward.base.redact.spans import Span

_HEAD = late(r"[ \t]*\"?[A-Za-z][\w .-]{0,40}\"?(?:[,;\t][ ]?\"?[A-Za-z][\w .-]{0,40}\"?){1,40}[ \t\r]*\Z")
_RULE = late(r"(?=[^-─═]*[-─═]{2})[ \t|:+─═│┼├┤╞╪╡-]{3,400}\r?\Z")
"""The line below the head of a drawn table or of a Markdown table."""
_SPACED_TITLE = late(r"[A-Za-z][\w.()-]*(?: [A-Za-z(][\w.()-]*)*")
_SPACED_HEAD = late(
    r"[ ]{0,4}[A-Za-z][\w.()-]{0,30}(?: [A-Za-z(][\w.()-]{0,30}){0,3}(?:[ ]{2,80}[A-Za-z][\w.()-]{0,30}(?: [A-Za-z(][\w.()-]{0,30}){0,3}){1,20}[ ]*\r?\Z"
)
"""The head of a table whose columns are separated by two spaces or more."""
_TITLE = late(r"[A-Za-z][\w .-]{0,40}")
_INSERT = late(
    r"(?:into|INTO|Into)\s{1,20}[\w.`\"\[\]]{1,80}\s{0,20}\((?P<names>[\w\s,`\"\[\]]{3,600})\)\s{0,20}(?:values|VALUES|Values)\s{0,20}\("
)
_VALUE = late(r"\s{0,20}(?:'(?P<text>(?:[^'\\\n]|\\.|''){0,600})'|[^,()'\n]{1,200})\s{0,20}(?P<end>[,)])")
_KEYWORDS = ("passw", "secret", "token", "api")
SIGNS = (*_KEYWORDS, "insert into", "sqlite")
"""In small letters: a text with such a table holds one of them."""
_ROW = late(r"(?<![^\n\"n])(?=[^\n\\]{0,400}@[\w.-]{1,60}\|)[^|\s\\\"]{1,100}(?:\|[^|\n\\\"]{0,200}){2,40}")
"""A row of sqlite3 with an address of mail."""
_SEPARATORS = ",;\t"
_MOST_ROWS = 1000
"""Rows below a head that are searched, up to the same head again: what follows is searched from there."""


def columns_in(text: str, low: str, signs: Collection[str]) -> Iterator[Span]:
    """The values in columns of secrets. `low` is the text in small letters, `signs` those of `SIGNS` that it may hold."""
    if "\n" not in text:
        return
    done = 0
    for keyword in filter(signs.__contains__, _KEYWORDS):
        at = low.find(keyword)
        while at >= 0:
            start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
            if end < 0:
                break
            head = text[start:end] if start >= done else ""
            if (bar := "│" if "│" in head else "|") in head:
                yield from _cells_below(text, end + 1, head, bar)
            elif "  " in head.strip() and _SPACED_HEAD.match(head):
                yield from _columns_below(text, end + 1, head)
            separator = next((sign for sign in _SEPARATORS if sign in head), "")
            if separator and _HEAD.match(head):
                yield from _column_values(text, end + 1, head, separator)
            done = max(done, end)
            at = low.find(keyword, end)


def _cells_below(text: str, at: int, head: str, bar: str) -> Iterator[Span]:
    """Secrets below a head in a table with bars between cells: of Markdown, of a database's own program, or drawn."""
    names = [name.strip(" \t`*\r") for name in head.split(bar)]
    if not all(_TITLE.fullmatch(name) for name in names if name):
        return
    meanings = [
        (column, found) for column, name in enumerate(names) if (found := meaning_of(name)) is not None
    ]
    for row in range(_MOST_ROWS if meanings else 0):
        end = text.find("\n", at)
        line = text[at:] if end < 0 else text[at:end]
        if line == head:
            return
        if _RULE.match(line) is None:
            cells = line.split(bar)
            if row == 0 or len(cells) != len(names):
                return
            yield from _values_in(cells, meanings, at)
        if end < 0:
            return
        at = end + 1


def _columns_below(text: str, at: int, head: str) -> Iterator[Span]:
    """Secrets below a head in columns that begin below each other, with spaces between, as programs for the cloud print them."""
    titles = list(_SPACED_TITLE.finditer(head))
    columns = [(title.start(), found) for title in titles if (found := meaning_of(title[0])) is not None]
    for _ in range(_MOST_ROWS if columns else 0):
        end = text.find("\n", at)
        line = text[at:] if end < 0 else text[at:end]
        if (
            not line.strip()
            or line == head
            or not all(line[title.start() - 1 : title.start()] in ("", " ") for title in titles)
        ):
            return
        for column, meaning in columns:
            value = line[column:].split(" ", 1)[0].rstrip("\r")
            if any(map(str.isdigit, value)) and is_secret(value, meaning, ValueNotation.INLINE):
                yield at + column, at + column + len(value), SecretKind.SECRET
        if end < 0:
            return
        at = end + 1


def _values_in(cells: list[str], meanings: list[tuple[int, Meaning]], at: int) -> Iterator[Span]:
    for column, meaning in meanings:
        cell = cells[column]
        value = cell.strip(" \t`*\r")
        # Tables of names also list names of tokens; a value without a digit is a name.
        sure = meaning is Meaning.PASSWORD or any(map(str.isdigit, value))
        if sure and is_secret(value, meaning, ValueNotation.INLINE):
            begin = at + sum(len(one) + 1 for one in cells[:column]) + cell.index(value)
            yield begin, begin + len(value), SecretKind.SECRET


def unnamed_in(text: str, low: str) -> Iterator[Span]:
    """Passwords and keys in rows that sqlite3 prints without a head; a row of a person is told by an address of mail."""
    if "|" not in text or "sqlite" not in low:
        return
    for row in _ROW.finditer(text):
        at = row.start()
        for cell in row[0].split("|"):
            if stands_out(cell) and "@" not in cell:
                yield at, at + len(cell), SecretKind.SECRET
            at += len(cell) + 1


def inserted_in(text: str, low: str) -> Iterator[Span]:
    """The values that an SQL statement puts into columns of secrets. `low` is the text in small letters."""
    if "insert into" not in low:
        return
    for found in _INSERT.finditer(text):
        names = [name.strip(' `"[]\t\n') for name in found["names"].split(",")]
        meanings = [meaning_of(name) for name in names]
        if not any(meanings):
            continue
        at, column = found.end(), 0
        while (value := _VALUE.match(text, at)) is not None and column < len(names):
            meaning = meanings[column]
            if (
                meaning is not None
                and value["text"]
                and is_secret(value["text"], meaning, ValueNotation.QUOTED)
            ):
                yield value.start("text"), value.end("text"), SecretKind.SECRET
            at, column = value.end(), column + 1
            if value["end"] == ")":
                following = _NEXT_ROW.match(text, at)
                if following is None:
                    break
                at, column = following.end(), 0


_NEXT_ROW = late(r"\s{0,20},\s{0,20}\(")


def _column_values(text: str, at: int, head: str, separator: str) -> Iterator[Span]:
    names = [name.strip(' "\r') for name in head.split(separator)]
    meanings = [
        (column, found) for column, name in enumerate(names) if (found := meaning_of(name)) is not None
    ]
    for _ in range(_MOST_ROWS if meanings else 0):
        end = text.find("\n", at)
        line = text[at:] if end < 0 else text[at:end]
        cells = line.split(separator)
        if len(cells) != len(names) or line == head:
            return
        for column, meaning in meanings:
            cell = cells[column]
            value = cell.strip(' "\r')
            if is_secret(value, meaning, ValueNotation.QUOTED):
                begin = at + sum(len(one) + 1 for one in cells[:column]) + cell.index(value)
                yield begin, begin + len(value), SecretKind.SECRET
        if end < 0:
            return
        at = end + 1
