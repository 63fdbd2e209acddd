"""Bytes that are on the disk when a call returns, and files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from leafward.base.paths import draft_ending

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PRIVATE = 0o600
"""Mode of a new file."""

WINDOWS = os.name == "nt"

_BINARY: int = getattr(os, "O_BINARY", 0)
_NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)

APPENDING: int = os.O_RDWR | os.O_APPEND | _BINARY | _NO_FOLLOW
"""Flags to open a session file for a write: the same descriptor reads its content back."""


def write_all(descriptor: int, data: bytes) -> None:
    """Writes everything, in several calls where the system takes only a part. Raises OSError when it takes no more."""
    rest = memoryview(data)
    while rest:
        taken = os.write(descriptor, rest)
        if not taken:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rest = rest[taken:]


def sync_folder(folder: Path) -> None:
    """Makes names in a folder durable, where the system allows opening a folder. Raises OSError where a disk fails."""
    if WINDOWS:
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in NOT_FOR_FOLDERS:
            raise


NOT_FOR_FOLDERS = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.EBADF)
"""Errors of file systems that cannot make a folder durable, or not for a user who may not list it."""
_LONGEST = 200
"""Bytes of a name that leave room for the ending of a waiting file."""


def draft_name(path: Path) -> Path:
    """A free name beside `path` that no agent scans: it does not end in `.jsonl`."""
    name = path.name if len(os.fsencode(path.name)) <= _LONGEST else ""
    return path.with_name(f"{name}{draft_ending()}")


def write_new(path: Path, pieces: Iterable[bytes]) -> None:
    """Writes a new file and makes its content durable. Removes the remains of a failure."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY | _NO_FOLLOW, PRIVATE)
    with discarded_on_failure(path):
        try:
            waiting = bytearray()
            for piece in pieces:
                waiting += piece
                if len(waiting) >= 1 << 20:
                    write_all(descriptor, bytes(waiting))
                    waiting.clear()
            write_all(descriptor, bytes(waiting))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def discarded_on_failure(file: Path) -> Iterator[None]:
    """Removes an unfinished file where the block fails, is cancelled or is interrupted."""
    try:
        yield
    except BaseException:
        # This includes an interrupt: a half-written draft is of no use.
        with suppress(OSError):
            file.unlink(missing_ok=True)
        raise


def give_name(waiting: Path, path: Path) -> None:
    """Renames a finished file durably. Raises FileExistsError where the name is taken.

    Where it raises, no file has gained a name.
    """
    if WINDOWS:
        # On Windows, unlike elsewhere, a rename fails where the name exists.
        waiting.rename(path)
        return
    try:
        os.link(waiting, path)
    except FileExistsError:
        raise
    except OSError:
        # This file system has no hard links, so a rename has to do, which would replace a file that another Leafward just
        # made.
        with _alone_in(path.parent):
            if os.path.lexists(path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
            waiting.rename(path)
    else:
        # The file has its name; a remaining waiting name is another name of the same file, and counts as litter.
        with suppress(OSError):
            waiting.unlink()
    with discarded_on_failure(path):
        sync_folder(path.parent)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keeps other processes of Leafward from naming files in a folder. Without effect where folders cannot be locked."""
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def replace_file(path: Path, data: bytes) -> None:
    """Writes a private file whole or not at all, replacing an existing one. Not durable: for files that may be lost.

    Raises OSError; nothing is left behind then.
    """
    waiting = draft_name(path)
    descriptor = os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY | _NO_FOLLOW, PRIVATE)
    with discarded_on_failure(waiting):
        try:
            write_all(descriptor, data)
        finally:
            os.close(descriptor)
        waiting.replace(path)
