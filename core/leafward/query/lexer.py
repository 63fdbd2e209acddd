"""A query as tokens. The place where a query is typed alone decides the meaning of a plain word.

In a search of text a plain word is text; in a query for entries it is an entry. So plain text in a search stays as it is
typed, its signs and brackets too: they count beside a function, a comparison, a term, a pattern or a text in quotes. A
function with a plain word directly beside it is text. Anything that is never closed is text as well, because it is still
being typed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import LeafwardError
from leafward.query.vocabulary import FIELDS, FUNCTION_NAMES, TERM_NAMES, TERMS, TEXT_TERMS, value_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST = 60
"""Levels of nested brackets."""
LONGEST = 4_000
"""Code points of a query."""


class QueryError(LeafwardError):
    """A query, or a part of one, without a meaning."""

    def __init__(self, what: str, column: int, *, as_text: bool = False) -> None:
        super().__init__(f"{what} (column {column + 1})")
        self.column = column
        """The place of the error, in code points from 0."""
        self.as_text = as_text
        """Whether the part is searched for as text; otherwise it is left out."""


class QueryPlace(Enum):
    """The place where words of a query are typed; where entries are chosen, a plain word is an entry (`choosing_tokens`)."""

    FILTER = "sessions by their cards: each plain word is a text; there are no functions and no patterns"
    SEARCH = "all text of all sessions: each plain word is a text"
    FIND = "the text of one session: plain words are one text, as they stand"


class Token(NamedTuple):
    """A piece of a query."""

    kind: str
    """`text`, `pattern`, `term`, `word`, `sign` (of a comparison), `mark` or `end`."""
    text: str
    """The text between the quotes or slashes, or the name of a term; else the token as typed."""
    column: int
    value: str = ""
    """The value of a term."""

    @property
    def typed(self) -> str:
        """The token as an error names it where it was not expected."""
        return (
            f"{self.text}:"
            if self.kind == "term"
            else f"/{self.text}/"
            if self.kind == "pattern"
            else self.text
        )


_NAMES = "|".join(sorted(TERM_NAMES))
_TERM = rf'(?i:(?P<name>{_NAMES}):)(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^\s&|!(),<>="\']*))'
_CHOOSING = re.compile(
    rf"""(?P<space>\s+)|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<pattern>/(?:[^/\\]|\\.)+/)"""
    rf"""|(?P<sign><=|>=|!=|=|<|>)|(?P<mark>[&|!(),-])|(?P<term>{_TERM})|(?P<word>\#?[^\s&|!(),<>="'/-][^\s&|!(),<>="']*)""",
    re.DOTALL,
)


def _unescaped(text: str) -> str:
    """The text between quotes, with the backslash removed before each escaped sign."""
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def choosing_tokens(query: str, start: int = 0, stop: int | None = None) -> Iterator[Token]:
    """The tokens of a query that chooses entries, or of a part of a query that does. Raises QueryError."""
    stop = len(query) if stop is None else stop
    if stop - start > LONGEST:
        raise QueryError(f"a query has at most {LONGEST:,} characters", start + LONGEST)
    while start < stop:
        found = _CHOOSING.match(query, start, stop)
        if found is None:
            quotes = query[start] in "\"'"
            what = (
                "this quotation is never closed"
                if quotes
                else f'expected a condition before "{query[start]}"'
            )
            raise QueryError(what, start)
        kind = str(found.lastgroup)
        if found["term"] is not None:
            quoted = found["quoted"]
            value = _unescaped(quoted) if quoted is not None else found["bare"]
            yield Token("term", found["name"].lower(), start, value)
        elif kind == "text":
            yield Token(kind, _unescaped(found[0][1:-1]), start)
        elif kind == "pattern":
            yield Token(kind, found[0][1:-1].replace("\\/", "/"), start)
        elif kind != "space":
            yield Token(kind, found[0], start)
        start = found.end()


# --- where text is searched -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Piece:
    """A piece of the text in a search field."""

    kind: str
    """`plain`, `space`, `bang`, `join`, `call`, `group`, or the kind of its token."""
    start: int
    end: int
    token: Token | None = None
    inside: list[_Piece] = field(default_factory=list)
    """The pieces of a group."""

    @property
    def counts(self) -> bool:
        """Whether the piece asks for something by itself, so that a sign beside it is an operator."""
        return self.kind in _COUNTING

    @property
    def leads(self) -> bool:
        """Whether the piece can begin a part that asks for something."""
        return self.counts or self.kind == "bang"


_COUNTING = frozenset({"call", "text", "pattern", "term", "group"})
_SEARCHING = re.compile(
    r"(?P<space>\s+)"
    r"|(?<![^\s(!])/(?P<slashed>(?:[^/\\\n]|\\.)+)/(?=[\s)]|$)"
    r'|(?<![^\s(!])(?i:re):(?:"(?P<quoted>(?:[^"\\\n]|\\.)*)"?|(?P<bare>[^\s"]\S*))'
    r'|(?P<key>[A-Za-z]+):(?:"(?P<value>[^"]*)"?|(?P<word>[^\s"]*))'
    r'|"(?P<phrase>[^"]*)(?P<closed>"?)'
    r"|(?P<open>\()|(?P<close>\))|(?P<bang>!)|(?P<join>[&|-])"
    r"|(?P<name>[A-Za-z]+)"
    r'|(?P<rest>[^\s"()!&|A-Za-z-]+)'
)
_COMPARISON = re.compile(
    r"""(?:FIELD)\s*(?:<=|>=|!=|=|<|>)\s*(?:"[^"]*"|[^\s&|!(),<>="'/-][^\s&|!(),<>="']*)(?=[\s)&|-]|$)""".replace(
        "FIELD", "|".join(FIELDS)
    ),
    re.IGNORECASE,
)
_UNKNOWN = re.compile(r"(?P<name>[A-Za-z]{2,})(?:(?P<sign><=|>=|!=|<|>)\d|:[^\s:/\"])")
"""A word that is meant as a condition: a comparison with a number, or a name before a colon that is not an address."""
_CLOSE = 0.8
"""The similarity from which a name counts as a misspelt term: `sice` does, `todo` is not `tool`."""
_PATTERN = re.compile(r"/.*[\[\](){}*+?^$|\\].*/")
"""A word between slashes that holds a sign of a regular expression, so it is not a path."""
_CALLED = re.compile(r"([A-Za-z]+)\(")
_BEHIND = re.compile(r"[\s)&|-]|$")
"""Text that may follow a function or a bracket that counts."""


class SearchText:
    """The text in a search or a filter."""

    def __init__(self, text: str, place: QueryPlace) -> None:
        self.text = text
        self.place = place
        self.problems: list[QueryError] = []
        """Terms without a meaning as they stand; they are left out, or are words."""

    def tokens(self) -> list[Token]:
        """The tokens of the text. Raises QueryError."""
        if len(self.text) > LONGEST:
            return [Token("text", self.text, 0), Token("end", "", len(self.text))]
        levels: list[list[_Piece]] = [[]]
        opened: list[_Piece] = []
        for piece in self._pieces(levels):
            if piece.kind == "open":
                opened.append(piece)
                levels.append([])
            elif piece.kind == "close" and opened:
                self._close(levels, opened.pop(), piece)
            else:
                levels[-1].append(_plain(piece) if piece.kind == "close" else piece)
        while opened:
            # The bracket is not closed.
            inside = levels.pop()
            levels[-1] += [_plain(opened.pop()), *inside]
        return [*self._emitted(self._resolved(levels[0])), Token("end", "", len(self.text))]

    def _close(self, levels: list[list[_Piece]], opened: _Piece, closed: _Piece) -> None:
        """Closes a bracket: it is a group where something in it counts, else text."""
        inside = self._resolved(levels.pop())
        if any(piece.counts for piece in inside) and _BEHIND.match(self.text, closed.end):
            levels[-1].append(_Piece("group", opened.start, closed.end, None, inside))
        else:
            levels[-1] += [_plain(opened), *inside, _plain(closed)]

    # --- pieces -------------------------------------------------------------------------------------------------------

    def _pieces(self, levels: list[list[_Piece]]) -> Iterator[_Piece]:
        """The pieces in order; `levels` are the open brackets."""
        at, begins = 0, True
        while at < len(self.text):
            if begins and self.place is not QueryPlace.FILTER and (end := self._end_of_call(at)):
                yield _Piece("call", at, end)
                at, begins = end, False
                continue
            found = _SEARCHING.match(self.text, at)
            if found is None:  # pragma: no cover  # the pattern takes every character
                return
            kind = str(found.lastgroup)
            end = found.end()
            if kind in ("slashed", "quoted", "bare"):
                piece = self._pattern(found, kind, within=len(levels) > 1)
            elif kind in ("value", "word"):
                piece = self._term(found, begins=begins, within=len(levels) > 1)
            elif kind == "closed":
                piece = self._phrase(found)
            elif kind == "open" and (not begins or len(levels) > DEEPEST):
                piece = _Piece("plain", at, end)
            else:
                piece = _Piece("plain" if kind in ("name", "rest") else kind, at, end)
            if piece is not None:
                yield piece
                end = piece.end
            begins = kind in ("space", "open", "bang", "join", "closed", "value", "quoted")
            at = end

    def _end_of_call(self, at: int) -> int:
        """The end of a function or comparison that begins at a place; 0 where none begins, or where it is not closed."""
        compared = _COMPARISON.match(self.text, at)
        if compared is not None:
            return compared.end()
        name = _CALLED.match(self.text, at)
        if name is None or name[1].lower() not in FUNCTION_NAMES:
            return 0
        depth, end = 0, name.end() - 1
        while depth <= DEEPEST and (found := _CHOOSING.match(self.text, end)) is not None:
            end = found.end()
            depth += (found[0] == "(") - (found[0] == ")")
            if not depth:
                return end if _BEHIND.match(self.text, end) else 0
        return 0

    def _phrase(self, found: re.Match[str]) -> _Piece | None:
        phrase, column, end = found["phrase"], found.start(), found.end()
        if self.place is QueryPlace.FIND and not (phrase and found["closed"]):
            return _Piece("plain", column, end)
        if phrase.strip() and not found["closed"]:
            self._say_open(column)
        return _Piece("text", column, end, Token("text", phrase, column)) if phrase.strip() else None

    def _pattern(self, found: re.Match[str], kind: str, *, within: bool) -> _Piece | None:
        column, pattern, end = found.start(), found[kind], found.end()
        if kind == "slashed":
            if self.place is QueryPlace.FILTER or (not within and self.text[end : end + 1] == ")"):
                # A path may stand between slashes as well; in a filter of cards it is a word.
                return _Piece("plain", column, end)
            return _Piece("pattern", column, end, Token("pattern", pattern.replace("\\/", "/"), column))
        if self.place is QueryPlace.FILTER:
            self.problems.append(QueryError("re: works only in the search of all text", column))
            return None
        shorter = _inside(pattern) if kind == "bare" and within else pattern
        end -= len(pattern) - len(shorter)
        return _Piece("pattern", column, end, Token("pattern", shorter, column)) if shorter else None

    def _term(self, found: re.Match[str], *, begins: bool, within: bool) -> _Piece | None:
        name, column, end = found["key"].lower(), found.start(), found.end()
        if name not in TERM_NAMES or not begins:
            return _Piece("plain", column, end)
        value = found["value"]
        if value is not None and value.strip() and found.end("value") == end:
            self._say_open(found.start("value") - 1)
        if value is None:
            value = _inside(found["word"]) if within else found["word"]
            end -= len(found["word"]) - len(value)
        if self.place is QueryPlace.FILTER and name in TEXT_TERMS:
            if value or name == "error":
                self.problems.append(QueryError(f"{name}: works only in the search of all text", column))
            return None
        if self.place is QueryPlace.FIND:
            # The address of a file is searched as typed.
            if (not value and name != "error") or (name == "file" and value.startswith("//")):
                return _Piece("plain", column, end)
        elif not value.strip() and name != "error":
            return None
        elif wrong := value_problem(name, value):
            self.problems.append(QueryError(wrong, column))
            return None
        return _Piece("term", column, end, Token("term", name, column, value))

    def _say_open(self, column: int) -> None:
        what = "this quotation is never closed; read up to the end"
        self.problems.append(QueryError(what, column, as_text=True))

    # --- pieces that turn out to be text ------------------------------------------------------------------------------

    def _resolved(self, pieces: list[_Piece]) -> list[_Piece]:
        """The pieces; those that do not count where they stand become plain."""
        solid = [at for at, piece in enumerate(pieces) if piece.kind != "space"]
        around = list(zip((None, *solid), solid, (*solid[1:], None), strict=False))
        for left, at, right in around:
            if pieces[at].kind == "join":
                one, other = (pieces[end] if end is not None else None for end in (left, right))
                pieces[at] = self._sign(pieces[at], one, other)
        self._make_bystanders_plain(pieces)
        for left, at, right in reversed(around):
            piece = pieces[at]
            leads = right is not None and pieces[right].leads
            if piece.kind == "join":
                counts = leads or (left is not None and pieces[left].counts)
            else:
                counts = piece.kind != "bang" or leads
            if not counts:
                pieces[at] = _plain(piece)
        return pieces

    def _sign(self, sign: _Piece, left: _Piece | None, right: _Piece | None) -> _Piece:
        """The sign where it is an operator: alone between two pieces, or directly beside one that counts; else plain text."""
        if left is None or right is None:
            # The query is still being typed: the other side of the sign is missing.
            waits = left is not right and any(one is not None and one.leads for one in (left, right))
            return (
                _Piece("space", sign.start, sign.end)
                if waits and self.place is not QueryPlace.FIND
                else _plain(sign)
            )
        alone = "join" not in (left.kind, right.kind)
        free = (left.end < sign.start or left.counts) and (right.start > sign.end or right.leads)
        return sign if alone and free else _plain(sign)

    def _make_bystanders_plain(self, pieces: list[_Piece]) -> None:
        """Makes text of functions beside a plain word, and in one session of every other piece beside one.

        Words after a term that begins a search in one session are different: they are searched in the entries that the term
        means. An error's message begins with `error:` as well, so that term does not count here.
        """
        finding = self.place is QueryPlace.FIND
        first = next((piece.token for piece in pieces if piece.kind != "space"), None)
        finding = finding and not (first is not None and first.value.strip() and first.text != "error")
        weak = (_COUNTING - {"group"}) | {"bang"} if finding else {"call"}
        text = self.text.strip()
        # A lone word between slashes is a path unless it holds a sign of a pattern.
        path = finding and text.startswith("/") and _PATTERN.fullmatch(text) is None
        path = path and sum(piece.kind != "space" for piece in pieces) == 1
        run: list[int] = []
        for at in range(len(pieces) + 1):
            if at < len(pieces) and pieces[at].kind not in ("join", "group"):
                run.append(at)
                continue
            kinds = {pieces[one].kind for one in run} - {"space"}
            if "plain" in kinds or (path and "pattern" in kinds):
                for one in run:
                    if pieces[one].kind in weak:
                        pieces[one] = _plain(pieces[one])
            run = []

    def _emitted(self, pieces: list[_Piece]) -> Iterator[Token]:
        plain: list[_Piece] = []
        for piece in (*pieces, _Piece("end", len(self.text), len(self.text))):
            if piece.kind == "plain" or (piece.kind == "space" and plain and self.place is QueryPlace.FIND):
                plain.append(piece)
                continue
            if plain:
                yield self._word(plain[0].start, plain[-1].end)
                plain = []
            if piece.kind == "group":
                yield Token("mark", "(", piece.start)
                yield from self._emitted(piece.inside)
                yield Token("mark", ")", piece.end - 1)
            elif piece.kind == "call":
                yield from choosing_tokens(self.text, piece.start, piece.end)
            elif piece.token is not None:
                yield piece.token
            elif piece.kind in ("bang", "join"):
                yield Token("mark", self.text[piece.start : piece.end], piece.start)

    def _word(self, start: int, end: int) -> Token:
        """Plain text as a token: one word, or in one session all words in a row."""
        word = self.text[start:end].rstrip()
        unknown = _UNKNOWN.match(word)
        if unknown is not None and (unknown["sign"] or unknown["name"].lower() not in TERM_NAMES):
            known = (*TERMS, *(TEXT_TERMS if self.place is not QueryPlace.FILTER else ()))
            sign = unknown["sign"] or ":"
            close = get_close_matches(unknown["name"].lower(), known, 1, _CLOSE) if sign == ":" else []
            meant = f" (did you mean {close[0]}:?)" if close else ""
            what = f"{unknown['name']}{sign} is not a condition{meant}; searched for as text"
            self.problems.append(QueryError(what, start, as_text=True))
        elif self.place is QueryPlace.FILTER and _PATTERN.fullmatch(word):
            what = "patterns work only in the search of all text; searched for as text"
            self.problems.append(QueryError(what, start, as_text=True))
        return Token("text", word, start)


def _plain(piece: _Piece) -> _Piece:
    return _Piece("plain", piece.start, piece.end)


def _inside(value: str) -> str:
    """The value of a term, without closing brackets that have no opening one in it."""
    while value.endswith(")") and value.count(")") > value.count("("):
        value = value[:-1]
    return value
