"""Files that something was read from, and whether they are still what they were then."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

Stamp = tuple[int, int, int, int]
"""Which file it is, how long, and when it was last written."""


def stamp_of(path: Path) -> Stamp | None:
    """The stamp of a file as it is now; None where there is none."""
    try:
        return _stamp(os.stat(path))
    except OSError:
        return None


def _stamp(now: os.stat_result) -> Stamp:
    return now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns


class Watched:
    """The files that a session was made from, as they are now."""

    def __init__(self, files: Iterable[Path] = (), beside: Iterable[Path] = ()) -> None:
        """`beside` are files that come and go, and change it. Raises OSError where one of the others is not there."""
        self._files = {path: _stamp(os.stat(path)) for path in files}
        self._beside = {path: stamp_of(path) for path in beside}
        self.gone = False
        """One of the files was not there when they were last looked at. That is no change: what was read stays."""

    def changed(self, content_changed: Callable[[], bool] | None) -> bool:
        """Whether the files changed since they were read; a stat for each.

        Where they did, `content_changed` says whether that concerns what was read of them. Where it does not, they count as
        read anew.
        """
        there = {path: stamp for path in self._files if (stamp := stamp_of(path)) is not None}
        self.gone = len(there) < len(self._files)
        files = {**self._files, **there}
        beside = {path: stamp_of(path) for path in self._beside}
        if files == self._files and beside == self._beside:
            return False
        if content_changed is None or content_changed():
            return True
        self._files, self._beside = files, beside
        return False
