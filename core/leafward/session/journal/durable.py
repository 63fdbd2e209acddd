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
"""Mode of a file that is new."""

WINDOWS = os.name == "nt"

_BINARY: int = getattr(os, "O_BINARY", 0)
_NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)

APPENDING: int = os.O_RDWR | os.O_APPEND | _BINARY | _NO_FOLLOW
"""How a session file is opened for a write: what it holds is read back through the same descriptor."""


def write_all(descriptor: int, data: bytes) -> None:
    """Writes everything, going on where the system took only a part. Raises OSError when it takes no more."""
    rest = memoryview(data)
    while rest:
        taken = os.write(descriptor, rest)
        if not taken:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rest = rest[taken:]


def sync_folder(folder: Path) -> None:
    """Makes names in a folder durable, where the system lets a folder be opened for that. Raises OSError where a disk fails."""
    if WINDOWS:
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _NOT_FOR_FOLDERS:
            raise


_NOT_FOR_FOLDERS = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.EBADF)
"""How file systems say that a folder cannot be made durable by itself, or not by whoever may not list it."""
_LONGEST = 200
"""Bytes of a name that leave room for the ending of a waiting file."""


def draft_name(path: Path) -> Path:
    """A name beside `path` that is free and that no agent scans: it does not end in `.jsonl`."""
    name = path.name if len(os.fsencode(path.name)) <= _LONGEST else ""
    return path.with_name(f"{name}{draft_ending()}")


def write_new(path: Path, pieces: Iterable[bytes]) -> None:
    """Writes a file that must not exist yet and makes its content durable. What is left of a failure is removed."""
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
    """Removes a file that was begun where what is to finish it fails, is cancelled or is interrupted."""
    try:
        yield
    except BaseException:
        # Also where it is interrupted: a half-written draft is of use to nobody.
        with suppress(OSError):
            file.unlink(missing_ok=True)
        raise


def give_name(waiting: Path, path: Path) -> None:
    """Gives a finished file its name and makes it durable. Raises FileExistsError where the name is taken.

    Where it raises, nothing has the name that did not have it before.
    """
    if WINDOWS:
        # Unlike elsewhere, a rename refuses an existing name there.
        waiting.rename(path)
        return
    try:
        os.link(waiting, path)
    except FileExistsError:
        raise
    except OSError:
        # No hard links on this file system, so a rename has to do; that would replace what another Leafward made meanwhile.
        with _alone_in(path.parent):
            if os.path.lexists(path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
            waiting.rename(path)
    else:
        # It is done; a waiting file that stays is another name of the same file, and known as litter.
        with suppress(OSError):
            waiting.unlink()
    with discarded_on_failure(path):
        sync_folder(path.parent)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keeps other processes of Leafward from giving names in a folder. Without effect where folders cannot be locked."""
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def replace_file(path: Path, data: bytes) -> None:
    """Writes a private file whole or not at all, in the place of one that may be there. Not durable: for what can be lost.

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
