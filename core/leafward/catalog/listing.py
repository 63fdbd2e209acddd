"""The catalogue: what is listed at once, and how it is brought up to date."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.agents import Trouble, agent_named, all_agents, is_there
from leafward.base.gc_pause import gc_paused
from leafward.base.paths import is_kept
from leafward.catalog.backups import is_kept_in, kept_root, shown_once
from leafward.catalog.card import Reading, concealed
from leafward.catalog.exclusions import EXCLUDED, Exclusion
from leafward.catalog.index import Index
from leafward.catalog.roots import listings, scope
from leafward.catalog.sidecars import changed_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from leafward.agents import Candidate, Listing, Stamp
    from leafward.base.config import Config
    from leafward.catalog.card import Card, Details, Spent
    from leafward.catalog.reading_processes import ReadingProcesses

FIRST_PAGE = 64
"""Cards made before anything is shown where nothing is known yet."""

SOON = 1 << 30
"""Bytes that one process reads whole within seconds: a first look at each of many small files would only delay that."""

PUBLISH_EVERY = 0.25
"""Seconds between two updates."""

SAVE_EVERY = 10.0
"""Seconds between two writes of the index while much is being read."""

LEAST_BYTES = 32 << 20
"""Bytes to be read from which processes are worth their start."""

READ_AT_MOST = 20.0
"""Seconds for one file. One that takes longer keeps its first look, and the next listing tries it again; each of these leaves
less time to those that follow, so that no store can keep a listing from ending."""


@dataclass(frozen=True, slots=True)
class Update:
    """What changed since the update before."""

    changed: tuple[str, ...]
    """Paths of cards that are new or better now."""
    gone: tuple[str, ...]
    """Paths that are no longer listed."""
    done: int
    """Files whose cards are final."""
    total: int
    finished: bool
    """Whether this is the last one; if it is and `done` is less than `total`, the refresh was stopped."""


@dataclass(slots=True)
class Work:
    """What a refresh did: counted for tests and for `doctor`."""

    looked_at: int = 0
    """Files whose size and time were compared."""
    peeked: int = 0
    read_on: int = 0
    read_whole: int = 0


class Catalogue:
    """The sessions of all agents, or what lies in the folders and files named.

    `cards` answers at once, from what earlier runs saw. `refresh` is for a worker thread: it changes the cards one by one and
    says so; readers take `cards` again.
    """

    def __init__(
        self,
        config: Config,
        paths: Sequence[Path] = (),
        *,
        env: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
        index_path: Path | None = None,
    ) -> None:
        self.config = config
        self.paths = tuple(paths)
        self.env = os.environ if env is None else env
        self.clock = clock
        self.index = Index(index_path)
        self.trouble: list[Trouble] = []
        """Folders that the last refresh could not search."""
        self.left: list[str] = []
        """Sessions that the last refresh left for later: reading them took too long."""
        self._late: dict[str, Stamp] = {}
        """What those were that took too long: as long as they are the same, this catalogue does not try again."""
        self.work = Work()
        self._left_out = 0
        """Files in excluded folders that the last refresh passed by."""
        self._hidden: set[str] = set()
        """Paths of cards that stand for sessions of excluded projects."""
        self._exclusion = Exclusion(() if self.paths else config.exclude, self.env)
        self._within = scope(config, self.paths, self.env)
        kept = () if self.paths else tuple(str(kept_root(agent.name)) for agent in all_agents())
        self._cards = self.index.cards_within((*self._within, *kept))
        self._conceal()
        self._is_mended = False
        self._unread: set[str] = set()
        """Paths of cards that come from a first look only."""

    @property
    def searched(self) -> tuple[str, ...]:
        """Where sessions are looked for, to be told to somebody who has none."""
        return self._within

    @property
    def excluded(self) -> int:
        """How many sessions the configuration leaves out, as far as they were found."""
        return self._left_out + len(self._hidden)

    def cards(self) -> list[Card]:
        """Every session known now, in no order; each once, also where we keep a copy of it."""
        return list(self._shown()[0].values())

    def kept(self) -> frozenset[str]:
        """The paths of those of which we keep a copy, or which are one."""
        return self._shown()[1]

    def _shown(self) -> tuple[dict[str, Card], frozenset[str]]:
        # A copy: a refresh may go on in another thread.
        cards = self._cards.copy()
        for path in self._hidden.copy():
            cards.pop(path, None)
        folders = list(self.index.folders)
        return shown_once(cards) if any(map(is_kept_in(), folders)) else (cards, frozenset())

    def _conceal(self) -> None:
        """Forgets what was said in sessions that are excluded by now, and takes notice of those that are no longer."""
        exclusion = self._exclusion
        if self.index.faultless and not exclusion:
            return
        known = [path for path, card in self._cards.items() if card.problem == EXCLUDED]
        self._hidden = {path for path in known if exclusion(self._cards[path].project)}
        again = [path for path in known if path not in self._hidden]
        for path in again:
            del self._cards[path]
        self.index.drop(again)
        if not exclusion:
            return
        for path, card in list(self._cards.items()):
            if exclusion(path):
                del self._cards[path]
                self.index.drop((path,))
            elif card.problem != EXCLUDED and exclusion(card.project):
                self._hidden.add(path)
                self._cards[path] = concealed(card)
                self.index.conceal(self._cards[path])

    def spent(self, path: str) -> tuple[Spent, ...]:
        """What a session used, by day; nothing where it was never read whole. For workers, like `files`."""
        self._mend()
        return self.index.spent(path)

    def expires(self, card: Card) -> int | None:
        """When the agent will delete a session, in milliseconds since 1970; None where it never does, or we keep a copy's file."""
        if is_kept(card.path):
            return None
        left = agent_named(card.agent).lifetime(card.path)
        stamp = self.index.stamp(card.path)
        return stamp[1] // 1_000_000 + left if left is not None and stamp is not None else None

    def written(self, card: Card) -> int:
        """When a session's file was written to, in milliseconds since 1970; 0 where that is not known."""
        stamp = self.index.stamp(card.path)
        return stamp[1] // 1_000_000 if stamp is not None else 0

    def card(self, path: str) -> Card | None:
        """The card of one file."""
        return self._cards.get(path)

    def details(self, path: str) -> Details:
        """Files and last words of a session; empty where it was never read whole."""
        return self.index.details(path)

    def files(self) -> dict[str, Details]:
        """The details of every session: what `file:` is matched against."""
        self._mend()
        return self.index.all_details()

    def _mend(self) -> None:
        """Reads every session anew where what the index holds of them besides their cards proves to be unusable."""
        if self._is_mended:
            return
        self._is_mended = True
        if self.index.has_lost():
            self.refresh()

    def refresh(
        self,
        stop: Callable[[], bool] = lambda: False,
        publish: Callable[[Update], object] = lambda _update: None,
    ) -> Update:
        """Brings every card up to date and returns the last update. `publish` is called at most four times a second.

        Files are compared by size and time; what is new is first peeked at, newest first, then read. What is stopped
        keeps what it has got.
        """
        self.trouble, self.left, self.work = [], [], Work()
        self._left_out = 0
        known = self.index.cards.__contains__
        total = 0
        stale: list[Candidate] = []
        whole: set[str] = set()
        present: set[str] = set()
        with gc_paused():
            for listing in listings(self.config, self.paths, self.env, known, stop, self.trouble):
                if self._exclusion:
                    self._leave_out(listing)
                total += len(listing.files)
                different = self.index.compare(listing)
                stale += different
                if not different and len(listing.files) == len(self.index.folders.get(listing.folder, ())):
                    whole.add(listing.folder)
                else:
                    present.update(os.path.join(listing.folder, name) for name in listing.files)
        if stop():
            return Update((), (), 0, total, finished=True)
        self.work.looked_at = total
        gone = self._gone(whole, present)
        stale += changed_beside(self.index, self._cards, {candidate.path for candidate in stale})
        stale.sort(key=lambda candidate: (-candidate.mtime_ns, candidate.path))
        turn = _Turn(self.clock, publish, total - len(stale), total, gone)
        try:
            if stale:
                self._take(stale, turn, stop)
        finally:
            self.save()
        return turn.last()

    def _leave_out(self, listing: Listing) -> None:
        """Takes what is excluded out of a folder's listing."""
        for name in [name for name in listing.files if self._exclusion(os.path.join(listing.folder, name))]:
            del listing.files[name]
            self._left_out += 1

    def _gone(self, whole: set[str], present: set[str]) -> tuple[str, ...]:
        """Takes away the cards whose files are neither in a folder that is as it was nor among those found elsewhere."""
        paths = [path for path in self._unread if path not in present]
        for folder, files in self.index.folders.items():
            if folder not in whole:
                paths += [path for name in files if (path := os.path.join(folder, name)) not in present]
        gone = tuple(path for path in paths if self._cards.pop(path, None) is not None)
        self._unread.difference_update(gone)
        self._hidden.difference_update(gone)
        self.index.drop(gone)
        return gone

    def _take(self, stale: list[Candidate], turn: _Turn, stop: Callable[[], bool]) -> None:
        """Peeks at what is new, then reads what is stale: much of it in processes that are started before."""
        whole = [one for one in stale if self.index.reading(one.path) is None]
        if len(whole) < 2 or sum(one.size for one in whole) < LEAST_BYTES:
            self._peek(stale, turn, stop, SOON)
            self._read(stale, turn, stop)
            return
        from leafward.catalog.reading_processes import ReadingProcesses, wanted

        with ReadingProcesses(wanted(whole)) as processes:
            self._peek(stale, turn, stop, SOON * max(1, processes.count))
            self._read(stale, turn, stop, processes)

    def _ahead(
        self, stale: list[Candidate], stop: Callable[[], bool], processes: ReadingProcesses | None
    ) -> dict[str, Iterator[Reading | None]]:
        """What is read in processes, by path: each gives one reading after the other, in the order of `stale`."""
        from leafward.catalog.reading_processes import in_process

        if processes is None or not processes.count:
            return {}
        cards = [
            one
            for one in stale
            if in_process(one)
            and one.path not in self._hidden
            and self._late.get(one.path) != one.stamp
            and self.index.reading(one.path) is None
        ]
        readings = processes.read(cards, self._seconds, stop)
        return {one.path: readings for one in cards}

    def _peek(self, stale: list[Candidate], turn: _Turn, stop: Callable[[], bool], soon: int) -> None:
        """A first answer for every file that has no card and is not among the first bytes, which are read `soon`.

        A card that is out of date says so.
        """
        before = 0
        for position, candidate in enumerate(stale):
            if stop():
                return
            before += candidate.size
            known = self._cards.get(candidate.path)
            if known is not None:
                self._cards[candidate.path] = known._replace(partial=True)
                turn.changed.append(candidate.path)
            elif position < FIRST_PAGE or before > soon or self._exclusion:
                # Of what belongs to an excluded project no more than this is ever read.
                turn.done += not self._look_at(candidate, turn)
            turn.tick(page=position == min(FIRST_PAGE, len(stale)) - 1)

    def _look_at(self, candidate: Candidate, turn: _Turn) -> bool:
        """A first answer for a file; False where its project is excluded."""
        # Where no file has changed nothing reads one, and the list is there sooner.
        from leafward.catalog.quick_card import peek

        seen = peek(candidate)
        self.work.peeked += 1
        if self._exclusion(seen.project):
            self._exclude(candidate, seen)
            return False
        self._cards[candidate.path] = seen
        self._unread.add(candidate.path)
        turn.changed.append(candidate.path)
        return True

    def _read(
        self,
        stale: list[Candidate],
        turn: _Turn,
        stop: Callable[[], bool],
        processes: ReadingProcesses | None = None,
    ) -> None:
        from leafward.catalog.full_card import read_whole
        from leafward.catalog.grown_card import read_on

        saved = self.clock()
        ahead = self._ahead(stale, stop, processes) if processes is not None else {}
        for candidate in stale:
            if stop():
                return
            if candidate.path in self._hidden:
                if self.index.stamp(candidate.path) != candidate.stamp:
                    self._exclude(candidate, self._cards[candidate.path])
                continue
            if self._late.get(candidate.path) == candidate.stamp:
                self.left.append(candidate.path)
                turn.done += 1
                continue
            known = self.index.reading(candidate.path)
            reading = read_on(known, candidate) if known is not None else None
            if reading is not None:
                self.work.read_on += 1
            else:
                readings = ahead.get(candidate.path)
                reading = next(readings, None) if readings is not None else None
                if readings is None or (reading is None and processes is not None and not processes.works):
                    reading = read_whole(candidate, self._until(stop))
                self.work.read_whole += 1
            if reading is None:
                if stop():
                    return
                self._late[candidate.path] = candidate.stamp
                self.left.append(candidate.path)
                if candidate.path not in self._cards:
                    self._look_at(candidate, turn)
                turn.done += 1
                continue
            if self._exclusion(reading.card.project):
                self._exclude(candidate, reading.card)
                turn.done += 1
                continue
            self._cards[candidate.path] = reading.card
            self._unread.discard(candidate.path)
            self.index.put(candidate, reading)
            turn.changed.append(candidate.path)
            turn.done += 1
            turn.tick()
            if self.clock() - saved > SAVE_EVERY:
                self.save()
                saved = self.clock()

    def _until(self, stop: Callable[[], bool]) -> Callable[[], bool]:
        """`stop`, or that the time for one file is over."""
        end = self.clock() + self._seconds()
        return lambda: stop() or self.clock() > end

    def _seconds(self) -> float:
        """How long one file may take: less the more files there are to read."""
        return READ_AT_MOST / (1 + len(self.left))

    def _exclude(self, candidate: Candidate, card: Card) -> None:
        """Keeps no more of a session than that it is there and belongs to an excluded project."""
        self._hidden.add(candidate.path)
        self._unread.discard(candidate.path)
        self._cards[candidate.path] = concealed(card)
        self.index.put(candidate, Reading(self._cards[candidate.path]))

    def save(self) -> None:
        """Writes the index; cards of other places stay in it as long as their files are there."""
        if self.index.changed:
            others = [path for path in self.index.cards if path not in self._cards]
            self.index.drop([path for path in others if not is_there(path)])
        self.index.save()


class _Turn:
    """The updates of one refresh: gathered, and let out when it is time."""

    def __init__(
        self,
        clock: Callable[[], float],
        publish: Callable[[Update], object],
        done: int,
        total: int,
        gone: tuple[str, ...],
    ) -> None:
        self.clock = clock
        self.publish = publish
        self.done = done
        self.total = total
        self.gone = gone
        self.changed: list[str] = []
        self.published = clock()
        self.nothing_yet = True

    def tick(self, *, page: bool = False) -> None:
        """Publishes where it is time; `page`: the first page is whole, which is worth showing at once."""
        now = self.clock()
        if now - self.published >= PUBLISH_EVERY or (page and self.nothing_yet):
            self.published = now
            self.publish(self._update(finished=False))

    def last(self) -> Update:
        """Publishes what is left."""
        update = self._update(finished=True)
        self.publish(update)
        return update

    def _update(self, *, finished: bool) -> Update:
        update = Update(tuple(dict.fromkeys(self.changed)), self.gone, self.done, self.total, finished)
        self.changed, self.gone, self.nothing_yet = [], (), False
        return update
