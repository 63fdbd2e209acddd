"""Sessions whose stored bytes may hold a needle, found by ripgrep where it is installed, else by a scan."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from threading import Lock
from typing import TYPE_CHECKING

from leafward.agents.registry import agent_named
from leafward.base.regular_files import descriptor_of, next_data
from leafward.query.search.corpus import SUFFIX, folders, folders_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence

    from leafward.agents.base import SessionText
    from leafward.catalogue.cards.card import Card
    from leafward.query.search.corpus import Corpus
    from leafward.query.search.literals import Needle

PROGRAM = "rg"
_CHUNK = 1 << 23
"""Bytes of a file that are scanned at a time."""
_LARGE = 1 << 29
"""Bytes of a session from which ripgrep does not read it: it reads holes, and keeps whole lines in memory."""
_TOLD = 1 << 16
"""Bytes of ripgrep's output that are read at a time."""
_OF_AN_ARGUMENT = 16
"""Bytes that an argument takes besides its own text."""
_OPTIONS = (
    *("--files-with-matches", "--null", "--text", "--no-unicode", "--no-config", "--no-messages"),
    *("--encoding", "none", "--color", "never"),
)


_OF_FOLDERS = (*("--hidden", "--no-ignore", "--follow", "--max-depth", "1"), *("--glob", f"*{SUFFIX}"))
"""Every file in a folder that may be a session; no folder below it."""
_AGENT, _PATH = attrgetter("agent"), attrgetter("path")
_MANY = 8
"""Sessions in a folder from which it is searched as a whole: ripgrep lists it faster than it takes the names."""


def ripgrep() -> str | None:
    """The path of ripgrep; None where it is not installed."""
    return shutil.which(PROGRAM)


def _arguments_at_once() -> int:
    """Bytes of arguments that a program may take here."""
    try:
        most = os.sysconf("SC_ARG_MAX")
    except (AttributeError, OSError, ValueError):
        most = 32_000
    environment = sum(len(name) + len(value) + 16 for name, value in os.environ.items())
    return max(4096, min(3 * most // 4, 3 << 19) - environment)


@dataclass(frozen=True, slots=True)
class Sweep:
    """A ripgrep process that searches whole folders."""

    folders: frozenset[str]
    process: subprocess.Popen[bytes] | None
    """None where it did not start, or where there are no such folders."""
    large: Sequence[Card]
    """Sessions that ripgrep does not read."""
    is_complete: bool
    """Whether the folders hold all sessions."""

    def left_of(self, files: Sequence[str]) -> list[str]:
        """The ones of some files that it does not reach."""
        return [
            file
            for file, folder in zip(files, folders(files), strict=True)
            if folder not in self.folders or not file.endswith(SUFFIX)
        ]


class Prefilter:
    """A filter for one needle, usable from several threads."""

    def __init__(self, needle: Needle, program: str | None, corpus: Corpus) -> None:
        """`program` is ripgrep's path, or None to do without it."""
        self.needle = needle
        self._corpus = corpus
        self.program = program
        self._lock = Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._unread: set[subprocess.Popen[bytes]] = set()
        """The running processes whose output nobody reads yet."""
        self._ended = False

    def end(self) -> None:
        """Ends every running ripgrep and lets no new one start."""
        with self._lock:
            self._ended = True
            for process in self._running:
                process.kill()
            unread, self._unread = self._unread, set()
        # The readers of the other processes wait for those.
        for process in unread:
            with self._ending(process):
                pass

    def sweep(self, cards: Sequence[Card]) -> Sweep:
        """Starts ripgrep on the folders that hold hardly more than some sessions. The caller then iterates `passing`."""
        large = [card for card in cards if card.size > _LARGE] if self._corpus.largest > _LARGE else []
        counts = self._whole_folders(cards)
        for folder in folders([file for card in large for file in _files_of(card)]):
            counts.pop(folder, None)
        pattern = self.needle.pattern_in(self._corpus.sample) if counts else self.needle.pattern
        process = self._started(_OF_FOLDERS, pattern, _encoded(counts))
        return Sweep(frozenset(counts), process, large, sum(counts.values()) == len(cards))

    def passing(
        self, cards: Sequence[Card], stop: Callable[[], bool], begun: Sweep | None = None
    ) -> Iterator[str]:
        """Paths of the sessions that may hold the needle, as they are found.

        An unreadable session passes: opening it reports the reason. `begun` is the sweep of these sessions, or of more,
        where one was started before.
        """
        sweep = begun if begun is not None else self.sweep(cards)
        # The list of files is made while ripgrep searches whole folders.
        with self._ending(sweep.process):
            found: set[str] = set()
            own: list[str] = []
            texts: list[SessionText] = []
            agents = dict.fromkeys(map(_AGENT, cards))
            for agent in agents:
                mine = cards if len(agents) == 1 else [card for card in cards if card.agent == agent]
                kept = agent_named(agent).texts(list(map(_PATH, mine)))
                own += kept.own
                for text in kept.pieces:
                    if text.file is not None:
                        if text.file == text.session:
                            # The path alone is enough here.
                            own.append(text.file)
                        else:
                            texts.append(text)
                        continue
                    if stop():
                        return
                    if text.session not in found and (text.data is None or self.needle.held_by(text.data)):
                        found.add(text.session)
                        yield text.session
            themselves, others = set(own), _sessions_by_file(texts)
            shared = [file for file in others if file not in themselves]
            alone: set[str] = set()
            if sweep.large:
                paths = {card.path for card in sweep.large}
                alone = themselves & paths
                alone.update(file for file, named in others.items() if not paths.isdisjoint(named))
            files = [*own, *shared]
            if alone:
                files = [file for file in files if file not in alone]
            # This happens before waiting for the output, so that nothing is left to do when it arrives.
            left = (
                sweep.left_of(shared if sweep.is_complete else files) if sweep.process is not None else files
            )
            for file in self._holding(files, left, stop, alone, sweep.process):
                for session in (file, *others.get(file, ())) if file in themselves else others.get(file, ()):
                    if session not in found:
                        found.add(session)
                        yield session

    def _holding(
        self,
        files: list[str],
        left: list[str],
        stop: Callable[[], bool],
        alone: Collection[str],
        sweep: subprocess.Popen[bytes] | None,
    ) -> Iterator[str]:
        """Files that hold the needle, in any order, possibly with others that nobody asked for.

        ripgrep does not read those `alone`. `sweep` is a ripgrep on folders that hold all `files` except `left`.
        """
        yield from (file for file in alone if not stop() and self._holds(file, stop))
        if self.program is None:
            yield from (file for file in files if not stop() and self._holds(file, stop))
            return
        listed: set[bytes] = set()
        if sweep is not None and (yield from self._answers(sweep, listed)):
            files = left
        for together in _arguments(files):
            if stop():
                return
            whole = yield from self._ask(together, listed)
            if not whole:
                # ripgrep failed to read some of them or failed to run; it does not say which.
                unseen = (os.fsdecode(name) for name in together if name not in listed)
                yield from (file for file in unseen if not stop() and self._holds(file, stop))

    def _whole_folders(self, cards: Sequence[Card]) -> dict[str, int]:
        """Folders whose sessions are nearly all among some, with the number of those."""
        if self.program is None or len(cards) < _MANY:
            return {}
        crowds = self._corpus.crowds
        counts = crowds if cards is self._corpus.cards else Counter(folders_of(cards))
        return {
            folder: count
            for folder, count in counts.items()
            if count >= _MANY and 0 < 3 * crowds.get(folder, 0) <= 4 * count
        }

    def _ask(self, files: list[bytes], listed: set[bytes]) -> Generator[str, None, bool]:
        """Yields the files in which ripgrep finds the needle, as it reports them; returns whether it searched all."""
        process = self._started((), self.needle.pattern, files)
        with self._ending(process):
            return (yield from self._answers(process, listed)) if process is not None else False

    def _started(
        self, options: tuple[str, ...], pattern: bytes, paths: list[bytes]
    ) -> subprocess.Popen[bytes] | None:
        """A ripgrep process on some paths; None where it did not start, or where there are no paths."""
        if self.program is None or not paths:
            return None
        argv: list[str | bytes] = [self.program, *_OPTIONS, *options, "--regexp", pattern, "--", *paths]
        try:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except (OSError, ValueError):
            return None
        with self._lock:
            self._running.add(process)
            self._unread.add(process)
            if self._ended:
                process.kill()
        return process

    @contextmanager
    def _ending(self, process: subprocess.Popen[bytes] | None) -> Iterator[None]:
        """Waits for a process at the end of the block."""
        if process is None:
            yield
            return
        with self._lock:
            self._unread.discard(process)
        with process:
            try:
                yield
            finally:
                with self._lock:
                    self._running.discard(process)

    def _answers(self, process: subprocess.Popen[bytes], listed: set[bytes]) -> Generator[str, None, bool]:
        """Yields the files that ripgrep reports; returns whether it searched all."""
        if process.stdout is None or self._ended:
            # `end` may have closed the pipe.
            return False
        try:
            yield from map(os.fsdecode, _names(process.stdout.fileno(), listed))
        except (OSError, ValueError):
            return False
        return process.wait() in (0, 1)

    def _holds(self, file: str, stop: Callable[[], bool]) -> bool:
        """Whether a file holds the needle, or is unreadable. Holes in it are skipped."""
        try:
            handle = descriptor_of(file)
        except OSError:
            return True
        reach, before = self.needle.reach, b""
        try:
            while data := os.read(handle, _CHUNK):
                if self.needle.held_by(before + data if before else data):
                    return True
                if len(data) < _CHUNK // 2:
                    # Nearly every file ends here; the rest of a longer one is short too.
                    before = (before + data)[-reach:]
                    continue
                before = data[-reach:]
                if stop():
                    return False
                if before and not before.strip(b"\0"):
                    at = os.lseek(handle, 0, os.SEEK_CUR)
                    os.lseek(handle, next_data(handle, at, max(at, os.fstat(handle).st_size)), os.SEEK_SET)
        except OSError:
            return True
        finally:
            os.close(handle)
        return False


def _files_of(card: Card) -> list[str]:
    """The files that hold the text of a session, of those in folders that are searched as a whole."""
    if not card.path.endswith(SUFFIX):
        return []
    kept = agent_named(card.agent).texts([card.path])
    return [*kept.own, *(text.file for text in kept.pieces if text.file is not None)]


def _sessions_by_file(texts: list[SessionText]) -> Mapping[str, Sequence[str]]:
    """The sessions that store text in each file."""
    alone = {text.file: (text.session,) for text in texts if text.file is not None}
    if len(alone) == len(texts):
        return alone
    found: dict[str, list[str]] = {}
    for text in texts:
        if text.file is not None:
            found.setdefault(text.file, []).append(text.session)
    return found


def _encoded(files: Iterable[str]) -> list[bytes]:
    """The names of some files or folders as bytes.

    All in one call: ten thousand calls would take as long as ripgrep takes for a tenth of the files.
    """
    together = os.fsencode("\0".join(files))
    return together.split(b"\0") if together else []


def _arguments(files: list[str]) -> Iterator[list[bytes]]:
    """Files in groups, each as large as a program's arguments allow."""
    if not files:
        return
    room = _arguments_at_once()
    names = _encoded(files)
    at = 0
    while at < len(names):
        size, end = 0, at
        while end < len(names) and (end == at or size + len(names[end]) + _OF_AN_ARGUMENT <= room):
            size += len(names[end]) + _OF_AN_ARGUMENT
            end += 1
        yield names[at:end]
        at = end


def _names(pipe: int, listed: set[bytes]) -> Iterator[bytes]:
    """Names that come through a pipe, each up to a NUL; they are also added to `listed`."""
    rest = b""
    while data := os.read(pipe, _TOLD):
        *names, rest = (rest + data).split(b"\0")
        listed.update(names)
        yield from names
