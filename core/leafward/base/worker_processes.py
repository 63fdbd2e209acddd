"""Processes of our own that work beside this one, so that reading takes all cores and no key waits for it.

A process gets requests on its standard input and answers them in their order, both pickled: it is our own code on both sides.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillWorking
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Generic, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")

MOST = 8
"""Processes that share in one work, at most."""
_LOOK = 0.05
"""Seconds between two looks whether anything is still wanted."""
_NICE = 5
START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from leafward.base.worker_processes import serve; serve(sys.argv[2])"


def cores() -> int:
    """Processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


class WorkerProcesses(Generic[_Request, _Answer]):
    """Processes that answer requests, ended when closed. One that dies leaves what it was asked for unanswered."""

    def __init__(self, count: int, function: str) -> None:
        """`function` is what answers, as `module:name`; it gets a request, and may hold on to nothing between two of them."""
        self.count = count
        self._function = function
        self._lock = threading.Lock()
        self._free: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self._alive = 0
        self._all: list[subprocess.Popen[bytes]] = []
        self._closed = False
        self.works = False
        """Whether one of them has answered; where none ever does, they cannot be used here."""
        self._pool = ThreadPoolExecutor(max(1, count), "leafward-worker")
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

    def ask(self, request: _Request) -> Future[_Answer | None]:
        """The answer to a request; None where there is no process for it, or it died."""
        return self._pool.submit(self._ask, request)

    def _begin(self) -> None:
        """Starts one more process; where it cannot be started the others do its work."""
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", START, json.dumps(sys.path), self._function],
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

    def _ask(self, request: _Request) -> _Answer | None:
        process = self._next()
        if process is None or process.stdin is None or process.stdout is None:
            return None
        try:
            pickle.dump(request, process.stdin, pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            found: _Answer = pickle.load(process.stdout)  # noqa: S301  from our own process
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            process.kill()
            with self._lock:
                self._alive -= 1
            if self.works and not self._closed:
                self._begin()
            return None
        self.works = True
        self._free.put(process)
        return found

    def _next(self) -> subprocess.Popen[bytes] | None:
        """A process that has nothing to do; waits for one, None where there is none any more."""
        while self._alive and not self._closed:
            with suppress(Empty):
                return self._free.get(timeout=_LOOK)
        return None


class Stopped(Exception):  # no error: nobody wants the answer any more
    """What was asked for is no longer wanted."""


def awaited(future: Future[_Answer], stop: Callable[[], bool]) -> _Answer:
    """What was asked for. Raises Stopped once `stop` turns true."""
    while not stop():
        try:
            return future.result(_LOOK)
        except StillWorking:
            continue
        except CancelledError:
            break
    raise Stopped


def serve(function: str) -> None:
    """Answers requests until the input ends; runs in a process of its own."""
    import gc
    from importlib import import_module

    with suppress(OSError, AttributeError):
        os.nice(_NICE)
    module, _, name = function.partition(":")
    answer = getattr(import_module(module), name)
    gc.disable()
    # What was imported stays: only what work leaves behind is looked through.
    gc.freeze()
    source, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # What anything here may print is no answer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    while True:
        try:
            request = pickle.load(source)  # noqa: S301  from the process that started this one
        except EOFError:
            return
        pickle.dump(answer(request), answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()
        gc.collect()
