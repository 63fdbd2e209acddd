"""Secrets in tables of plain text: a column whose head is the name of a secret, and rows of databases without a head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.names import Meaning, meaning_of
from leafward.redaction.secret_values import ValueNotation, is_secret, stands_out
from leafward.redaction.spans import SecretKind, hits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from leafward.redaction.spans import Span

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
_MOST_COLUMNS = 40
"""Columns of secrets below one head that are searched."""


def columns_in(text: str, low: str, signs: Collection[str]) -> Iterator[Span]:
    """The values in columns of secrets. `low` is the text in small letters, `signs` those of `SIGNS` that it may hold."""
    if "\n" not in text:
        return
    tables = _Tables(text)
    for start in sorted(
        {text.rfind("\n", 0, at) + 1 for at in hits(low, filter(signs.__contains__, _KEYWORDS))}
    ):
        end = text.find("\n", start)
        if end < 0:
            break
        head = text[start:end]
        if (bar := "│" if "│" in head else "|") in head:
            yield from tables.below_bars(end + 1, head, bar)
        elif "  " in head.strip() and _SPACED_HEAD.match(head):
            yield from tables.below_titles(end + 1, head)
        separator = next((sign for sign in _SEPARATORS if sign in head), "")
        if separator and _HEAD.match(head):
            yield from tables.below_names(end + 1, head, separator)


class _Tables:
    """The tables of a text. What is a head may also be a row of the table above: a row is searched once for each column."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._searched: dict[object, int] = {}
        """Places up to which the rows below heads were searched, by what was looked for in them."""

    def _rows(self, at: int, head: str, sought: object) -> Iterator[tuple[int, str]]:
        """The lines below a head that were not searched for the same before, with their places, while they are asked for."""
        text = self._text
        at = max(at, self._searched.get(sought, 0))
        for _ in range(_MOST_ROWS):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            line = text[at:end]
            if at > end or line == head:
                return
            yield at, line
            self._searched[sought] = at = end + 1

    def below_bars(self, at: int, head: str, bar: str) -> Iterator[Span]:
        """Secrets below a head in a table with bars between cells: of Markdown, of a database's own program, or drawn."""
        end = self._text.find("\n", at)
        if _RULE.match(self._text[at:] if end < 0 else self._text[at:end]) is None:
            return
        names = [name.strip(" \t`*\r") for name in head.split(bar)]
        if not all(_TITLE.fullmatch(name) for name in names if name):
            return
        for column, meaning in _meanings(names):
            for row, line in self._rows(at, head, (bar, len(names), column, meaning)):
                if _RULE.match(line) is None:
                    cells = line.split(bar)
                    if len(cells) != len(names):
                        break
                    value = cells[column].strip(" \t`*\r")
                    # Tables of names also list names of tokens; a value without a digit is a name.
                    sure = meaning is Meaning.PASSWORD or any(map(str.isdigit, value))
                    if sure and is_secret(value, meaning, ValueNotation.INLINE):
                        yield _in_cell(row, cells, column, value)

    def below_titles(self, at: int, head: str) -> Iterator[Span]:
        """Secrets below a head in columns that begin below each other, with spaces between, as programs for the cloud print them."""
        titles = list(_SPACED_TITLE.finditer(head))
        begins = tuple(title.start() for title in titles)
        for column, meaning in _meanings([title[0] for title in titles]):
            begin = begins[column]
            for row, line in self._rows(at, head, (begin, meaning)):
                if not line.strip() or not all(line[place - 1 : place] in ("", " ") for place in begins):
                    break
                value = line[begin:].split(" ", 1)[0].rstrip("\r")
                if any(map(str.isdigit, value)) and is_secret(value, meaning, ValueNotation.INLINE):
                    yield row + begin, row + begin + len(value), SecretKind.SECRET

    def below_names(self, at: int, head: str, separator: str) -> Iterator[Span]:
        """Secrets below a head whose names a sign separates."""
        names = [name.strip(' "\r') for name in head.split(separator)]
        for column, meaning in _meanings(names):
            for row, line in self._rows(at, head, (separator, len(names), column, meaning)):
                cells = line.split(separator)
                if len(cells) != len(names):
                    break
                value = cells[column].strip(' "\r')
                if is_secret(value, meaning, ValueNotation.QUOTED):
                    yield _in_cell(row, cells, column, value)


def _meanings(names: list[str]) -> list[tuple[int, Meaning]]:
    """The columns whose names announce secrets, and what they announce."""
    found = ((column, meaning_of(name)) for column, name in enumerate(names))
    return [(column, meaning) for column, meaning in found if meaning is not None][:_MOST_COLUMNS]


def _in_cell(row: int, cells: list[str], column: int, value: str) -> Span:
    """The place of a value in a cell of a row."""
    begin = row + sum(len(one) + 1 for one in cells[:column]) + cells[column].index(value)
    return begin, begin + len(value), SecretKind.SECRET


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
