"""Session files read whole in processes of our own, so that a first listing takes all cores and no key waits for it.

A process gets batches of candidates on its standard input and answers with what was read of each, both pickled: it is our own
code on both sides. Only the one that asks writes to the index.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillWorking
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    from leafward.agents import Candidate
    from leafward.catalog.card import Reading

_MOST = 8
"""Processes."""
BATCH_BYTES, BATCH_FILES = 2 << 20, 32
"""What is asked for at once, at most, unless it is one file."""
_AHEAD = 3
"""Batches for each process that are asked for before the first of them is taken."""
_LOOK = 0.05
"""Seconds between two looks whether anything is still wanted."""
_NICE = 5
START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from leafward.catalog.reading_processes import serve; serve()"


class _Batch(NamedTuple):
    candidates: tuple[Candidate, ...]
    seconds: float
    """For each file, at most."""


def cores() -> int:
    """Processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def wanted(candidates: Sequence[Candidate]) -> int:
    """How many processes share in reading files whole; 0 where this one reads alone."""
    files = [one for one in candidates if in_process(one)]
    if len(files) < 2 or not sys.executable:
        return 0
    count = min(_MOST, cores(), len(files))
    return count if count > 1 else 0


def in_process(candidate: Candidate) -> bool:
    """Whether a candidate is a file of its own: of a database each process would read the whole."""
    return candidate.path.endswith(".jsonl")


class ReadingProcesses:
    """Processes that read, ended when closed. One that dies leaves what it was asked for unread."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._lock = threading.Lock()
        self._free: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self._alive = 0
        self._all: list[subprocess.Popen[bytes]] = []
        self._closed = False
        self.works = False
        """Whether one of them has answered; where none ever does, they cannot be used here."""
        self._pool = ThreadPoolExecutor(max(1, count), "leafward-reading")
        for _ in range(count):
            self._pool.submit(self._begin)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
            for process in self._all:
                process.kill()
        self._pool.shutdown(cancel_futures=True)
        # Now nobody starts one any more.
        for process in self._all:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            process.wait()

    def read(
        self, candidates: Sequence[Candidate], seconds: Callable[[], float], stop: Callable[[], bool]
    ) -> Iterator[Reading | None]:
        """What was read of each, in the order given; None where it took more than `seconds`, or the process died.

        Ends early once `stop` turns true.
        """
        waiting: deque[tuple[int, Future[list[Reading | None]]]] = deque()
        batches = _batches(candidates)
        more = True
        while more or waiting:
            while more and len(waiting) < _AHEAD * self.count:
                batch = next(batches, None)
                if batch is None:
                    more = False
                    break
                future = self._pool.submit(self._ask, _Batch(batch, seconds()))
                waiting.append((len(batch), future))
            if waiting:
                count, future = waiting.popleft()
                found = _awaited(future, stop)
                if found is None:
                    return
                yield from found or [None] * count

    def _begin(self) -> None:
        """Starts one more process; where it cannot be started the others do its work."""
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", START, json.dumps(sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=os.name != "nt",
            )
        except OSError:
            return
        with self._lock:
            self._all.append(process)
            self._alive += 1
            if self._closed:
                process.kill()
        self._free.put(process)

    def _ask(self, batch: _Batch) -> list[Reading | None]:
        """What was read of a batch; nothing where there is no process for it, or it died."""
        process = self._next()
        if process is None or process.stdin is None or process.stdout is None:
            return []
        try:
            pickle.dump(batch, process.stdin, pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            found: list[Reading | None] = pickle.load(process.stdout)  # noqa: S301  from our own process
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            process.kill()
            with self._lock:
                self._alive -= 1
            if self.works and not self._closed:
                self._begin()
            return []
        self.works = True
        self._free.put(process)
        return found

    def _next(self) -> subprocess.Popen[bytes] | None:
        """A process that has nothing to do; waits for one, None where there is none any more."""
        while self._alive and not self._closed:
            with suppress(Empty):
                return self._free.get(timeout=_LOOK)
        return None


def _batches(candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, ...]]:
    batch: list[Candidate] = []
    size = 0
    for one in candidates:
        if batch and (size + one.size > BATCH_BYTES or len(batch) == BATCH_FILES):
            yield tuple(batch)
            batch, size = [], 0
        batch.append(one)
        size += one.size
    if batch:
        yield tuple(batch)


def _awaited(future: Future[list[Any]], stop: Callable[[], bool]) -> list[Any] | None:
    """What was asked for; None once `stop` turns true."""
    while not stop():
        try:
            return future.result(_LOOK)
        except StillWorking:
            continue
        except CancelledError:
            return None
    return None


def serve() -> None:
    """Answers batches until its input ends; runs in a process of its own."""
    import gc
    import time

    from leafward.catalog.full_card import read_whole

    with suppress(OSError, AttributeError):
        os.nice(_NICE)
    gc.disable()
    # What was imported stays: only what reading leaves behind is looked through.
    gc.freeze()
    source, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # What anything here may print is no answer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    while True:
        try:
            batch: _Batch = pickle.load(source)  # noqa: S301  from the process that started this one
        except EOFError:
            return
        found = []
        for one in batch.candidates:
            end = time.monotonic() + batch.seconds
            found.append(read_whole(one, lambda: time.monotonic() > end))  # noqa: B023  called at once
        pickle.dump(found, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()
        gc.collect()
