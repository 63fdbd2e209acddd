"""Which sessions may hold a needle: found in the bytes they are stored as, by ripgrep where it is installed, else by a scan."""

from __future__ import annotations

import os
import shutil
import subprocess
from threading import Lock
from typing import TYPE_CHECKING

from leafward.agents import agent_named

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from leafward.agents import Text
    from leafward.catalog import Card
    from leafward.search.needles import Needle

PROGRAM = "rg"
_CHUNK = 1 << 23
"""Bytes of a file that are looked through at once."""
_TOLD = 1 << 16
"""Bytes of ripgrep's answer that are read at once."""
_OF_AN_ARGUMENT = 16
"""Bytes that an argument takes besides its own."""
_OPTIONS = (
    *("--files-with-matches", "--null", "--text", "--no-unicode", "--no-config", "--no-messages"),
    *("--encoding", "none", "--color", "never"),
)


def ripgrep() -> str | None:
    """Where ripgrep is; None where it is not installed."""
    return shutil.which(PROGRAM)


def arguments_at_once() -> int:
    """Bytes of arguments that a program may be given here."""
    try:
        most = os.sysconf("SC_ARG_MAX")
    except (AttributeError, OSError, ValueError):
        most = 32_000
    environment = sum(len(name) + len(value) + 16 for name, value in os.environ.items())
    return max(4096, min(3 * most // 4, 3 << 19) - environment)


class Sieve:
    """Looks for one needle. `program` is ripgrep's path, or None to do without it. For several threads."""

    def __init__(self, needle: Needle, program: str | None) -> None:
        self.needle = needle
        self.program = program
        self._lock = Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._ended = False

    def end(self) -> None:
        """Ends whatever ripgrep is at, for all time."""
        with self._lock:
            self._ended = True
            for process in self._running:
                process.kill()

    def passing(self, cards: Sequence[Card], stop: Callable[[], bool]) -> Iterator[str]:
        """Paths of the sessions that may hold the needle, as they are found. What cannot be read passes: opening it says why."""
        found: set[str] = set()
        texts: list[Text] = []
        by_agent: dict[str, list[str]] = {}
        for card in cards:
            by_agent.setdefault(card.agent, []).append(card.path)
        for agent, paths in by_agent.items():
            for text in agent_named(agent).texts(paths):
                if text.file is not None:
                    texts.append(text)
                    continue
                if stop():
                    return
                if text.session not in found and (text.data is None or self.needle.held_by(text.data)):
                    found.add(text.session)
                    yield text.session
        sessions: dict[str | None, list[str]] = {}
        for file in self._holding(dict.fromkeys(text.file for text in texts if text.file is not None), stop):
            if not sessions:
                # Ten thousand lists, which a word that nobody said does without.
                for text in texts:
                    sessions.setdefault(text.file, []).append(text.session)
            yield from (session for session in sessions[file] if session not in found)
            found.update(sessions[file])

    def _holding(self, files: Iterable[str], stop: Callable[[], bool]) -> Iterator[str]:
        if self.program is None:
            yield from (file for file in files if not stop() and self._holds(file))
            return
        for together in _arguments(files):
            if stop():
                return
            told: set[bytes] = set()
            whole = yield from self._ask(self.program, together, told)
            if not whole:
                # It could not read some of them, or could not run: which is not said.
                left = (os.fsdecode(name) for name in together if name not in told)
                yield from (file for file in left if not stop() and self._holds(file))

    def _ask(self, program: str, files: list[bytes], told: set[bytes]) -> Generator[str, None, bool]:
        """Files in which ripgrep finds the needle, as it says them, and in the end whether it looked into all."""
        asked: list[str | bytes] = [program, *_OPTIONS, "--regexp", self.needle.pattern, "--", *files]
        try:
            with subprocess.Popen(
                asked, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            ) as process:
                with self._lock:
                    self._running.add(process)
                    if self._ended:
                        process.kill()
                try:
                    if process.stdout is not None:
                        yield from map(os.fsdecode, _names(process.stdout.fileno(), told))
                finally:
                    with self._lock:
                        self._running.discard(process)
        except (OSError, ValueError):
            return False
        return process.returncode in (0, 1)

    def _holds(self, file: str) -> bool:
        """Whether a file holds the needle, or cannot be read."""
        try:
            handle = os.open(file, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        except OSError:
            return True
        reach, before = self.needle.reach, b""
        try:
            while data := os.read(handle, _CHUNK):
                if self.needle.held_by(before + data if before else data):
                    return True
                if len(data) < _CHUNK // 2:
                    # Nearly every file ends here; the rest of a longer one is short as well.
                    before = (before + data)[-reach:]
                else:
                    before = data[-reach:]
        except OSError:
            return True
        finally:
            os.close(handle)
        return False


def _arguments(files: Iterable[str]) -> Iterator[list[bytes]]:
    """Files, as many at once as a program may be told."""
    room = arguments_at_once()
    together: list[bytes] = []
    size = 0
    for name in map(os.fsencode, files):
        size += len(name) + _OF_AN_ARGUMENT
        if together and size > room:
            yield together
            together, size = [], len(name) + _OF_AN_ARGUMENT
        together.append(name)
    if together:
        yield together


def _names(pipe: int, told: set[bytes]) -> Iterator[bytes]:
    """What comes through a pipe, up to each NUL; also added to `told`."""
    rest = b""
    while data := os.read(pipe, _TOLD):
        *names, rest = (rest + data).split(b"\0")
        told.update(names)
        yield from names
