"""A search of all text: sessions are filtered by their bytes, then read and confirmed, newest first, as they come."""

from __future__ import annotations

import time
from bisect import bisect
from collections import OrderedDict, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, islice
from operator import attrgetter
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING

from leafward.agents.registry import agent_named
from leafward.base.errors import Cancelled, LeafwardError
from leafward.query.lexer import QueryError
from leafward.query.search.corpus import NEWEST, newest_first
from leafward.query.search.prefilter import Prefilter
from leafward.query.search.text_match import KEPT, Hit, Matcher
from leafward.session.entries import NO_ENTRY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.catalogue.cards.card import Card
    from leafward.query.search.corpus import Corpus
    from leafward.query.search.prefilter import Sweep
    from leafward.query.search.query import Query
    from leafward.query.select.sets import Members
    from leafward.session.entries import Body, EntryIndex
    from leafward.session.session import Session

PUBLISH_EVERY = 0.1
"""Seconds between two progress reports."""
_LITTLE = 1 << 20
"""Bytes of the newest sessions that may be filtered at first, so that results appear at once."""
_SHARE = 1 << 9
"""Or one in so many bytes of all, where that is more: a sweep of all folders reads them again."""
_BATCH = 1 << 10
"""The later batches without ripgrep."""
_LARGEST_BATCH = 1 << 14
"""The later batches with ripgrep, which lists whole folders faster than it takes file names."""
_POLL = 0.05
"""Seconds between two checks for cancellation while sessions are filtered."""
_AHEAD = 2
"""Batches in work ahead of the one that is read: one is prepared while ripgrep searches another."""
_THREADS, _THREADS_BESIDE_SWEEP = _AHEAD, 1
"""Threads that filter.

Beside a ripgrep on whole folders there is one, so that other work waits for the first batch, which the user waits for.
"""
_SOURCES_KEPT = 8
_SIZE = attrgetter("size")


@dataclass(frozen=True, slots=True)
class SessionHits:
    """The hits in one session."""

    card: Card
    hits: tuple[Hit, ...]
    """The hits in file order; only the first ones where there are very many."""
    total: int


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """The progress of a search."""

    done: int
    """Sessions searched."""
    total: int


@dataclass(frozen=True, slots=True)
class Unsearched:
    """A session that could not be searched."""

    path: str
    reason: str
    code: str = "unreadable"
    """`select` where the query names an entry or a thing that the session does not have."""


@dataclass(slots=True)
class SearchWork:
    """Work that a search did, counted for tests."""

    sifted: int = 0
    opened: int = 0
    sieve: str = ""
    """`rg`, `scan`, or empty where every session had to be opened."""


class _Sources:
    """Sessions that others are copies of, kept open while their copies are searched."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, Session | None] = OrderedDict()

    def hold(self, card: Card, copy: Session, entry: EntryIndex, body: Body) -> bool:
        """Whether an original holds the same entry as its copy; it is opened on first use."""
        if card.path not in self._open:
            try:
                self._open[card.path] = agent_named(card.agent).open(Path(card.path))
            except (LeafwardError, OSError):
                self._open[card.path] = None
            while len(self._open) > _SOURCES_KEPT:
                _, old = self._open.popitem(last=False)
                if old is not None:
                    old.close()
        source = self._open[card.path]
        index = source.columns.index(copy.columns.id(entry)) if source is not None else NO_ENTRY
        return source is not None and index >= 0 and source.body(index) == body

    def close(self) -> None:
        """Closes the sessions."""
        while self._open:
            _, source = self._open.popitem()
            if source is not None:
                source.close()


class _Batch:
    """Sessions that are filtered together, in a thread."""

    def __init__(self, cards: list[Card], passing: Iterator[str], pool: ThreadPoolExecutor) -> None:
        """`passing` is iterated in the thread."""
        self.cards = cards
        self._passed: SimpleQueue[str | None] = SimpleQueue()
        self._sifting = pool.submit(self._sift, passing)
        self._sifting.add_done_callback(lambda _: self._passed.put(None))

    def _sift(self, passing: Iterator[str]) -> set[str]:
        found: set[str] = set()
        for path in passing:
            if path not in found:
                found.add(path)
                self._passed.put(path)
        return found

    def coming(self, stop: Callable[[], bool]) -> Iterator[str]:
        """Waits until all are filtered; meanwhile yields those that pass, in any order, as time allows."""
        while not self._sifting.done() and not stop():
            try:
                path = self._passed.get(timeout=_POLL)
            except Empty:
                continue
            if path is not None:
                yield path

    def passing(self) -> set[str]:
        """The paths of all files that pass; waits for the filter to end."""
        return self._sifting.result()


class TextSearch:
    """One search over sessions. `run` is for a worker thread, and yields each session as soon as it is confirmed.

    Hits in entries that a session copied count only in the original, as long as both are searched.
    """

    def __init__(
        self,
        corpus: Corpus,
        query: Query,
        *,
        program: str | None = None,
        kept: int = KEPT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`program` is ripgrep's path, or None to do without it (see `ripgrep()`). `kept`: hits kept of one session."""
        self.query = query
        self.corpus = corpus.narrowed(query)
        self.matcher = Matcher(query, kept)
        self.program = program
        self.clock = clock
        self.work = SearchWork()
        self.unread = [
            Unsearched(card.path, card.problem or f"no agent {card.agent!r}")
            for card in self.corpus.unsearchable
        ]
        self.done = self.sessions = self.hits = 0
        self.copied_hits = self.copies = 0
        """Number of hits that forks and copies share with their original, which has them too, and of such copies."""
        self._published_at = 0.0
        self._sources = _Sources()

    @property
    def progress(self) -> SearchProgress:
        """The progress of the search."""
        return SearchProgress(self.done, len(self.corpus.cards))

    def run(
        self,
        stop: Callable[[], bool] = lambda: False,
        publish: Callable[[SearchProgress], object] = lambda _progress: None,
    ) -> Iterator[SessionHits]:
        """Sessions with hits, newest first. `publish` is called at most ten times a second."""
        if not self.query.looks_inside:
            return
        try:
            yield from self._run(stop, publish)
        finally:
            self._sources.close()

    def _run(
        self, stop: Callable[[], bool], publish: Callable[[SearchProgress], object]
    ) -> Iterator[SessionHits]:
        needle = self.matcher.needle()
        sieve = Prefilter(needle, self.program, self.corpus) if needle is not None else None
        self.work.sieve = "" if sieve is None else "scan" if sieve.program is None else "rg"
        ended = Event()
        self._published_at = self.clock()
        in_one = 0 < len(self.corpus.cards) <= NEWEST + _LARGEST_BATCH
        sweeper = sieve if sieve is not None and sieve.program is not None and in_one else None
        with ThreadPoolExecutor(_THREADS if sweeper is None else _THREADS_BESIDE_SWEEP, "sieve") as pool:
            try:
                # Ripgrep searches whole folders before the sessions are even sorted.
                everything = sweeper.sweep(self.corpus.cards) if sweeper is not None else None
                for batch in self._ahead(pool, sieve, everything, lambda: ended.is_set() or stop()):
                    before = self.done
                    early: dict[str, SessionHits | None] = {}
                    for path in batch.coming(stop):
                        if before:
                            # The first batch is ready at once, and the user waits for its newest session.
                            early[path] = self._look_into(self.corpus.by_path[path], stop)
                    if stop():
                        return
                    passing = batch.passing()
                    self.work.sifted += len(batch.cards) if sieve is not None else 0
                    may_hold = newest_first(self.corpus.by_path[path] for path in passing)
                    ruled_out = len(batch.cards) - len(may_hold)
                    for number, card in enumerate(may_hold, before + ruled_out + 1):
                        if stop():
                            return
                        found = early.pop(card.path) if card.path in early else self._look_into(card, stop)
                        if found is not None:
                            self.sessions += 1
                            self.hits += found.total
                        # This comes before the yield, so that a caller that stops here has counted this session too.
                        self._get_to(number, publish)
                        if found is not None:
                            yield found
                    self._get_to(before + len(batch.cards), publish)
            finally:
                ended.set()
                if sieve is not None:
                    sieve.end()
        publish(self.progress)

    def _get_to(self, done: int, publish: Callable[[SearchProgress], object]) -> None:
        self.done = done
        if self.clock() - self._published_at >= PUBLISH_EVERY:
            self._published_at = self.clock()
            publish(self.progress)

    def _ahead(
        self,
        pool: ThreadPoolExecutor,
        sieve: Prefilter | None,
        everything: Sweep | None,
        stop: Callable[[], bool],
    ) -> Iterator[_Batch]:
        """Each batch while it is filtered; later ones are started, so that one is prepared while ripgrep is at another."""
        coming = self._batches()
        waiting: deque[_Batch] = deque()
        begun = 0
        while True:
            for cards in islice(coming, 1 + _AHEAD - len(waiting)):
                begun += len(cards)
                sweep, by = everything if begun == len(self.corpus.cards) else None, sieve
                if sieve is not None and everything is not sweep and sum(map(_SIZE, cards)) <= _LITTLE:
                    # Beside a sweep of everything, starting a second ripgrep takes longer than scanning these.
                    by = Prefilter(sieve.needle, None, self.corpus)
                waiting.append(_Batch(cards, self._sifted(by, cards, sweep, stop), pool))
            if not waiting:
                return
            yield waiting.popleft()

    def _batches(self) -> Iterator[list[Card]]:
        """Batches from newer to older; within a batch the order is open."""
        newest, others = self.corpus.newest
        sizes = list(accumulate(map(_SIZE, newest)))
        first = max(1, bisect(sizes, max(_LITTLE, self.corpus.size // _SHARE)))
        if newest:
            yield newest[:first]
        others = [*others, *newest[first:]]
        size = _LARGEST_BATCH if self.program is not None else _BATCH
        if len(others) > size:
            others = newest_first(others)
        for at in range(0, len(others), size):
            yield others[at : at + size]

    def _sifted(
        self, sieve: Prefilter | None, cards: list[Card], sweep: Sweep | None, stop: Callable[[], bool]
    ) -> Iterator[str]:
        if sieve is None:
            yield from (card.path for card in cards)
            return
        # Entries that such a session shares with an unsearched one may lie in the file of that one.
        yield from (
            card.path for card in cards if card.parent is not None and card.path not in self.corpus.above
        )
        yield from sieve.passing(cards, stop, sweep)

    def _look_into(self, card: Card, stop: Callable[[], bool]) -> SessionHits | None:
        self.work.opened += 1
        try:
            session = agent_named(card.agent).open(Path(card.path), stop)
        except (LeafwardError, OSError) as error:
            self.unread.append(Unsearched(card.path, str(error)))
            return None
        try:
            first, ended, leave_out = self._own(card, session, stop)
            found = self.matcher.find(session, first, ended, leave_out, self._chosen(session, stop))
        except Cancelled:
            return None
        except QueryError as error:
            self.unread.append(Unsearched(card.path, str(error), "select"))
            return None
        except OSError as error:
            self.unread.append(Unsearched(card.path, error.strerror or str(error)))
            return None
        finally:
            session.close()
        if found.left_out:
            self.copied_hits += found.left_out
            self.copies += 1
        return SessionHits(card, tuple(found.hits), found.total) if found.total else None

    def _chosen(self, session: Session, stop: Callable[[], bool]) -> Callable[[EntryIndex], bool] | None:
        """A test of the entries that the query chooses by more than their text, evaluated on first use."""
        where = self.query.where
        if where is None:
            return None
        members: Members | None = None

        def chosen(entry: EntryIndex) -> bool:
            nonlocal members
            if members is None:
                from leafward.query.select.evaluator import members_of

                members = members_of(session, where, stop, self.query.now)
            return entry >= 0 and bool(members[entry])

        return chosen

    def _own(
        self, card: Card, session: Session, stop: Callable[[], bool]
    ) -> tuple[int, Callable[[], bool], Callable[[EntryIndex, Body], bool] | None]:
        """The first searched entry of a session, a test of when to stop, and a test of entries that another session has."""
        if not session.inherited and card.parent is None and card.origin not in self.corpus.shared_origins:
            return 0, stop, None
        above = self.corpus.above.get(card.path)
        if above is None:
            return 0, stop, None
        if not session.is_native:
            return session.inherited, stop, None
        parent = self.corpus.by_path[above[0]]
        return 0, stop, partial(self._sources.hold, parent, session)
