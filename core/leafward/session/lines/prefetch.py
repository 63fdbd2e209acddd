"""Scanning a large session in a child process while this one still loads the application.

Loading and scanning both need the interpreter: as threads of one process they only take turns. The child is forked while
there is no other thread, scans, and sends the columns; they are a few bytes an entry, since a scan keeps no bodies. Lines
after the child's last read are read as always, so nothing depends on which of the two finishes first.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from leafward.base.cancellation import never
from leafward.base.forked import Forked, forked
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

    def __init__(self, path: Path, file: FileIO, child: Forked[tuple[int, int] | Scan]) -> None:
        self.path = path
        self._scanned = _identity(os.fstat(file.fileno()))
        self._child: Forked[tuple[int, int] | Scan] | None = child

    def take(
        self,
        stop: Callable[[], bool] = never,
        publish: Callable[[int, int], object] = lambda _end, _entries: None,
    ) -> Scan | None:
        """Waits for the scan and returns it, once; `publish` receives bytes and entries so far.

        None where it was taken before, stopped or failed, or where the path now belongs to another file.
        """
        child, self._child = self._child, None
        if child is None:
            return None
        with child:
            while not stop() and (piece := child.take()) is not None:
                if isinstance(piece, tuple):
                    publish(*piece)
                    continue
                with suppress(OSError):
                    return piece if _identity(os.stat(self.path)) == self._scanned else None
                break
        return None


def scan_ahead(path: Path) -> Prefetch | None:
    """Starts to scan a file; None where that is impossible or not worthwhile. Call it while there is only one thread."""
    try:
        if not path.is_file() or path.stat().st_size < WORTHWHILE:
            return None
        file = open_regular(path)
    except OSError:
        return None
    with file:
        if file.read(len(_HEADER)) != _HEADER:
            return None
        child = forked(partial(_scan, file))
        return None if child is None else Prefetch(path, file, child)


def _scan(file: FileIO, send: Callable[[tuple[int, int] | Scan], None]) -> None:
    # Where both share a processor, the screen goes first.
    os.nice(_NICE)
    time.sleep(_HEAD_START if os.fstat(file.fileno()).st_size < _LONG else _LONG_HEAD_START)
    # Not needed in the parent until the screen is built.
    from leafward.session.lines.scan import Scan

    scan = Scan()
    chunks = 0

    def publish() -> None:
        nonlocal chunks
        chunks += 1
        if chunks % _TOLD_EVERY == 0:
            send((scan.end, len(scan.columns)))

    scan.advance(file, publish=publish)
    send(scan)


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_ino, found.st_dev
