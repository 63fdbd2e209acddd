"""Own processes that work beside this one, so that reading uses all cores and no key waits for it.

A process receives requests on its standard input and answers them in order, both pickled: both sides are our own code.
"""

from __future__ import annotations

import json
import os
import pickle
import struct
import subprocess
import sys
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillWorking
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import IO, TYPE_CHECKING, Generic, Self, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")

MOST = 8
"""Most processes that share one task."""
_LOOK = 0.05
"""Seconds between two checks whether the answer is still wanted."""
_NICE = 5
_AT_ONCE = 2
"""Requests in a process at a time: the one in work, and the next one while the answer of the last is being taken."""
_ROOM = 1 << 20
"""Bytes of a pipe where the system lets us set them: a process then need not wait until its answer is taken."""
_SIZE = struct.Struct("<Q")
START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from leafward.base.worker_processes import serve; serve(sys.argv[2])"


_serves = False
"""Whether this process is a worker."""


def cores() -> int:
    """Processors that this process may use; one for a worker, since the workers already share all of them."""
    if _serves:
        return 1
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


class _Worker:
    """One process, which answers requests in order."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.lives = True
        self.buried = False
        """Whether it is known to be dead, and was replaced."""
        self._asking, self._taking = threading.Lock(), threading.Lock()

    def answer(self, request: object) -> object:
        """The answer to a request. Raises EOFError where the process dies while answering, OSError where it is dead before."""
        source, sink = self.process.stdout, self.process.stdin
        if source is None or sink is None:
            raise OSError
        with self._asking:
            sink.write(_framed(request))
            sink.flush()
            # The first to ask takes the first answer.
            self._taking.acquire()
        try:
            if not self.lives:
                raise BrokenPipeError
            return _read(source)
        except EOFError:
            self.lives = False
            raise
        finally:
            self._taking.release()


class WorkerProcesses(Generic[_Request, _Answer]):
    """Processes that answer requests until closed. A process that dies leaves its requests unanswered."""

    def __init__(self, count: int, function: str) -> None:
        """`function` is the answering one, as `module:name`; it gets a request, and must keep nothing between two of them."""
        self.count = count
        self._function = function
        self._lock = threading.Lock()
        self._free: SimpleQueue[_Worker] = SimpleQueue()
        self._all: list[_Worker] = []
        self._alive = count
        """Processes that live or are being started."""
        self._closed = False
        self.works = False
        """Whether one of them has answered; if none ever does, processes cannot be used here."""
        self._pool = ThreadPoolExecutor(max(1, _AT_ONCE * count), "leafward-worker")
        for _ in range(count):
            self._pool.submit(self._begin)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
            for worker in self._all:
                worker.process.kill()
        self._pool.shutdown(cancel_futures=True)
        # From here on nobody starts a process.
        for worker in self._all:
            for pipe in (worker.process.stdin, worker.process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            worker.process.wait()

    def ask(self, request: _Request) -> Future[_Answer | None]:
        """The answer to a request; None where no process is left for it, or its process died."""
        return self._pool.submit(self._ask, request)

    def _begin(self) -> None:
        """Starts one more process; if that fails, the others do its work."""
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", START, json.dumps(sys.path), self._function],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=os.name != "nt",
            )
        except OSError:
            with self._lock:
                self._alive -= 1
            return
        if process.stdout is not None:
            _widen(process.stdout.fileno())
        worker = _Worker(process)
        with self._lock:
            self._all.append(worker)
            if self._closed:
                process.kill()
        for _ in range(_AT_ONCE):
            self._free.put(worker)

    def _ask(self, request: _Request) -> _Answer | None:
        while (worker := self._next()) is not None:
            try:
                found = worker.answer(request)
            except EOFError:
                self._bury(worker)
                return None
            except (OSError, ValueError):
                # It died for another reason, or is closed: another process is asked.
                self._bury(worker)
                continue
            self.works = True
            self._free.put(worker)
            return cast("_Answer", found)
        return None

    def _bury(self, worker: _Worker) -> None:
        """Replaces a process that died, once; there is no replacement where no process ever answered."""
        worker.process.kill()
        with self._lock:
            if worker.buried:
                return
            worker.lives, worker.buried = False, True
            again = self.works and not self._closed
            if not again:
                self._alive -= 1
        if again:
            self._begin()

    def _next(self) -> _Worker | None:
        """A process with little to do; waits for one, and returns None where none is left."""
        while self._alive and not self._closed:
            with suppress(Empty):
                worker = self._free.get(timeout=_LOOK)
                if worker.lives:
                    return worker
        return None


def _framed(value: object) -> bytes:
    """A value in the form of the pipe: its length, then its pickle."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return _SIZE.pack(len(data)) + data


def _read(source: IO[bytes]) -> object:
    """The next value from a pipe. Raises EOFError where the pipe ends before."""
    head = source.read(_SIZE.size)
    size = _SIZE.unpack(head)[0] if len(head) == _SIZE.size else -1
    data = source.read(size) if size >= 0 else b""
    if len(data) != size:
        raise EOFError
    return pickle.loads(data)  # noqa: S301  from our own process


def _widen(pipe: int) -> None:
    """Gives a pipe room for a whole answer, where the system offers a call for that."""
    try:
        from fcntl import F_SETPIPE_SZ, fcntl

        fcntl(pipe, F_SETPIPE_SZ, _ROOM)
    except (ImportError, OSError):
        # Less room works too.
        return


class Stopped(Exception):  # not an error: nobody wants the answer any more
    """The answer is no longer wanted."""


def awaited(future: Future[_Answer], stop: Callable[[], bool]) -> _Answer:
    """The answer of a future. Raises Stopped once `stop` turns true."""
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

    global _serves  # noqa: PLW0603  # once, as the first thing that the process does
    _serves = True
    with suppress(OSError, AttributeError):
        os.nice(_NICE)
    module, _, name = function.partition(":")
    answer = getattr(import_module(module), name)
    gc.disable()
    # Imported modules stay alive, so garbage is only searched among the values of the work.
    gc.freeze()
    source, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # Printed text must not mix with the answers.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    while True:
        try:
            request = _read(source)
        except EOFError:
            return
        answers.write(_framed(answer(request)))
        answers.flush()
        # Values that survived the last answer are not searched again.
        gc.collect(0)
