"""The query language: everything that is typed into a filter, a search or `select`, read as one tree of expressions. Pure.

    ancestors(leaf) & tool(edit) & file("src/**") & tokens>2k
    branchpoints() | labelled()            either
    ancestors(1a2b3c4d) - ancestors(leaf)  the first without the second
    !error() & "rate limit"                not; a text in quotes is searched for
    /timed? ?out/ & results()              a regular expression
    timeout tool:bash since:7d             terms: `tool:bash` is `tool("bash")`

`&` binds closer than `-`, that closer than `|`. A `-` inside a word belongs to it. What stands side by side is all needed; where
entries are chosen, a function needs a sign beside it. `not:x` is `!"x"`, `re:p` is `/p/` and `error:x` is `error() & "x"`. Of
`tool:`, `in:` and `agent:` given again any is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

from leafward.query.lexer import DEEPEST, QueryError, QueryPlace, SearchText, Token, choosing_tokens
from leafward.query.vocabulary import ANY_OF, value_problem


@dataclass(frozen=True, slots=True)
class QueryCall:
    """A function with its arguments."""

    name: str
    arguments: tuple[Expression, ...]
    column: int
    term: bool = False
    """Whether it is written as a term: then `file` takes a part of a name instead of a glob."""


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A plain word in a query for entries: an entry's id, `leaf`, `#12`, the name of a tool."""

    text: str
    column: int


@dataclass(frozen=True, slots=True)
class SearchedText:
    """A text to search for: in quotes, or a plain word in a search of text."""

    text: str
    column: int


@dataclass(frozen=True, slots=True)
class QueryPattern:
    """A regular expression, case ignored."""

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
    """The complement of an expression."""

    inner: Expression


@dataclass(frozen=True, slots=True)
class AllOf:
    """The intersection of expressions."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The union of expressions."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Without:
    """The first expression without the others."""

    parts: tuple[Expression, ...]


Expression = QueryCall | QueryWord | SearchedText | QueryPattern | Compare | Not | AllOf | AnyOf | Without


def parse(query: str) -> Expression:
    """The expression of a query that chooses entries: a plain word in it is an entry. Raises QueryError."""
    found = _Reader([*choosing_tokens(query), Token("end", "", len(query))], choosing=True).whole()
    if found is None:
        raise QueryError("expected a condition at the end", len(query))
    return found


def parse_search(text: str, place: QueryPlace) -> tuple[Expression | None, list[QueryError]]:
    """The expression of a search or filter (None where it asks for nothing), and the terms that were left out.

    Raises QueryError for a text that is not readable as a query at all.
    """
    search = SearchText(text, place)
    found = _Reader(search.tokens(), choosing=False).whole()
    return found, sorted(search.problems, key=lambda problem: problem.column)


def parse_find(text: str) -> Expression | None:
    """The expression of a search in one session; None where it is plain text, searched as typed. Raises QueryError."""
    found = parse_search(text, QueryPlace.FIND)[0]
    return None if isinstance(found, SearchedText) and found.text == text.strip() else found


class _Reader:
    """Reads tokens as an expression, from the operator that binds least to the one that binds most."""

    def __init__(self, tokens: list[Token], *, choosing: bool) -> None:
        self._tokens = tokens
        self._place = 0
        self._choosing = choosing
        """Whether functions need a sign between them."""

    @property
    def _next(self) -> Token:
        return self._tokens[self._place]

    def _take(self) -> Token:
        token = self._next
        self._place += 1
        return token

    def _is_mark(self, mark: str) -> bool:
        return self._next.kind == "mark" and self._next.text == mark

    def whole(self) -> Expression | None:
        """The expression of all tokens; None where there are none."""
        if self._next.kind == "end":
            return None
        found = self._either(0)
        if self._next.kind != "end":
            raise QueryError(f'expected & or | before "{self._next.typed}"', self._next.column)
        return found

    def _either(self, depth: int) -> Expression:
        if depth > DEEPEST:
            raise QueryError("brackets are nested too deep", self._next.column)
        parts = [self._without(depth)]
        while self._is_mark("|"):
            self._take()
            parts.append(self._without(depth))
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _without(self, depth: int) -> Expression:
        parts = [self._both(depth)]
        while self._is_mark("-"):
            self._take()
            parts.append(self._both(depth))
        return parts[0] if len(parts) == 1 else Without(tuple(parts))

    def _both(self, depth: int) -> Expression:
        parts = self._side_by_side(depth)
        while self._is_mark("&"):
            self._take()
            parts += self._side_by_side(depth)
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _side_by_side(self, depth: int) -> list[Expression]:
        """Parts beside each other, without a sign between them."""
        parts = self._single(depth)
        while self._goes_on():
            for part in self._single(depth):
                same = _place_of_alike(parts, part)
                if same is None:
                    parts.append(part)
                else:
                    before = parts[same]
                    parts[same] = AnyOf((*(before.parts if isinstance(before, AnyOf) else (before,)), part))
        return parts

    def _goes_on(self) -> bool:
        token = self._next
        if self._choosing:
            return token.kind in _BESIDE and self._tokens[self._place - 1].kind in _BESIDE
        return token.kind not in ("mark", "sign", "end") or self._is_mark("(") or self._is_mark("!")

    def _single(self, depth: int) -> list[Expression]:
        negated = 0
        while self._is_mark("!"):
            self._take()
            negated += 1
        found = self._plain(depth)
        return [Not(found[0] if len(found) == 1 else AllOf(tuple(found)))] if negated % 2 else found

    def _plain(self, depth: int) -> list[Expression]:
        token = self._take()
        if token.kind == "mark" and token.text == "(":
            inner = self._either(depth + 1)
            self._close(token)
            return [inner]
        if token.kind == "text":
            return [SearchedText(token.text, token.column)]
        if token.kind == "pattern":
            return [QueryPattern(token.text, token.column)]
        if token.kind == "term":
            return _of_term(token)
        if token.kind != "word":
            where = "at the end" if token.kind == "end" else f'before "{token.text}"'
            raise QueryError(f"expected a condition {where}", token.column)
        if self._next.kind == "sign":
            sign, value = self._take(), self._take()
            if value.kind not in ("word", "text"):
                raise QueryError(f"expected a value after {token.text} {sign.text}", value.column)
            return [Compare(token.text.lower(), sign.text, value.text, token.column)]
        if not self._is_mark("("):
            return [QueryWord(token.text, token.column)]
        opened = self._take()
        arguments: list[Expression] = []
        if not self._is_mark(")"):
            arguments.append(self._argument(depth))
            while self._is_mark(","):
                self._take()
                arguments.append(self._argument(depth))
        self._close(opened)
        return [QueryCall(token.text.lower(), tuple(arguments), token.column)]

    def _argument(self, depth: int) -> Expression:
        """The argument of a function: it chooses entries, wherever the function stands."""
        before, self._choosing = self._choosing, True
        found = self._either(depth + 1)
        self._choosing = before
        return found

    def _close(self, opened: Token) -> None:
        if self._next.kind != "end" and not self._is_mark(")"):
            raise QueryError(f'expected & or | before "{self._next.typed}"', self._next.column)
        if self._next.kind == "end":
            raise QueryError("this bracket is never closed", opened.column)
        self._take()


_BESIDE = frozenset({"text", "pattern", "term"})
"""Kinds of tokens that need no sign between them in a query for entries."""


def _of_term(token: Token) -> list[Expression]:
    name, value, column = token.text, token.value, token.column
    if not value and name != "error":
        raise QueryError(f"expected a value after {name}:", column)
    wrong = value_problem(name, value)
    if wrong is not None:
        raise QueryError(wrong, column)
    text = SearchedText(value, column)
    if name == "not":
        return [Not(text)]
    if name == "re":
        return [QueryPattern(value, column)]
    if name == "error":
        return [QueryCall(name, (), column, term=True), *([text] if value.strip() else [])]
    return [QueryCall(name, (text,), column, term=True)]


def _place_of_alike(parts: list[Expression], part: Expression) -> int | None:
    """The index of a term of the same kind of which any value is enough; None for every other part."""
    if not isinstance(part, QueryCall) or not part.term or part.name not in ANY_OF:
        return None
    for at, one in enumerate(parts):
        last = one.parts[-1] if isinstance(one, AnyOf) else one
        if isinstance(last, QueryCall) and last.term and last.name == part.name:
            return at
    return None
