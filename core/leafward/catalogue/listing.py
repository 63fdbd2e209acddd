"""The catalogue: a list of sessions that is there at once and is then brought up to date."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.agents.recognition import is_there
from leafward.agents.registry import agent_named, all_agents
from leafward.base.gc_pause import gc_paused
from leafward.base.paths import is_kept
from leafward.catalogue.backups import is_kept_in, kept_root, shown_once
from leafward.catalogue.cards.card import Reading, concealed
from leafward.catalogue.exclusions import EXCLUDED, Exclusion
from leafward.catalogue.index import Index
from leafward.catalogue.roots import listings, scope
from leafward.catalogue.sidecars import changed_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from leafward.agents.base import Listing, SessionCandidate, Stamp, Trouble
    from leafward.base.config import Config
    from leafward.catalogue.cards.card import Card, DayUsage, Details
    from leafward.catalogue.cards.reading_processes import ReadingProcesses

FIRST_PAGE = 64
"""Number of cards made before anything is shown, if nothing is known yet."""

SOON = 1 << 30
"""Bytes that one process reads whole within seconds; a first look at many small files would only delay that."""

PUBLISH_EVERY = 0.25
"""Seconds between two updates."""

SAVE_EVERY = 10.0
"""Seconds between two writes of the index while much is being read."""

LEAST_BYTES = 32 << 20
"""Bytes to read from which on starting processes pays off."""

READ_AT_MOST = 20.0
"""Seconds for one file. A file that takes longer keeps its first look, and the next listing tries it again. Each such file
leaves less time to the ones after it, so that no store can keep a listing from ending.
"""


@dataclass(frozen=True, slots=True)
class Update:
    """Changes since the previous update."""

    changed: tuple[str, ...]
    """Paths of cards that are new or have improved."""
    gone: tuple[str, ...]
    """Paths that are no longer listed."""
    done: int
    """Number of files whose cards are final."""
    total: int
    finished: bool
    """Whether this is the last update; if `done` is then less than `total`, the refresh was stopped."""


@dataclass(slots=True)
class RefreshWork:
    """Counts of the work of a refresh, for tests and for `doctor`."""

    looked_at: int = 0
    """Number of files whose size and time were compared."""
    peeked: int = 0
    read_on: int = 0
    read_whole: int = 0


class Catalogue:
    """The sessions of all agents, or those in the given folders and files.

    `cards` answers at once, from what earlier runs saw. `refresh` is for a worker thread: it changes the cards one by one and
    publishes each change; readers then call `cards` again.
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
        """Sessions that the last refresh left for later because reading them took too long."""
        self._late: dict[str, Stamp] = {}
        """Stamps of the files that took too long to read; while they are unchanged, this catalogue does not try them again."""
        self.work = RefreshWork()
        self._left_out = 0
        """Number of files in excluded folders that the last refresh skipped."""
        self._hidden: set[str] = set()
        """Paths of the cards of excluded projects' sessions."""
        self._exclusion = Exclusion(() if self.paths else config.exclude, self.env)
        self.searched = scope(config, self.paths, self.env)
        """Folders in which sessions are looked for, to be shown to a user who has none."""
        kept = () if self.paths else tuple(str(kept_root(agent.name)) for agent in all_agents())
        self._cards = self.index.cards_within((*self.searched, *kept))
        self._conceal()
        self._is_mended = False
        self._unread: set[str] = set()
        """Paths of cards that come from a first look only."""

    @property
    def excluded(self) -> int:
        """Number of sessions found so far that the configuration leaves out."""
        return self._left_out + len(self._hidden)

    def cards(self) -> list[Card]:
        """Every session known now, in no particular order; each is listed once, even if we keep a copy of it."""
        return list(self._shown()[0].values())

    def kept_paths(self) -> frozenset[str]:
        """Paths of the sessions that we keep a copy of, and of copies without an original."""
        return self._shown()[1]

    def _shown(self) -> tuple[dict[str, Card], frozenset[str]]:
        # Copied, because a refresh may be running in another thread.
        cards = self._cards.copy()
        for path in self._hidden.copy():
            cards.pop(path, None)
        folders = list(self.index.folders)
        return shown_once(cards) if any(map(is_kept_in(), folders)) else (cards, frozenset())

    def _conceal(self) -> None:
        """Conceals sessions that are now excluded, and drops cards of those no longer excluded, to be read again."""
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

    def spent(self, path: str) -> tuple[DayUsage, ...]:
        """Tokens and costs of a session, by day; empty if it was never read whole. For workers, like `files`."""
        self._mend()
        return self.index.spent(path)

    def expires(self, card: Card) -> int | None:
        """Milliseconds since 1970 at which the agent will delete a session; None if it never will, or if the file is our copy."""
        if is_kept(card.path):
            return None
        left = agent_named(card.agent).lifetime(card.path)
        stamp = self.index.stamp(card.path)
        return stamp[1] // 1_000_000 + left if left is not None and stamp is not None else None

    def written_at(self, card: Card) -> int:
        """Milliseconds since 1970 at which a session's file was written; 0 if that is not known."""
        stamp = self.index.stamp(card.path)
        return stamp[1] // 1_000_000 if stamp is not None else 0

    def card(self, path: str) -> Card | None:
        """The card of one file."""
        return self._cards.get(path)

    def details(self, path: str) -> Details:
        """Files and last words of a session; empty if it was never read whole."""
        return self.index.details(path)

    def files(self) -> dict[str, Details]:
        """The details of every session, for `file:` searches."""
        self._mend()
        return self.index.all_details()

    def _mend(self) -> None:
        """Reads every session again if the facts that the index holds besides the cards prove unusable."""
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

        Files are compared by size and time. New files are first peeked at, newest first, then read. A refresh that is stopped
        keeps the cards that it has made.
        """
        self.trouble, self.left, self.work = [], [], RefreshWork()
        self._left_out = 0
        known = self.index.cards.__contains__
        total = 0
        stale: list[SessionCandidate] = []
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
        """Removes excluded files from a folder's listing."""
        for name in [name for name in listing.files if self._exclusion(os.path.join(listing.folder, name))]:
            del listing.files[name]
            self._left_out += 1

    def _gone(self, whole: set[str], present: set[str]) -> tuple[str, ...]:
        """Removes the cards whose files are gone: neither in an unchanged folder nor found elsewhere. Returns their paths."""
        paths = [path for path in self._unread if path not in present]
        for folder, files in self.index.folders.items():
            if folder not in whole:
                paths += [path for name in files if (path := os.path.join(folder, name)) not in present]
        gone = tuple(path for path in paths if self._cards.pop(path, None) is not None)
        self._unread.difference_update(gone)
        self._hidden.difference_update(gone)
        self.index.drop(gone)
        return gone

    def _take(self, stale: list[SessionCandidate], turn: _Turn, stop: Callable[[], bool]) -> None:
        """Peeks at new files, then reads the stale ones; if there is much to read, processes are started before."""
        whole = [one for one in stale if self.index.reading(one.path) is None]
        if len(whole) < 2 or sum(one.size for one in whole) < LEAST_BYTES:
            self._peek(stale, turn, stop, SOON)
            self._read(stale, turn, stop)
            return
        from leafward.catalogue.cards.reading_processes import ReadingProcesses, process_count

        with ReadingProcesses(process_count(whole)) as processes:
            self._peek(stale, turn, stop, SOON * max(1, processes.count))
            self._read(stale, turn, stop, processes)

    def _ahead(
        self, stale: list[SessionCandidate], stop: Callable[[], bool], processes: ReadingProcesses | None
    ) -> dict[str, Iterator[Reading | None]]:
        """Readings made by processes, by path: each iterator gives one reading after another, in the order of `stale`."""
        from leafward.catalogue.cards.reading_processes import in_process

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

    def _peek(self, stale: list[SessionCandidate], turn: _Turn, stop: Callable[[], bool], soon: int) -> None:
        """Takes a first look at files without a card: at the first page and at those after `soon` bytes; the rest is read soon.

        Cards that are out of date are marked `partial`.
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
                # Nothing more than this is ever read of a session of an excluded project.
                turn.done += not self._look_at(candidate, turn)
            turn.tick(page=position == min(FIRST_PAGE, len(stale)) - 1)

    def _look_at(self, candidate: SessionCandidate, turn: _Turn) -> bool:
        """Takes a first look at a file; False if its project is excluded."""
        # Imported here: if no file has changed, none is read, and the list appears sooner.
        from leafward.catalogue.cards.quick_card import peek

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
        stale: list[SessionCandidate],
        turn: _Turn,
        stop: Callable[[], bool],
        processes: ReadingProcesses | None = None,
    ) -> None:
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
            reading = self._reading(candidate, ahead.get(candidate.path), stop, processes)
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

    def _reading(
        self,
        candidate: SessionCandidate,
        ahead: Iterator[Reading | None] | None,
        stop: Callable[[], bool],
        processes: ReadingProcesses | None,
    ) -> Reading | None:
        """The reading of one file: what is new in it, what a process made of it (`ahead`), else all of it; None if it takes too long."""
        from leafward.catalogue.cards.full_card import read_whole
        from leafward.catalogue.cards.grown_card import read_on

        known = self.index.reading(candidate.path)
        reading = read_on(known, candidate) if known is not None else None
        if reading is not None:
            self.work.read_on += 1
            return reading
        reading = next(ahead, None) if ahead is not None else None
        if ahead is None or (reading is None and processes is not None and not processes.works):
            reading = read_whole(candidate, self._until(stop))
        self.work.read_whole += 1
        return reading

    def _until(self, stop: Callable[[], bool]) -> Callable[[], bool]:
        """A test that is true once `stop` is, or once the time for one file is over."""
        end = self.clock() + self._seconds()
        return lambda: stop() or self.clock() > end

    def _seconds(self) -> float:
        """Seconds for one file; they shrink with each file that took too long."""
        return READ_AT_MOST / (1 + len(self.left))

    def _exclude(self, candidate: SessionCandidate, card: Card) -> None:
        """Records only that a session exists and belongs to an excluded project."""
        self._hidden.add(candidate.path)
        self._unread.discard(candidate.path)
        self._cards[candidate.path] = concealed(card)
        self.index.put(candidate, Reading(self._cards[candidate.path]))

    def save(self) -> None:
        """Writes the index. Cards of files outside this catalogue stay in it while their files exist."""
        if self.index.changed:
            others = [path for path in self.index.cards if path not in self._cards]
            self.index.drop([path for path in others if not is_there(path)])
        self.index.save()


class _Turn:
    """The updates of one refresh: gathered, and published when it is time."""

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
        """Publishes if it is time; `page` tells that the first page is complete, which is shown at once."""
        now = self.clock()
        if now - self.published >= PUBLISH_EVERY or (page and self.nothing_yet):
            self.published = now
            self.publish(self._update(finished=False))

    def last(self) -> Update:
        """Publishes the rest and returns it."""
        update = self._update(finished=True)
        self.publish(update)
        return update

    def _update(self, *, finished: bool) -> Update:
        update = Update(tuple(dict.fromkeys(self.changed)), self.gone, self.done, self.total, finished)
        self.changed, self.gone, self.nothing_yet = [], (), False
        return update
