"""What was read of files and folders, kept for as long as they are the same."""

from __future__ import annotations

import os
import time
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Found = TypeVar("_Found")

_FRESH = 2.0
"""Seconds that what is known of a folder is believed."""


class OfFiles(Generic[_Found]):
    """What files say, read again where size or time changed. From any thread."""

    def __init__(self, read: Callable[[str, int], _Found | None]) -> None:
        """`read` is given a path and a size in bytes; None is not kept, as a file of which nothing is known yet may grow."""
        self._read = read
        self._known: dict[str, tuple[tuple[int, int], _Found]] = {}
        self._lock = Lock()

    def of(self, path: str) -> _Found | None:
        """What a file says; None for one that cannot be read."""
        try:
            now = os.stat(path)
            stamp = now.st_size, now.st_mtime_ns
            with self._lock:
                known = self._known.get(path)
            if known is not None and known[0] == stamp:
                return known[1]
            found = self._read(path, now.st_size)
        except OSError:
            return None
        if found is not None:
            with self._lock:
                self._known[path] = stamp, found
        return found


class OfFolders(Generic[_Found]):
    """What lies in folders, as it was a moment ago: of thousands of files in one, each asks for the same. From any thread."""

    def __init__(self, read: Callable[[str], _Found], clock: Callable[[], float] = time.monotonic) -> None:
        self._read = read
        self._clock = clock
        self._known: dict[str, tuple[int, float, _Found]] = {}
        self._lock = Lock()

    def of(self, folder: str) -> _Found:
        """What lies in a folder, read again where a file of it came or went, and every few seconds."""
        try:
            changed = os.stat(folder).st_mtime_ns
        except OSError:
            changed = 0
        now = self._clock()
        with self._lock:
            known = self._known.get(folder)
        if known is not None and known[0] == changed and now - known[1] < _FRESH:
            return known[2]
        found = self._read(folder)
        with self._lock:
            self._known[folder] = changed, now, found
        return found
