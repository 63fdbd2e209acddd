"""Which sessions may hold a needle: found in the bytes they are stored as, by ripgrep where it is installed, else by a scan."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from leafward.agents import agent_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from leafward.catalog import Card
    from leafward.search.needles import Needle

PROGRAM = "rg"
_CHUNK = 1 << 23
"""Bytes of a file that are looked through at once."""
_POLL = 0.02
"""Seconds between two looks at whether to go on while ripgrep runs."""
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
    return max(4096, min(most // 2, 1 << 20) - environment)


class Sieve:
    """Looks for one needle. `program` is ripgrep's path, or None to do without it."""

    def __init__(self, needle: Needle, program: str | None) -> None:
        self.needle = needle
        self.program = program

    def passing(self, cards: Sequence[Card], stop: Callable[[], bool]) -> set[str]:
        """Paths of the sessions that may hold the needle, among a few. What cannot be read passes: opening it says why."""
        found: set[str] = set()
        files: dict[str, list[str]] = {}
        by_agent: dict[str, list[str]] = {}
        for card in cards:
            by_agent.setdefault(card.agent, []).append(card.path)
        for agent, paths in by_agent.items():
            for text in agent_named(agent).texts(paths):
                if stop():
                    return found
                if text.session in found:
                    continue
                if text.file is not None:
                    files.setdefault(text.file, []).append(text.session)
                elif text.data is None or self.needle.held_by(text.data):
                    found.add(text.session)
        for file in self._holding(files, stop):
            found.update(files[file])
        return found

    def _holding(self, files: Iterable[str], stop: Callable[[], bool]) -> Iterable[str]:
        waiting = list(files)
        if self.program is None:
            return [file for file in waiting if not stop() and self._holds(file)]
        found: set[str] = set()
        room = arguments_at_once()
        while waiting and not stop():
            size = count = 0
            while count < len(waiting) and (not count or size < room):
                size += len(os.fsencode(waiting[count])) + 16
                count += 1
            together, waiting = waiting[:count], waiting[count:]
            told, whole = self._ask(self.program, together, stop)
            found |= told
            if not whole:
                # It could not read some of them, or could not run: which is not said.
                found.update(
                    file for file in together if file not in told and not stop() and self._holds(file)
                )
        return found

    def _ask(self, program: str, files: list[str], stop: Callable[[], bool]) -> tuple[set[str], bool]:
        """Files in which ripgrep finds the needle, and whether it looked into all."""
        asked = [program, *_OPTIONS, "--regexp", self.needle.pattern.decode("ascii"), "--", *files]
        try:
            with subprocess.Popen(
                asked, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            ) as process:
                told: bytes | None = None
                while told is None:
                    try:
                        told, _ = process.communicate(timeout=_POLL)
                    except subprocess.TimeoutExpired:
                        if stop():
                            process.kill()
        except (OSError, ValueError):
            return set(), False
        return {os.fsdecode(name) for name in told.split(b"\0") if name}, process.returncode in (0, 1)

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
