"""The sessions that are searched, with what every search needs of them."""

from __future__ import annotations

import os
from collections import Counter
from functools import cached_property
from heapq import nlargest
from itertools import compress, repeat
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

from leafward.agents.registry import all_agents
from leafward.base.regular_files import descriptor_of
from leafward.catalogue.lineage import parents
from leafward.query.search.cards import concerns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from leafward.catalogue.cards.card import Card
    from leafward.query.search.query import Query

SUFFIX = ".jsonl"
"""The ending of the session files in folders that are searched as a whole."""
NEWEST = 128
"""Sessions that are put in order before the others."""
_SAMPLES, _SAMPLE = 8, 1 << 13
"""Number of sessions, and bytes of each, that the letter frequencies are taken from."""
_FIRST = itemgetter(0)
_ORIGIN, _PATH, _SIZE, _WHEN = map(attrgetter, ("origin", "path", "size", "when"))


class Corpus:
    """Sessions to search. What is worked out of them is kept: who types searches the same ones at every pause."""

    def __init__(self, cards: Sequence[Card], known: Sequence[Card] | None = None) -> None:
        """`known` are all sessions there are, where these are only some of them."""
        agents = {agent.name for agent in all_agents()}
        self.cards = [card for card in cards if card.problem is None and card.agent in agents]
        """The sessions that can be searched, in the order given."""
        self.unsearchable: list[Card] = []
        if len(self.cards) < len(cards):
            self.unsearchable += (
                card for card in cards if card.problem is not None or card.agent not in agents
            )
        self._known = cards if known is None else known

    def narrowed(self, query: Query) -> Corpus:
        """The sessions that a query's conditions on cards admit."""
        if not query.narrows:
            return self
        admitted = [card for card in (*self.cards, *self.unsearchable) if concerns(query, card)]
        return Corpus(admitted, self._known)

    @cached_property
    def size(self) -> int:
        """Bytes of all."""
        return sum(map(_SIZE, self.cards))

    @cached_property
    def largest(self) -> int:
        """Bytes of the largest."""
        return max(map(_SIZE, self.cards), default=0)

    @cached_property
    def newest(self) -> tuple[list[Card], list[Card]]:
        """The first `NEWEST` of `newest_first`, and the others in any order."""
        times = list(map(_WHEN, self.cards))
        since = min(nlargest(NEWEST, times), default=0)
        newest = newest_first([card for card, when in zip(self.cards, times, strict=True) if when >= since])
        older = [card for card, when in zip(self.cards, times, strict=True) if when < since]
        return newest[:NEWEST], newest[NEWEST:] + older

    @cached_property
    def in_order(self) -> list[Card]:
        """All, newest first. A search avoids this where it can: sorting ten thousand takes a while."""
        return newest_first(self.cards)

    @cached_property
    def by_path(self) -> dict[str, Card]:
        """Each by its path."""
        return {card.path: card for card in self.cards}

    @cached_property
    def above(self) -> dict[str, tuple[str, str]]:
        """The original of each session and the relation to it, where the original is searched too."""
        return parents({card.path: card for card in self.in_order}.values())

    @cached_property
    def shared_origins(self) -> set[int]:
        """The origins that several sessions begin with."""
        counts = Counter(map(_ORIGIN, self.cards))
        return {origin for origin, number in counts.items() if number > 1 and origin}

    @cached_property
    def crowds(self) -> Mapping[str, int]:
        """The number of session files in each folder, where all known sessions of that folder are searched."""
        found = Counter(folders_of(self.cards))
        if len(self.cards) < len(self._known):
            searched = set(map(_PATH, self.cards))
            for folder in folders([path for path in map(_PATH, self._known) if path not in searched]):
                found.pop(folder, None)
        return found

    @cached_property
    def sample(self) -> bytes:
        """Bytes from some of the sessions."""
        found: list[bytes] = []
        for card in self.cards[:: len(self.cards) // _SAMPLES + 1]:
            try:
                handle = descriptor_of(card.path)
            except OSError:
                continue
            try:
                os.lseek(handle, card.size // 2, os.SEEK_SET)
                found.append(os.read(handle, _SAMPLE))
            except OSError:
                continue
            finally:
                os.close(handle)
        return b"".join(found)


def newest_first(cards: Iterable[Card]) -> list[Card]:
    """Sessions in the order of the list."""
    # Two sorts are faster than one with a tuple for each.
    found = sorted(cards, key=_PATH)
    found.sort(key=_WHEN, reverse=True)
    return found


def folders_of(cards: Iterable[Card]) -> list[str]:
    """The folder of each session whose file a search of its folder finds."""
    paths = list(map(_PATH, cards))
    return folders(compress(paths, map(str.endswith, paths, repeat(SUFFIX))))


def folders(files: Iterable[str]) -> list[str]:
    """The folder of each file, computed for all at once without a Python step for each, because ripgrep waits for it."""
    return list(map(_FIRST, map(str.rpartition, files, repeat(os.sep))))
