"""The catalogue's query, as typed: words and terms, matched against cards on every key press.

Words are parts of a text, case ignored, and all of them are needed; they are looked for in name, first prompt, project and id.
`file:` `since:` `agent:` `project:` narrow further; a phrase stands in double quotes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING

from leafward.catalog import Card, parse_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.catalog import Details

TERMS = {
    "file": "part of the name of a file read or changed",
    "since": "30m, 12h, 7d, 6w, 3mo, 1y, today or a date",
    "agent": "an agent's name, or its beginning",
    "project": "part of the project's path",
}
"""What may stand before a colon, and what it takes."""

_TOKEN = re.compile(
    r'(?:(?P<key>[A-Za-z]+):)?(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))|(?P<empty>[A-Za-z]+):(?=\s|$)'
)
_SPAN = re.compile(r"(\d{1,6})(mo|[mhdwy])")
_MINUTES = {"m": 1, "h": 60, "d": 1440, "w": 10_080, "mo": 43_200, "y": 525_600}
_FILES_NAMED = 3


@dataclass(frozen=True, slots=True)
class QueryProblem:
    """A term that means nothing as it stands."""

    term: str
    """As typed."""
    text: str
    """What is wrong with it, on one line."""


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. Texts are in lower case."""

    words: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    since: int | None = None
    """Milliseconds since 1970; sessions last modified before are left out."""
    problems: tuple[QueryProblem, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return bool(self.words or self.files or self.agents or self.projects or self.since is not None)


@dataclass(frozen=True, slots=True)
class Match:
    """Where a query was found in a card."""

    spans: Mapping[str, tuple[tuple[int, int], ...]]
    """By field (`title`, `prompt`, `project`): where hits begin and end, in order, not overlapping."""
    files: tuple[str, ...]
    """The first few files that `file:` found."""
    weight: int
    """The sum over the words of where each was found: 4 in the name, 3 in the title, 2 in the first prompt, 1 elsewhere."""


def parse(text: str, now: int) -> Query:
    """A query as typed; `now` in milliseconds since 1970. Never fails: what is wrong is in `problems` and left out."""
    found: dict[str, list[str]] = {"word": [], "file": [], "agent": [], "project": []}
    since: int | None = None
    problems: list[QueryProblem] = []
    for token in _TOKEN.finditer(text):
        key = (token["key"] or "").lower()
        value = token["phrase"] if token["phrase"] is not None else token["word"] or ""
        if token["empty"]:
            if token["empty"].lower() not in TERMS:
                found["word"].append(token["empty"].lower() + ":")
        elif key == "since":
            moment = _moment(value.lower(), now) if value else now
            if moment is None:
                problems.append(QueryProblem(token[0], f"since: takes {TERMS['since']}"))
            elif value:
                since = moment if since is None else max(since, moment)
        elif key in TERMS:
            if value:
                found[key].append(value.lower())
        elif key:
            close = get_close_matches(key, TERMS, 1, 0.7)
            if close:
                problems.append(QueryProblem(token[0], f"unknown term {key}: (did you mean {close[0]}:?)"))
            found["word"].append(f"{key}:{value.lower()}")
        elif value.strip():
            found["word"].append(value.lower())
    return Query(
        tuple(dict.fromkeys(found["word"])),
        tuple(found["file"]),
        tuple(found["agent"]),
        tuple(found["project"]),
        since,
        tuple(problems),
    )


def _moment(value: str, now: int) -> int | None:
    span = _SPAN.fullmatch(value)
    if span is not None:
        return now - int(span[1]) * _MINUTES[span[2]] * 60_000
    if value == "today":
        midnight = (
            datetime.fromtimestamp(now / 1000, UTC)
            .astimezone()
            .replace(hour=0, minute=0, second=0, microsecond=0)
        )
        return int(midnight.timestamp() * 1000)
    return parse_time(value + "T00:00") if re.fullmatch(r"\d{4}-\d\d-\d\d", value) else None


class Shelf:
    """Cards made ready to be searched on every key press: one pass over lower-case texts for each word."""

    def __init__(self, cards: Sequence[Card], files: Mapping[str, Details] | None = None) -> None:
        self.cards = cards
        self.files = files
        """Details by path; without them `file:` finds nothing."""
        self._texts = [_text(card) for card in cards]
        self._file_texts: list[str] | None = None

    def select(self, query: Query) -> list[Card]:
        """The cards that a query finds, in the order given. Every word and every term must hold."""
        positions: Sequence[int] = range(len(self.cards))
        texts, cards = self._texts, self.cards
        for word in query.words:
            positions = [position for position in positions if word in texts[position]]
        if query.since is not None:
            since = query.since
            positions = [position for position in positions if cards[position].modified >= since]
        if query.agents:
            positions = [position for position in positions if cards[position].agent.startswith(query.agents)]
        for part in query.projects:
            positions = [position for position in positions if part in cards[position].project.lower()]
        if query.files:
            names = self._names()
            for part in query.files:
                positions = [position for position in positions if part in names[position]]
        return [cards[position] for position in positions]

    def _names(self) -> list[str]:
        if self._file_texts is None:
            known = self.files or {}
            self._file_texts = [
                "\n".join((*known[card.path].changed, *known[card.path].read)).lower()
                if card.path in known
                else ""
                for card in self.cards
            ]
        return self._file_texts


def _text(card: Card) -> str:
    prompt = "" if card.prompt == card.title else card.prompt
    return f"{card.title}\n{prompt}\n{card.project}\n{card.id}".lower()


def matches(card: Card, query: Query, details: Details | None = None) -> Match | None:
    """Where a query is found in one card, to be underlined; None where it is not. For rows that are shown."""
    shelf = Shelf((card,), {card.path: details} if details is not None else None)
    if not shelf.select(query):
        return None
    spans: dict[str, tuple[tuple[int, int], ...]] = {}
    for field, text, wanted in (
        ("title", card.title, query.words),
        ("prompt", card.prompt, query.words),
        ("project", card.project, (*query.words, *query.projects)),
    ):
        hits = _spans(text, wanted)
        if hits:
            spans[field] = hits
    named = (*details.changed, *details.read) if details is not None and query.files else ()
    hit = [name for name in named if any(part in name.lower() for part in query.files)]
    return Match(spans, tuple(hit[:_FILES_NAMED]), sum(_weight(card, word) for word in query.words))


def _spans(text: str, words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    if not words:
        return ()
    pattern = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))), re.IGNORECASE)
    return tuple(hit.span() for hit in pattern.finditer(text))


def _weight(card: Card, word: str) -> int:
    if card.name and word in card.name.lower():
        return 4
    if word in card.title.lower():
        return 3
    return 2 if word in card.prompt.lower() else 1
