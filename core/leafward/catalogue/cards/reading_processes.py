"""Reads session files whole in worker processes, so that a first listing uses all cores. Only this process writes the index."""

from __future__ import annotations

import sys
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple, Self

from leafward.base.worker_processes import MOST, Stopped, WorkerProcesses, awaited, cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    from leafward.agents.base import SessionCandidate
    from leafward.catalogue.cards.card import Reading

BATCH_BYTES, BATCH_FILES = 2 << 20, 32
"""Most bytes and files in one request (a larger file is a request of its own), if there is little to read."""
_LARGER = 4
"""Factor by which requests are larger if there is much to read, as each request has its overhead."""
_SHARES = 16
"""Number of requests for each process from which on they may be larger."""
_AHEAD = 3
"""Number of batches for each process that are requested before the first of them is taken."""


class FileBatch(NamedTuple):
    """Files to read, and the time limit for each."""

    candidates: tuple[SessionCandidate, ...]
    seconds: float
    """Time limit for each file."""


def process_count(candidates: Sequence[SessionCandidate]) -> int:
    """Number of processes that share in reading files whole; 0 if this process reads alone."""
    files = [one for one in candidates if in_process(one)]
    if len(files) < 2 or not sys.executable:
        return 0
    count = min(MOST, cores(), len(files))
    return count if count > 1 else 0


def in_process(candidate: SessionCandidate) -> bool:
    """Whether a candidate is a file of its own; for a database, each process would have to read the whole."""
    return candidate.path.endswith(".jsonl")


class ReadingProcesses:
    """Processes that read files; closing ends them. If one dies, the files requested from it stay unread."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._processes: WorkerProcesses[FileBatch, list[Reading | None]] = WorkerProcesses(
            count, f"{__name__}:read_batch"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.__exit__()

    @property
    def works(self) -> bool:
        """Whether one of them has answered; if none ever does, processes cannot be used here."""
        return self._processes.works

    def read(
        self, candidates: Sequence[SessionCandidate], seconds: Callable[[], float], stop: Callable[[], bool]
    ) -> Iterator[Reading | None]:
        """Yields the reading of each file, in the given order; None if it took more than `seconds`, or if the process died.

        Ends early once `stop` returns true.
        """
        waiting: deque[tuple[int, Future[list[Reading | None] | None]]] = deque()
        total = sum(one.size for one in candidates)
        batches = _batches(candidates, min(_LARGER, max(1, total // (_SHARES * self.count * BATCH_BYTES))))
        more = True
        while more or waiting:
            while more and len(waiting) < _AHEAD * self.count:
                batch = next(batches, None)
                if batch is None:
                    more = False
                    break
                waiting.append((len(batch), self._processes.ask(FileBatch(batch, seconds()))))
            if waiting:
                count, future = waiting.popleft()
                try:
                    found = awaited(future, stop)
                except Stopped:
                    return
                yield from found or [None] * count


def _batches(candidates: Sequence[SessionCandidate], times: int) -> Iterator[tuple[SessionCandidate, ...]]:
    """Candidates in batches that are `times` as large as the smallest requests."""
    batch: list[SessionCandidate] = []
    size = 0
    for one in candidates:
        own = one.size
        if batch and (size + own > times * BATCH_BYTES or len(batch) == times * BATCH_FILES):
            yield tuple(batch)
            batch, size = [], 0
        batch.append(one)
        size += own
    if batch:
        yield tuple(batch)


def read_batch(batch: FileBatch) -> list[Reading | None]:
    """Reads each file; None for a file that took longer than its limit."""
    # The process that only asks has no use for it before the first page is there.
    from leafward.catalogue.cards import full_card

    found = []
    for one in batch.candidates:
        end = time.monotonic() + batch.seconds
        found.append(full_card.read_whole(one, lambda: time.monotonic() > end))  # noqa: B023  called at once
    return found
