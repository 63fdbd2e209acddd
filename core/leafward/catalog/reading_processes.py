"""Session files read whole in processes of our own, so that a first listing takes all cores. Only the one that asks writes to the index."""

from __future__ import annotations

import sys
from collections import deque
from typing import TYPE_CHECKING, Self

from leafward.base.worker_processes import MOST, Stopped, WorkerProcesses, awaited, cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    from leafward.agents import Candidate
    from leafward.catalog.card import Reading
    from leafward.catalog.file_batch import FileBatch

BATCH_BYTES, BATCH_FILES = 2 << 20, 32
"""What is asked for at once, at most, unless it is one file, and where there is little to read."""
_LARGER = 4
"""How many times as much is asked for at once where there is much: asking has its price as well."""
_SHARES = 16
"""Requests for each process from which on they may be larger."""
_READS = "leafward.catalog.file_batch:read_batch"
_AHEAD = 3
"""Batches for each process that are asked for before the first of them is taken."""


def wanted(candidates: Sequence[Candidate]) -> int:
    """How many processes share in reading files whole; 0 where this one reads alone."""
    files = [one for one in candidates if in_process(one)]
    if len(files) < 2 or not sys.executable:
        return 0
    count = min(MOST, cores(), len(files))
    return count if count > 1 else 0


def in_process(candidate: Candidate) -> bool:
    """Whether a candidate is a file of its own: of a database each process would read the whole."""
    return candidate.path.endswith(".jsonl")


class ReadingProcesses:
    """Processes that read, ended when closed. One that dies leaves what it was asked for unread."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._processes: WorkerProcesses[FileBatch, list[Reading | None]] = WorkerProcesses(count, _READS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.__exit__()

    @property
    def works(self) -> bool:
        """Whether one of them has answered; where none ever does, they cannot be used here."""
        return self._processes.works

    def read(
        self, candidates: Sequence[Candidate], seconds: Callable[[], float], stop: Callable[[], bool]
    ) -> Iterator[Reading | None]:
        """What was read of each, in the order given; None where it took more than `seconds`, or the process died.

        Ends early once `stop` turns true.
        """
        # Not needed until the first page is there.
        from leafward.catalog.file_batch import FileBatch

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


def _batches(candidates: Sequence[Candidate], times: int) -> Iterator[tuple[Candidate, ...]]:
    """Candidates as they are asked for: so many times what is asked for where there is little to read."""
    batch: list[Candidate] = []
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
