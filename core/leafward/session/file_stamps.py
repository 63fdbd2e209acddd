"""Files that were read, and whether they changed since."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

Stamp = tuple[int, int, int, int]
"""Identity, size and modification time of a file."""


def stamp_of(path: Path) -> Stamp | None:
    """The stamp of a file as it is now; None where there is none, as of a name that no file can have."""
    try:
        return stamped(os.stat(path))
    except (OSError, ValueError):
        return None


def stamped(now: os.stat_result) -> Stamp:
    """The stamp in what the system says of a file."""
    return now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns


_SECOND = 1_000_000_000


def may_change_unseen(written: int) -> bool:
    """Whether a file that was written at a time, in nanoseconds, may be written once more at the same time.

    Some file systems keep whole seconds, FAT every other one.
    """
    return not written % _SECOND and time.time_ns() - written < 2 * _SECOND


class Watched:
    """The files that a session was read from, with their state."""

    def __init__(self, files: Iterable[Path] = (), beside: Iterable[Path] = ()) -> None:
        """`beside` are optional files that also change the session. Raises OSError where one of `files` is missing."""
        self._files = {path: stamped(os.stat(path)) for path in files}
        self._beside = {path: stamp_of(path) for path in beside}
        self._unsure = _unsure(self._files, self._beside)
        self.gone = False
        """Whether one of the files was missing at the last look. That is not a change: the data read so far stays."""

    @property
    def stamps(self) -> Mapping[Path, Stamp]:
        """The files that have to be there, each as it was read."""
        return self._files

    def changed(self, content_changed: Callable[[], bool] | None) -> bool:
        """Whether the files changed since they were read; a stat for each.

        Where they did, `content_changed` tells whether the session's part of them changed. Where it did not, the files
        count as read again.
        """
        there = {path: stamp for path in self._files if (stamp := stamp_of(path)) is not None}
        self.gone = len(there) < len(self._files)
        files = {**self._files, **there}
        beside = {path: stamp_of(path) for path in self._beside}
        unsure = _unsure(files, beside)
        same = files == self._files and beside == self._beside
        # A file that only grows has another size; where that says nothing, the content is asked once more.
        if same and (content_changed is None or unsure == self._unsure):
            return False
        if content_changed is None or content_changed():
            return True
        self._files, self._beside, self._unsure = files, beside, unsure
        return False


def _unsure(*stamps: Mapping[Path, Stamp | None]) -> bool:
    return any(
        stamp is not None and may_change_unseen(stamp[3]) for some in stamps for stamp in some.values()
    )
