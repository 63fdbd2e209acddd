"""A query as parts that must all hold, each assigned to its place of evaluation: cards, texts or entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.query.conditions import check
from leafward.query.grammar import (
    AllOf,
    AnyOf,
    Not,
    QueryCall,
    QueryPattern,
    SearchedText,
    Without,
    parse_search,
)
from leafward.query.lexer import QueryError, QueryPlace
from leafward.query.search.query import Query
from leafward.query.vocabulary import moment_of, part_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.catalogue.cards.card import Card
    from leafward.query.grammar import Expression


def query_of(text: str, now: int, *, whole: bool) -> Query:
    """The query of a search, or of a filter where it is not `whole`; `now` in milliseconds since 1970."""
    try:
        expression, problems = parse_search(text, QueryPlace.SEARCH if whole else QueryPlace.FILTER)
        if whole and expression is not None:
            check(expression)
    except QueryError as error:
        return Query(wrong=error, now=now)
    reading = _Reading(now, whole)
    for part in expression.parts if isinstance(expression, AllOf) else (expression,):
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
    """The parts of a query, each assigned to its place of evaluation."""

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
        """Adds one part; all parts must hold."""
        match part:
            case SearchedText(text):
                self._add("word", text)
            case Not(SearchedText(text)):
                self._add("not", text)
            case QueryPattern(source):
                self.found["re"].append(source)
            case QueryCall("since", (SearchedText(value),)):
                moment = moment_of(value, self.now) or 0
                self.since = moment if self.since is None else max(self.since, moment)
            case QueryCall("error", ()):
                self.failed = True
            case QueryCall("file", (SearchedText(value),), _, True) | QueryCall(
                "project", (SearchedText(value),)
            ):
                self._add(part.name, value)
            case QueryCall() | AnyOf() if (alike := _alike(part)) is not None and not self.found[alike[0]]:
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
    return None if not parts else parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def _alike(part: Expression) -> tuple[str, list[str]] | None:
    """The term of which any value is enough, with these values; None for any other part."""
    values: list[str] = []
    names = set()
    for one in part.parts if isinstance(part, AnyOf) else (part,):
        match one:
            case QueryCall(("tool" | "in" | "agent") as name, (argument,)) if hasattr(argument, "text"):
                names.add(name)
                values.append(argument.text)
            case _:
                return None
    return (names.pop(), values) if len(names) == 1 else None


def texts_of(expression: Expression) -> list[str]:
    """The texts that an expression searches for, in lower case, without the excluded ones."""
    found: list[str] = []
    waiting = [expression]
    while waiting:
        match waiting.pop():
            case SearchedText(text):
                found.append(text.lower())
            case AllOf(parts) | AnyOf(parts):
                waiting += reversed(parts)
            case Without(parts):
                waiting.append(parts[0])
    return found


def inner(expression: Expression) -> Iterator[Expression]:
    """An expression and every expression inside it, without the arguments of functions."""
    waiting = [expression]
    while waiting:
        one = waiting.pop()
        yield one
        match one:
            case AllOf(parts) | AnyOf(parts) | Without(parts):
                waiting += parts
            case Not(inside):
                waiting.append(inside)


def _of_cards(expression: Expression) -> bool:
    """Whether a session's card alone can answer an expression."""
    return all(
        isinstance(one, (AllOf, AnyOf, Without, Not))
        or (isinstance(one, QueryCall) and one.name in ("agent", "project", "since"))
        for one in inner(expression)
    )


def holds(expression: Expression, card: Card, now: int, text: str = "", files: str = "") -> bool:
    """Whether a session satisfies an expression. `text` and `files` are its known text and file names, in lower case."""
    match expression:
        case AllOf(parts):
            return all(holds(part, card, now, text, files) for part in parts)
        case AnyOf(parts):
            return any(holds(part, card, now, text, files) for part in parts)
        case Without((first, *rest)):
            return holds(first, card, now, text, files) and not any(
                holds(part, card, now, text, files) for part in rest
            )
        case Not(inside):
            return not holds(inside, card, now, text, files)
        case SearchedText(word):
            return word.lower() in text
        case QueryCall("agent", (SearchedText(value),)):
            return card.agent.startswith(value.lower())
        case QueryCall("project", (SearchedText(value),)):
            return value.lower() in card.project.lower()
        case QueryCall("since", (SearchedText(value),)):
            return card.when >= (moment_of(value, now) or 0)
        case QueryCall("file", (SearchedText(value),)):
            return value.lower() in files
    return False
