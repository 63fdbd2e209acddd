"""Regular files only: a FIFO under the name of one never keeps a reader waiting, and no device is read.

Whoever may write into a folder decides what kind of file has an expected name there. Every file is therefore opened here,
without blocking, and closed again unless it is a regular file.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from io import FileIO


_FLAGS = (
    getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)

STORED_LIMIT = 64 << 20
"""Most bytes of a file of settings, notes or records that is read in one go."""

_SEEK_DATA = getattr(os, "SEEK_DATA", None)


class NotRegular(OSError):
    """The name belongs to something other than a regular file."""


def descriptor_of(path: str | os.PathLike[str], flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file, opened without blocking. Raises NotRegular for anything else, OSError."""
    descriptor = os.open(path, flags | _FLAGS)
    try:
        found = os.fstat(descriptor)
        reads = not flags & (os.O_WRONLY | os.O_RDWR) and hasattr(os, "pread")
        if reads and not found.st_size and stat.S_ISREG(found.st_mode):
            # What counts as an empty file and has its reader wait, such as the kernel's log, raises here.
            os.pread(descriptor, 1, 0)
    except BaseException:
        # Closed on an interrupt too: nobody else knows the descriptor yet.
        os.close(descriptor)
        raise
    if stat.S_ISREG(found.st_mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise NotRegular(errno.EINVAL, "not a regular file", os.fspath(path))


def open_regular(path: str | os.PathLike[str]) -> FileIO:
    """A regular file, open for reading without a buffer. Raises NotRegular for anything else, OSError."""
    return open(path, "rb", buffering=0, opener=descriptor_of)  # the caller closes it


def open_buffered(path: str | os.PathLike[str]) -> BinaryIO:
    """A regular file, open for reading line by line, with a buffer. Raises NotRegular for anything else, OSError."""
    return open(path, "rb", opener=descriptor_of)  # the caller closes it


def read_regular(path: str | os.PathLike[str], limit: int = STORED_LIMIT) -> bytes:
    """The bytes of a regular file. Raises NotRegular for anything else, and OSError, also for a file over `limit` bytes."""
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > limit:
            raise _too_large(path)
        found = file.read(limit + 1) or b""
        while more := file.read(limit + 1 - len(found)):
            found += more
    if len(found) > limit:
        raise _too_large(path)
    return found


def _too_large(path: str | os.PathLike[str]) -> OSError:
    return OSError(errno.EFBIG, os.strerror(errno.EFBIG), os.fspath(path))


def next_data(descriptor: int, offset: int, end: int) -> int:
    """The offset of the next bytes of a sparse file that were ever written, from `offset` on: `end` where only a hole follows.

    `offset` itself where the system cannot tell. Holes read as NULs.
    """
    if _SEEK_DATA is None:
        return offset
    try:
        found = os.lseek(descriptor, offset, _SEEK_DATA)
    except OSError as error:
        return end if error.errno == errno.ENXIO else offset
    return min(found, end)
