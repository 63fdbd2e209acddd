"""Cards that match a query on every key press, by name, first prompt, project, id and files."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.catalogue.cards.card import Card, Details
    from leafward.query.search.query import Query

_FILES_NAMED = 3


@dataclass(frozen=True, slots=True)
class CardMatch:
    """The places of a query's hits in a card."""

    spans: Mapping[str, tuple[tuple[int, int], ...]]
    """Begin and end of the hits by field (`title`, `prompt`, `project`), in order, without overlaps."""
    files: tuple[str, ...]
    """The first few files that `file:` found."""


def concerns(query: Query, card: Card) -> bool:
    """Whether `since:`, `agent:` and `project:` admit a session."""
    return (
        (query.since is None or card.when >= query.since)
        and (not query.agents or card.agent.startswith(query.agents))
        and all(part in card.project.lower() for part in query.projects)
        and (query.cards is None or _holds(query, card))
    )


def _holds(query: Query, card: Card, text: str = "", files: str = "") -> bool:
    """Whether the rest of a query's conditions on a card hold; `text` and `files` are its lower-case text and file names."""
    if query.cards is None:
        return True
    from leafward.query.search.conjunction import holds

    return holds(query.cards, card, query.now, text, files)


class CardShelf:
    """Cards prepared for a search on every key press: one pass over lower-case texts for each word."""

    def __init__(self, cards: Sequence[Card], files: Mapping[str, Details] | None = None) -> None:
        self.cards = cards
        self.files = files
        """Details by path; without them `file:` finds nothing."""
        self._texts = [_text(card) for card in cards]
        self._file_texts: list[str] | None = None

    def select(self, query: Query) -> list[Card]:
        """The cards that match a query, in the order given. Every word and every term must hold."""
        positions: Sequence[int] = range(len(self.cards))
        texts, cards = self._texts, self.cards
        for word in query.words:
            positions = [position for position in positions if word in texts[position]]
        for word in query.excluded:
            positions = [position for position in positions if word not in texts[position]]
        plain = replace(query, cards=None)
        positions = [position for position in positions if concerns(plain, cards[position])]
        if query.files:
            names = self._names()
            for part in query.files:
                positions = [position for position in positions if part in names[position]]
        if query.cards is not None:
            names = self._names()
            positions = [
                position
                for position in positions
                if _holds(query, cards[position], texts[position], names[position])
            ]
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


def matches(card: Card, query: Query, details: Details | None = None) -> CardMatch | None:
    """The places where a query matches one card, to be underlined in its row; None where it does not match."""
    shelf = CardShelf((card,), {card.path: details} if details is not None else None)
    if not shelf.select(query):
        return None
    spans: dict[str, tuple[tuple[int, int], ...]] = {}
    words = (*query.words, *_words_of(query))
    for field, text, field_words in (
        ("title", card.title, words),
        ("prompt", card.prompt, words),
        ("project", card.project, (*words, *query.projects)),
    ):
        hits = _spans(text, field_words)
        if hits:
            spans[field] = hits
    files = (*details.changed, *details.read) if details is not None and query.files else ()
    hit = [name for name in files if any(part in name.lower() for part in query.files)]
    return CardMatch(spans, tuple(hit[:_FILES_NAMED]))


def _words_of(query: Query) -> list[str]:
    """The words on either side of a sign."""
    if query.cards is None:
        return []
    from leafward.query.search.conjunction import texts_of

    return texts_of(query.cards)


def _spans(text: str, words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    if not words:
        return ()
    pattern = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))), re.IGNORECASE)
    return tuple(hit.span() for hit in pattern.finditer(text))
