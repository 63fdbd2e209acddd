"""Scanning a large session in a child process while this one still loads the application.

Loading and scanning both need the interpreter: as threads of one process they only take turns. The child is forked while
there is no other thread, scans, and sends the columns; they are a few bytes an entry, since a scan keeps no bodies. Lines
after the child's last read are read as always, so nothing depends on which of the two finishes first.
"""

from __future__ import annotations

import gc
import os
import threading
import time
from typing import TYPE_CHECKING, BinaryIO

from leafward.base.regular_files import open_regular

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import FileIO
    from pathlib import Path

    from leafward.session.lines.scan import Scan

WORTHWHILE = 4 << 20
"""Bytes from which a file is scanned ahead; a smaller one takes a few milliseconds."""

_HEADER = b'{"type":"session"'
"""The beginning of pi's sessions. Files of other agents are read differently: a scan of one would delay its reader."""
_NICE = 5
_HEAD_START = 0.08
"""Seconds that the screen has for itself: two busy processes slow each other down, even on two processors.

A file of a hundred thousand entries is still scanned by the time it is needed.
"""
_LONG = 512 << 20
"""Bytes of a file whose scan takes much longer than building the screen: it waits until the screen is built."""
_LONG_HEAD_START = 0.16
_TOLD_EVERY = 16
"""Chunks between two progress reports of the scan."""


class Prefetch:
    """A running scan in a child process."""

    def __init__(self, path: Path, file: FileIO, child: int, pipe: BinaryIO) -> None:
        self.path = path
        self._scanned = _identity(os.fstat(file.fileno()))
        self._child = child
        self._pipe: BinaryIO | None = pipe

    def take(
        self,
        stop: Callable[[], bool] = lambda: False,
        publish: Callable[[int, int], object] = lambda _end, _entries: None,
    ) -> Scan | None:
        """Waits for the scan and returns it, once; `publish` receives bytes and entries so far.

        None where it was taken before, stopped or failed, or where the path now belongs to another file.
        """
        import pickle

        pipe, self._pipe = self._pipe, None
        if pipe is None:
            return None
        scan = None
        try:
            with pipe:
                while scan is None and not stop():
                    # Only our own child writes here.
                    piece = pickle.load(pipe)  # noqa: S301
                    if isinstance(piece, tuple):
                        publish(*piece)
                        continue
                    if _identity(os.stat(self.path)) == self._scanned:
                        scan = piece
                    break
        except (EOFError, OSError, pickle.UnpicklingError):
            scan = None
        os.waitpid(self._child, 0)
        return scan


def scan_ahead(path: Path) -> Prefetch | None:
    """Starts to scan a file; None where that is impossible or not worthwhile. Call it while there is only one thread."""
    if not hasattr(os, "fork") or threading.active_count() > 1:
        return None
    try:
        if not path.is_file() or path.stat().st_size < WORTHWHILE:
            return None
        file = open_regular(path)
    except OSError:
        return None
    with file:
        if file.read(len(_HEADER)) != _HEADER:
            return None
        reading, writing = os.pipe()
        child = os.fork()
        if child:
            os.close(writing)
            return Prefetch(path, file, child, os.fdopen(reading, "rb"))
        try:
            os.close(reading)
            gc.disable()
            # Where both share a processor, the screen goes first.
            os.nice(_NICE)
            time.sleep(_HEAD_START if os.fstat(file.fileno()).st_size < _LONG else _LONG_HEAD_START)
            _send(file, writing)
        finally:
            # Whatever went wrong, the parent reads the file itself and reports the error.
            os._exit(0)


def _send(file: FileIO, descriptor: int) -> None:
    # Not needed in the parent until the screen is built.
    import pickle

    from leafward.session.lines.scan import Scan

    scan = Scan()
    chunks = 0
    with os.fdopen(descriptor, "wb") as pipe:

        def publish() -> None:
            nonlocal chunks
            chunks += 1
            if chunks % _TOLD_EVERY == 0:
                pickle.dump((scan.end, len(scan.columns)), pipe)
                pipe.flush()

        scan.advance(file, publish=publish)
        pickle.dump(scan, pipe, protocol=5)


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_ino, found.st_dev
