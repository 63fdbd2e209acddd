"""One large file read from both ends: its reader proceeds from the beginning, worker processes read stretches from the end.

A stretch with an oddity, such as a line larger than a chunk or a run of NULs, is left to the reader, which reads in order.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from leafward.agents.storage.lines import CHUNK
from leafward.base.errors import NotASession
from leafward.base.regular_files import open_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from leafward.agents.storage.lines import OpenFile

_Answer = TypeVar("_Answer")

LARGE = 32 << 20
"""Bytes from which it pays to start processes."""
SIZE = 4 << 20
"""Bytes of a stretch, about."""
_AHEAD = 2
"""Stretches for each process that are requested before the first of them is finished."""
PIECE = 1 << 17
"""Bytes that a process reads at a time where a line ends within them: they stay in the processor's cache, and the system need not
clear memory for them again and again."""
_SEARCHED = 1 << 16
"""Bytes within which a line is expected to end."""


class Stretch(NamedTuple):
    """Whole lines of a file for a worker process."""

    path: str
    identity: tuple[int, int]
    start: int
    stop: int
    """Offsets."""


def blocks_of(stretch: Stretch) -> Iterator[tuple[bytes, int]]:
    """The whole lines of a stretch in blocks, each with its offset. Raises NotASession for anything odd."""
    with open_regular(stretch.path) as file:
        now = os.fstat(file.fileno())
        if (now.st_dev, now.st_ino) != stretch.identity:
            raise NotASession(f"{stretch.path} was replaced by another file: reload it")
        at = stretch.start
        while at < stretch.stop:
            for size in (PIECE, CHUNK):
                file.seek(at)
                data = file.read(min(size, stretch.stop - at)) or b""
                whole = data.rfind(b"\n") + 1
                if whole:
                    break
            else:
                raise NotASession(f"{stretch.path} has an unusually long line at {at}")
            yield data[:whole], at
            at += whole


def shared_by(file: OpenFile, begin: int) -> int:
    """The number of processes beside this one that share in reading a file from an offset on; 0 where that does not pay."""
    if file.size - begin < LARGE or not sys.executable or not file.has_name:
        return 0
    # Few files are that large.
    from leafward.base.worker_processes import MOST, cores

    return min(MOST, cores()) - 1


def cuts_of(file: OpenFile, begin: int) -> list[int]:
    """The bounds of stretches, from a line on to the last line end: behind line ends that are found at once."""
    size = file.size
    cuts = [begin]
    for place in range(begin + SIZE, size - SIZE, SIZE):
        newline = file.at(place, _SEARCHED).find(b"\n")
        if newline >= 0:
            cuts.append(place + newline + 1)
    rest = max(begin, size - _SEARCHED)
    newline = file.at(rest, _SEARCHED).rfind(b"\n")
    last = rest + newline + 1
    return [*cuts, last] if newline >= 0 and last > cuts[-1] else cuts


class Stretches(Generic[_Answer]):
    """A file that is read from both ends."""

    def __init__(self, file: OpenFile, function: str, begin: int) -> None:
        """`function` reads a `Stretch`, as `module:name`; it returns None for a stretch to be read here. `begin` is an offset."""
        self._file = file
        self._function = function
        self.end = begin
        """The offset up to which the file was read."""

    def read(
        self,
        feed: Callable[[bytes, int, int], object],
        take: Callable[[_Answer], bool],
        stop: Callable[[], bool],
    ) -> None:
        """Reads all whole lines if the file is large and processors are free for it; otherwise nothing.

        `feed` gets blocks in the form of `OpenFile.blocks`; `take` gets a process's answer, and returns whether it could use it.
        Both come in the order of the file. Ends early once `stop` turns true.
        """
        count = shared_by(self._file, self.end)
        if not count:
            return
        from leafward.base.worker_processes import Stopped, WorkerProcesses, awaited

        cuts = cuts_of(self._file, self.end)
        asked: deque[tuple[Stretch, Future[_Answer | None]]] = deque()
        with WorkerProcesses[Stretch, _Answer](count, self._function) as processes, suppress(Stopped):

            def ask() -> int:
                """Requests stretches while processes have little to do; returns the offset of the first one."""
                waiting = sum(not future.done() for _, future in asked)
                for _ in range(_AHEAD * count - waiting):
                    if len(cuts) < 2 or cuts[-2] <= self.end:
                        break
                    stop = cuts.pop()
                    stretch = Stretch(self._file.path, self._file.identity, cuts[-1], stop)
                    asked.appendleft((stretch, processes.ask(stretch)))
                return cuts[-1]

            going = self._feed(ask, feed, stop)
            while going and asked:
                stretch, future = asked.popleft()
                # A stretch that no process has begun is read here.
                told = None if future.cancel() else awaited(future, stop)
                if told is not None and take(told):
                    self.end = stretch.stop
                else:
                    going = self._feed(partial(int, stretch.stop), feed, stop)

    def _feed(
        self, limit: Callable[[], int], feed: Callable[[bytes, int, int], object], stop: Callable[[], bool]
    ) -> bool:
        """Reads on here up to an offset, which may decrease meanwhile; False where it was stopped before."""
        for data, whole, at in self._file.blocks(stop, self.end):
            end = limit()
            count = whole if at in self._file.long_lines else min(whole, end - at)
            feed(data, count, at)
            self.end = at + self._file.extent(at, count)
            if self.end >= end:
                return True
        return False
