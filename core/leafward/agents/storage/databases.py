"""An agent's SQLite file, opened without changing it and without leaving files beside it."""

from __future__ import annotations

import atexit
import errno
import os
import shutil
import sqlite3
import tempfile
from collections import OrderedDict
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from leafward.base.paths import temporary_prefix
from leafward.base.regular_files import NotRegular

if TYPE_CHECKING:
    from collections.abc import Iterator

_COPIES_KEPT = 4
"""Copies in the temporary folder at a time: a database may have gigabytes."""
BUSY_MS = 500
"""Milliseconds to wait for a lock of the agent."""
VALUE_LIMIT = 128 << 20
"""Most bytes of a row and of what is computed of it: SQLite would take a gigabyte, and Python one more for its copy."""
_PRIMARY = 0xFF
"""The bits of SQLite's extended codes that name the kind of error."""


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error is about damaged pages or a value above `VALUE_LIMIT`, not about a locked file or another program's."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & _PRIMARY in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_TOOBIG)


class _Copy:
    """A database with its log, copied to a folder of its own, and the number of its readers."""

    def __init__(self, path: str, seen: object) -> None:
        self.seen = seen
        self.readers = 0
        self.retired = False
        self.folder = tempfile.mkdtemp(prefix=temporary_prefix())
        self.path = os.path.join(self.folder, "copy.sqlite")
        try:
            shutil.copyfile(path, self.path)
            shutil.copyfile(f"{path}-wal", f"{self.path}-wal")
        except OSError:
            self.remove()
            raise

    def remove(self) -> None:
        """Deletes the copy."""
        shutil.rmtree(self.folder, ignore_errors=True)


class _Copies:
    """Copies of databases whose log was left behind, each kept while both files are unchanged. For several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[str, _Copy] = OrderedDict()

    @contextmanager
    def reading(self, path: str) -> Iterator[str]:
        """A copy of a database with its log, which exists until the reading ends. Raises OSError."""
        with self._lock:
            found = (os.stat(path), os.stat(f"{path}-wal"))
            seen = [(now.st_ino, now.st_size, now.st_mtime_ns) for now in found]
            copy = self._kept.get(path)
            if copy is None or copy.seen != seen:
                self._retire(path)
                copy = self._kept[path] = _Copy(path, seen)
            self._kept.move_to_end(path)
            copy.readers += 1
            while len(self._kept) > _COPIES_KEPT:
                self._retire(next(iter(self._kept)))
        try:
            yield copy.path
        finally:
            with self._lock:
                copy.readers -= 1
                if copy.retired and not copy.readers:
                    copy.remove()

    def _retire(self, path: str) -> None:
        copy = self._kept.pop(path, None)
        if copy is not None:
            copy.retired = True
            if not copy.readers:
                copy.remove()

    def remove_all(self) -> None:
        """Deletes all copies, even those being read: the process ends."""
        for copy in self._kept.values():
            copy.remove()


_copies = _Copies()
atexit.register(_copies.remove_all)


@contextmanager
def opened_read_only(path: str) -> Iterator[sqlite3.Connection]:
    """A connection that can only read. Raises sqlite3.Error or OSError.

    A file without a write-ahead log is opened as it is. A file with the log and its index is in use, and is read as any other
    reader does. A log without an index was left behind: SQLite would make an index beside it to read it, so a temporary copy is
    read instead.
    """
    os.stat(path)
    for name in (path, f"{path}-wal", f"{path}-shm"):
        # SQLite would wait for a FIFO. Opening the file here for a check would drop this process's locks on it.
        if os.path.lexists(name) and not os.path.isfile(name):
            raise NotRegular(errno.EINVAL, "not a regular file", name)
    index = os.path.exists(f"{path}-shm")
    try:
        left = os.path.getsize(f"{path}-wal")
    except OSError:
        left = -1
    if left > 0 and not index:
        with _copies.reading(path) as copy, _reading(copy, "ro") as base:
            yield base
        return
    live = left >= 0 and index
    with _reading(path, "ro" if live else "ro&immutable=1") as base:
        yield base


@contextmanager
def _reading(path: str, mode: str) -> Iterator[sqlite3.Connection]:
    with closing(_connected(path, mode)) as base:
        try:
            yield base
        except UnicodeDecodeError as error:
            # SQLite's message about a damaged file may quote bytes that Python cannot decode.
            raise sqlite3.DatabaseError("the database is damaged: its content is not text") from error


def _connected(path: str, mode: str) -> sqlite3.Connection:
    address = Path(os.path.abspath(path)).as_uri()
    base = sqlite3.connect(
        f"{address}?mode={mode}", uri=True, timeout=BUSY_MS / 1000, check_same_thread=False
    )
    base.set_authorizer(tables_only)
    base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_LIMIT)
    return base


def tables_only(
    _action: int, _what: str | None, _column: str | None, _base: str | None, view: str | None
) -> int:
    """Refuses to expand views: no agent has one, and a view in place of a table may have endless rows."""
    return sqlite3.SQLITE_OK if view is None else sqlite3.SQLITE_DENY
