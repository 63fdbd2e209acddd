"""Work in a child process, which begins with all the values of this one, while this one goes on with other work."""

from __future__ import annotations

import gc
import os
import signal
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, Self, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import BufferedReader

_Piece = TypeVar("_Piece")


class Forked(Generic[_Piece]):
    """A child at work, which sends pieces of its result. Leaving the context ends it."""

    def __init__(self, child: int, pipe: BufferedReader) -> None:
        self.pid = child
        self._pipe = pipe

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._pipe.closed:
            self._pipe.close()
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def is_ready(self) -> bool:
        """Whether the next piece has begun to arrive."""
        reading = self._pipe.fileno()
        os.set_blocking(reading, False)
        try:
            return bool(self._pipe.peek(1))
        finally:
            os.set_blocking(reading, True)

    def take(self) -> _Piece | None:
        """Waits for the next piece; None where the child ended without one."""
        import pickle

        with suppress(EOFError, OSError, pickle.UnpicklingError):
            # Only our own child writes here.
            return cast("_Piece", pickle.load(self._pipe))  # noqa: S301
        return None


def forked(work: Callable[[Callable[[_Piece], None]], None]) -> Forked[_Piece] | None:
    """Begins work in a child, which sends pieces with the function that it is given.

    None where the system has no fork or makes no more processes, or where other threads may hold locks that the child would wait
    for. If the child fails, it ends without a word: the caller does the work itself, and reports the error.
    """
    if not hasattr(os, "fork") or threading.active_count() > 1:
        return None
    reading, writing = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        return None
    if child:
        os.close(writing)
        return Forked(child, os.fdopen(reading, "rb"))
    try:
        os.close(reading)
        gc.disable()
        with os.fdopen(writing, "wb") as pipe:

            def send(piece: _Piece) -> None:
                # Not needed in the parent until it takes a piece.
                import pickle

                pickle.dump(piece, pipe, protocol=5)
                pipe.flush()

            work(send)
    finally:
        os._exit(0)
