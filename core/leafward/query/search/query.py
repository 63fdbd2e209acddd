"""A search or filter of sessions made ready: what their cards tell, what their texts tell, and what their entries tell."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.query.grammar import (
    Both,
    Call,
    Either,
    Not,
    Pattern,
    Place,
    QueryError,
    Text,
    Without,
    parse_search,
)
from leafward.query.vocabulary import moment_of, part_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.query.grammar import Expression


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query: all of it must hold. Texts are in lower case, patterns as typed."""

    words: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    """Any of them."""
    projects: tuple[str, ...] = ()
    since: int | None = None
    """Milliseconds since 1970; sessions last modified before are left out."""
    problems: tuple[QueryError, ...] = ()
    """Terms that mean nothing as they stand: they are left out, or looked for as words."""
    excluded: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    """Any of them."""
    parts: tuple[str, ...] = ()
    """Any of them."""
    failed: bool = False
    """Only what failed."""
    cards: Expression | None = None
    """What else a session's card must hold."""
    where: Expression | None = None
    """What else chooses the entries in which something is found."""
    wrong: QueryError | None = None
    """Why nothing can be looked for."""
    now: int = field(default=0, compare=False)
    """When it was asked, in milliseconds since 1970."""

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return self.looks_inside or self.narrows or bool(self.excluded)

    @property
    def problem(self) -> str:
        """What is wrong with it, in a line; empty where nothing is."""
        problems = (self.wrong, *self.problems) if self.wrong is not None else self.problems
        return safe_line(str(problems[0]), 200) if problems else ""

    @property
    def narrows(self) -> bool:
        """Whether it leaves out sessions by what their cards say."""
        return self.since is not None or bool(self.agents or self.projects) or self.cards is not None

    @property
    def looks_inside(self) -> bool:
        """Whether it asks for anything that only the text of a session tells, or a card's words."""
        return (
            bool(self.words or self.files or self.patterns or self.tools or self.parts or self.failed)
            or self.where is not None
        )

    def among(self, chosen: Expression) -> Query:
        """The same, among the entries that an expression chooses."""
        return replace(self, where=chosen if self.where is None else Both((self.where, chosen)))


def parse(text: str, now: int, *, whole: bool = False) -> Query:
    """A query as typed; `now` in milliseconds since 1970. Never fails: see `problems` and `wrong`.

    `whole`: it is looked for in all text; else in cards, which know neither patterns nor functions.
    """
    try:
        expression, problems = parse_search(text, Place.SEARCH if whole else Place.FILTER)
        if whole and expression is not None:
            _check_patterns(expression)
    except QueryError as error:
        return Query(wrong=error, now=now)
    reading = _Reading(now, whole)
    for part in expression.parts if isinstance(expression, Both) else (expression,):
        if part is not None:
            reading.take(part)
    found = reading.found
    return Query(
        words=tuple(dict.fromkeys(found["word"])),
        files=tuple(found["file"]),
        agents=tuple(found["agent"]),
        projects=tuple(found["project"]),
        since=reading.since,
        problems=tuple(problems),
        excluded=tuple(dict.fromkeys(found["not"])),
        patterns=tuple(dict.fromkeys(found["re"])),
        tools=tuple(found["tool"]),
        parts=tuple(dict.fromkeys(found["in"])),
        failed=reading.failed,
        cards=_all_of(reading.cards),
        where=_all_of(reading.where),
        now=now,
    )


class _Reading:
    """The parts of a query, each put where it is answered."""

    def __init__(self, now: int, whole: bool) -> None:
        self.now = now
        self.whole = whole
        self.found: dict[str, list[str]] = {
            name: [] for name in ("word", "file", "agent", "project", "not", "re", "tool", "in")
        }
        self.since: int | None = None
        self.failed = False
        self.cards: list[Expression] = []
        self.where: list[Expression] = []

    def take(self, part: Expression) -> None:
        """One part, of which all must hold."""
        match part:
            case Text(text):
                self._add("word", text)
            case Not(Text(text)):
                self._add("not", text)
            case Pattern(source):
                self.found["re"].append(source)
            case Call("since", (Text(value),)):
                moment = moment_of(value, self.now) or 0
                self.since = moment if self.since is None else max(self.since, moment)
            case Call("error", ()):
                self.failed = True
            case Call("file", (Text(value),), _, True) | Call("project", (Text(value),)):
                self._add(part.name, value)
            case Call() | Either() if (alike := _alike(part)) is not None and not self.found[alike[0]]:
                for value in alike[1]:
                    self._add(alike[0], value)
            case _ if not self.whole or _of_cards(part):
                self.cards.append(part)
            case _:
                self.where.append(part)

    def _add(self, name: str, value: str) -> None:
        if value.strip():
            value = part_of(value) or value if name == "in" else value
            self.found[name].append(value.lower())


def _all_of(parts: list[Expression]) -> Expression | None:
    return None if not parts else parts[0] if len(parts) == 1 else Both(tuple(parts))


def _alike(part: Expression) -> tuple[str, list[str]] | None:
    """The term of which any value is enough, with these values; None where a part is none."""
    values: list[str] = []
    names = set()
    for one in part.parts if isinstance(part, Either) else (part,):
        match one:
            case Call(("tool" | "in" | "agent") as name, (argument,)) if hasattr(argument, "text"):
                names.add(name)
                values.append(argument.text)
            case _:
                return None
    return (names.pop(), values) if len(names) == 1 else None


def texts_of(expression: Expression) -> list[str]:
    """The texts that an expression looks for, in lower case; not those that must not be there."""
    found: list[str] = []
    waiting = [expression]
    while waiting:
        match waiting.pop():
            case Text(text):
                found.append(text.lower())
            case Both(parts) | Either(parts):
                waiting += reversed(parts)
            case Without(parts):
                waiting.append(parts[0])
    return found


def inner(expression: Expression) -> Iterator[Expression]:
    """An expression and all in it, but what functions take."""
    waiting = [expression]
    while waiting:
        one = waiting.pop()
        yield one
        match one:
            case Both(parts) | Either(parts) | Without(parts):
                waiting += parts
            case Not(inside):
                waiting.append(inside)


def _of_cards(expression: Expression) -> bool:
    """Whether a session's card tells all of it."""
    return all(
        isinstance(one, (Both, Either, Without, Not))
        or (isinstance(one, Call) and one.name in ("agent", "project", "since"))
        for one in inner(expression)
    )


def _check_patterns(expression: Expression) -> None:
    """Raises QueryError for a pattern that is none."""
    for one in inner(expression):
        if isinstance(one, Pattern):
            from leafward.query.search.patterns import complaint

            wrong = complaint(one.source)
            if wrong is not None:
                raise QueryError(wrong, one.column)
