"""A search of all text: sessions sifted by their bytes, then confirmed by reading them, newest first, found as they come."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents import agent_named
from leafward.catalog import parents
from leafward.errors import LeafwardError
from leafward.foreign import ForeignSession
from leafward.search.cards import concerns
from leafward.search.matching import Hit, Matcher
from leafward.search.sieve import Sieve, ripgrep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.catalog import Card
    from leafward.columns import Columns
    from leafward.entries import EntryId
    from leafward.search.query import Query
    from leafward.session import Session

PUBLISH_EVERY = 0.1
"""Seconds between two words on how far it is."""
FIRST_BATCH = 128
"""Sessions sifted together at first; each batch is four times as large as the one before."""
_PARENTS_KEPT = 8


@dataclass(frozen=True, slots=True)
class SessionHits:
    """What was found in one session."""

    card: Card
    hits: tuple[Hit, ...]
    """In file order; the first ones where there are very many."""
    total: int
    """Hits there are."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is."""

    done: int
    """Sessions looked into."""
    total: int
    sessions: int
    """Sessions in which something was found."""
    hits: int


@dataclass(frozen=True, slots=True)
class Unread:
    """A session that could not be searched."""

    path: str
    reason: str


@dataclass(slots=True)
class Work:
    """What a search did: counted for tests."""

    sifted: int = 0
    opened: int = 0
    sieve: str = ""
    """`rg`, `scan`, or empty where every session had to be opened."""


@dataclass(slots=True)
class _Copies:
    """The entries of sessions that others were forked from."""

    known: OrderedDict[str, Columns | None] = field(default_factory=OrderedDict)

    def held_by(self, card: Card, entry: EntryId) -> bool:
        """Whether a session holds an entry of an id; it is opened when first asked."""
        if card.path not in self.known:
            self.known[card.path] = _columns_of(card)
            while len(self.known) > _PARENTS_KEPT:
                self.known.popitem(last=False)
        columns = self.known[card.path]
        return columns is not None and columns.index(entry) >= 0


def _columns_of(card: Card) -> Columns | None:
    try:
        session = agent_named(card.agent).open(Path(card.path))
    except (LeafwardError, OSError):
        return None
    session.close()
    return session.columns


class Search:
    """One search over cards. `run` is for a worker thread, and gives each session as soon as it is confirmed.

    What a session was copied from is found there and nowhere else, as long as both are searched.
    """

    def __init__(
        self,
        cards: Sequence[Card],
        query: Query,
        *,
        program: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`program` is ripgrep's path; None does without it (`ripgrep()` says where it is)."""
        self.query = query
        wanted = [card for card in cards if card.problem is None and concerns(query, card)]
        self.cards = sorted(wanted, key=lambda card: (-card.modified, card.path))
        self.matcher = Matcher(query)
        self.program = program
        self.clock = clock
        self.work = Work()
        self.unread: list[Unread] = [
            Unread(card.path, card.problem)
            for card in cards
            if card.problem is not None and concerns(query, card)
        ]
        self.done = self.sessions = self.hits = 0
        self._copies = _Copies()
        self._by_path = {card.path: card for card in wanted}

    @cached_property
    def _above(self) -> dict[str, tuple[str, str]]:
        """What each session was made from, where that is searched too."""
        return parents(self._by_path.values())

    @property
    def progress(self) -> Progress:
        """How far it is."""
        return Progress(self.done, len(self.cards), self.sessions, self.hits)

    def run(
        self,
        stop: Callable[[], bool] = lambda: False,
        publish: Callable[[Progress], object] = lambda _progress: None,
    ) -> Iterator[SessionHits]:
        """Sessions with hits, newest first. `publish` is called at most ten times a second."""
        if not self.query.looks_inside:
            return
        needle = self.matcher.needle()
        sieve = Sieve(needle, self.program) if needle is not None else None
        self.work.sieve = "" if sieve is None else "scan" if sieve.program is None else "rg"
        said = self.clock()
        for batch in self._batches():
            passing = self._sifted(sieve, batch, stop)
            for card in batch:
                if stop():
                    return
                if card.path in passing:
                    found = self._look_into(card, stop)
                    if found is not None:
                        self.sessions += 1
                        self.hits += found.total
                        yield found
                self.done += 1
                if self.clock() - said >= PUBLISH_EVERY:
                    said = self.clock()
                    publish(self.progress)
        publish(self.progress)

    def _batches(self) -> Iterator[list[Card]]:
        at, size = 0, FIRST_BATCH
        while at < len(self.cards):
            yield self.cards[at : at + size]
            at += size
            size *= 4

    def _sifted(self, sieve: Sieve | None, batch: list[Card], stop: Callable[[], bool]) -> set[str]:
        if sieve is None:
            return {card.path for card in batch}
        self.work.sifted += len(batch)
        passing = sieve.passing(batch, stop)
        # What such a session shares with one that is not searched may lie in the file of that one.
        passing.update(
            card.path for card in batch if card.parent is not None and card.path not in self._above
        )
        return passing

    def _look_into(self, card: Card, stop: Callable[[], bool]) -> SessionHits | None:
        self.work.opened += 1
        try:
            session = agent_named(card.agent).open(Path(card.path), stop)
        except (LeafwardError, OSError) as error:
            self.unread.append(Unread(card.path, str(error)))
            return None
        try:
            found = self.matcher.find(session, *self._own(card, session, stop))
        except OSError as error:
            self.unread.append(Unread(card.path, error.strerror or str(error)))
            return None
        finally:
            session.close()
        return SessionHits(card, tuple(found.hits), found.total) if found.total else None

    def _own(
        self, card: Card, session: Session, stop: Callable[[], bool]
    ) -> tuple[int, Callable[[], bool], Callable[[EntryId], bool] | None]:
        """From which entry on a session is searched, when to stop, and which entries another session has."""
        above = self._above.get(card.path)
        if above is None:
            return 0, stop, None
        if isinstance(session, ForeignSession):
            return session.inherited, stop, None
        parent = self._by_path[above[0]]
        return 0, stop, partial(self._copies.held_by, parent)


__all__ = ["FIRST_BATCH", "Progress", "Search", "SessionHits", "Unread", "ripgrep"]
