"""Contents of files and folders, kept while they are unchanged."""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Found = TypeVar("_Found")

_FRESH = 2.0
"""Seconds for which the content of a folder is taken to be unchanged."""


class OfFiles(Generic[_Found]):
    """Contents of files, read again after a change of size or time. From any thread."""

    def __init__(self, read: Callable[[str, int], _Found | None]) -> None:
        """`read` gets a path and a size in bytes; its None is not kept, since a file without a result may grow."""
        self._read = read
        self._known: dict[str, tuple[tuple[int, int], _Found]] = {}
        self._lock = Lock()

    def of(self, path: str) -> _Found | None:
        """The content of a file; None for an unreadable one."""
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
    """Contents of folders, a few seconds old at most: thousands of files in one folder ask for the same. From any thread."""

    def __init__(self, read: Callable[[str], _Found], clock: Callable[[], float]) -> None:
        self._read = read
        self._clock = clock
        self._known: dict[str, tuple[int, float, _Found]] = {}
        self._lock = Lock()

    def of(self, folder: str) -> _Found:
        """The content of a folder, read again after a file in it came or went, and every few seconds."""
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
