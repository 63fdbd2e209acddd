"""The query language as text: parsed into expressions. Pure; says where it went wrong.

    ancestors(leaf) & tool(edit) & file("src/**") & tokens>2k
    branchpoints() | labelled()            either
    ancestors(1a2b3c4d) - ancestors(leaf)  the first without the second
    !error() & "rate limit"                not; a text in quotes is searched for
    /timed? ?out/ & results()              a regular expression

`&` binds closer than `-`, that closer than `|`. A `-` inside a word belongs to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from leafward.base.errors import LeafwardError

DEEPEST = 60
"""Brackets inside brackets."""
LONGEST = 4_000
"""Code points of a query."""


class QueryError(LeafwardError):
    """A query that cannot be read."""

    def __init__(self, what: str, column: int) -> None:
        super().__init__(f"{what} (column {column + 1})")
        self.column = column
        """Where, in code points from 0."""


@dataclass(frozen=True, slots=True)
class Call:
    """A function with its arguments."""

    name: str
    arguments: tuple[Expression, ...]
    column: int


@dataclass(frozen=True, slots=True)
class Word:
    """What stands for itself: an entry's id, `leaf`, `#12`, the name of a tool."""

    text: str
    column: int


@dataclass(frozen=True, slots=True)
class Quoted:
    """A text in quotes."""

    text: str
    column: int


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression between slashes."""

    source: str
    column: int


@dataclass(frozen=True, slots=True)
class Compare:
    """A field against a number or a time."""

    field: str
    sign: str
    value: str
    column: int


@dataclass(frozen=True, slots=True)
class Not:
    """Everything else."""

    inner: Expression


@dataclass(frozen=True, slots=True)
class Both:
    """What all of them hold."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """What one of them holds."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Without:
    """The first, without the others."""

    parts: tuple[Expression, ...]


Expression = Call | Word | Quoted | Pattern | Compare | Not | Both | Either | Without


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


_TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<pattern>/(?:[^/\\]|\\.)+/)"""
    r"""|(?P<sign><=|>=|!=|=|<|>)|(?P<mark>[&|!(),-])|(?P<word>\#?[^\s&|!(),<>="'/-][^\s&|!(),<>="']*)""",
    re.DOTALL,
)


def parse(query: str) -> Expression:
    """The expression that a query stands for. Raises QueryError."""
    if len(query) > LONGEST:
        raise QueryError(f"a query has at most {LONGEST:,} characters", LONGEST)
    tokens: list[_Token] = []
    place = 0
    while place < len(query):
        found = _TOKEN.match(query, place)
        if found is None:
            what = (
                "this quotation is never closed"
                if query[place] in "\"'"
                else f"{query[place]!r} means nothing here"
            )
            raise QueryError(what, place)
        if found.lastgroup != "space":
            tokens.append(_Token(str(found.lastgroup), found[0], place))
        place = found.end()
    reader = _Reader([*tokens, _Token("end", "", len(query))])
    expression = reader.either(0)
    reader.expect_end()
    return expression


class _Reader:
    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._place = 0

    @property
    def _next(self) -> _Token:
        return self._tokens[self._place]

    def _take(self) -> _Token:
        token = self._next
        self._place += 1
        return token

    def expect_end(self) -> None:
        """Raises QueryError where something follows."""
        if self._next.kind != "end":
            raise QueryError(f'expected & or | before "{self._next.text}"', self._next.column)

    def either(self, depth: int) -> Expression:
        """Parts joined by `|`."""
        if depth > DEEPEST:
            raise QueryError("brackets lie too deep", self._next.column)
        parts = [self._without(depth)]
        while self._next.text == "|":
            self._take()
            parts.append(self._without(depth))
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _without(self, depth: int) -> Expression:
        parts = [self._both(depth)]
        while self._next.text == "-" and self._next.kind == "mark":
            self._take()
            parts.append(self._both(depth))
        return parts[0] if len(parts) == 1 else Without(tuple(parts))

    def _both(self, depth: int) -> Expression:
        parts = [self._single(depth)]
        while self._next.text == "&":
            self._take()
            parts.append(self._single(depth))
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def _single(self, depth: int) -> Expression:
        negated = 0
        while self._next.kind == "mark" and self._next.text == "!":
            self._take()
            negated += 1
        found = self._plain(depth)
        return Not(found) if negated % 2 else found

    def _plain(self, depth: int) -> Expression:
        token = self._take()
        if token.text == "(" and token.kind == "mark":
            inner = self.either(depth + 1)
            self._close(token)
            return inner
        if token.kind == "text":
            return Quoted(re.sub(r"\\(.)", r"\1", token.text[1:-1], flags=re.DOTALL), token.column)
        if token.kind == "pattern":
            return Pattern(token.text[1:-1].replace("\\/", "/"), token.column)
        if token.kind != "word":
            what = (
                "something is missing at the end"
                if token.kind == "end"
                else f"{token.text!r} means nothing here"
            )
            raise QueryError(what, token.column)
        if self._next.kind == "sign":
            sign, value = self._take(), self._take()
            if value.kind not in ("word", "text"):
                raise QueryError(f"{token.text} {sign.text} needs a value", value.column)
            return Compare(token.text.lower(), sign.text, value.text.strip("\"'"), token.column)
        if self._next.text != "(" or self._next.kind != "mark":
            return Word(token.text, token.column)
        opened = self._take()
        arguments: list[Expression] = []
        if self._next.text != ")":
            arguments.append(self.either(depth + 1))
            while self._next.text == ",":
                self._take()
                arguments.append(self.either(depth + 1))
        self._close(opened)
        return Call(token.text.lower(), tuple(arguments), token.column)

    def _close(self, opened: _Token) -> None:
        if self._next.text != ")":
            raise QueryError("this bracket is never closed", opened.column)
        self._take()
