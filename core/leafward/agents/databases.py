"""An agent's SQLite file opened so that nothing of it changes and nothing is left beside it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

BUSY_MS = 500
"""How long a lock of the agent's is waited for, in milliseconds."""


@contextmanager
def opened_read_only(path: str) -> Iterator[sqlite3.Connection]:
    """A connection that can only read. Raises sqlite3.Error or OSError.

    Without a write-ahead log the file is taken as it lies. With the log and its index somebody has it open, and it is read
    like any other reader does. A log alone was left behind: SQLite would make an index beside it to read it, so a temporary
    copy is read instead.
    """
    log, index = os.path.exists(f"{path}-wal"), os.path.exists(f"{path}-shm")
    if log and not index:
        with tempfile.TemporaryDirectory(prefix="leafward-") as folder:
            copy = os.path.join(folder, "copy.sqlite")
            shutil.copyfile(path, copy)
            shutil.copyfile(f"{path}-wal", f"{copy}-wal")
            with closing(_connected(copy, "ro")) as base:
                yield base
        return
    with closing(_connected(path, "ro" if log else "ro&immutable=1")) as base:
        yield base


def _connected(path: str, mode: str) -> sqlite3.Connection:
    address = Path(os.path.abspath(path)).as_uri()
    return sqlite3.connect(
        f"{address}?mode={mode}", uri=True, timeout=BUSY_MS / 1000, check_same_thread=False
    )
