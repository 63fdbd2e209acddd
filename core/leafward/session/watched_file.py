"""A file that is open for reading while others write to it: its bytes, and whether it is still the file that was read."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

from leafward.base.errors import NotASession
from leafward.base.regular_files import NotRegular, descriptor_of, open_buffered, open_regular

if TYPE_CHECKING:
    from pathlib import Path

_TELLING = ("st_size", "st_mtime_ns", "st_ino", "st_dev")
"""Values that change when somebody writes to a file or replaces it."""

_AT_ONCE = 4 << 20
"""Bytes of a file up to which it is read with one call."""

_PROOF = 4096
"""Bytes at the beginning and at the end of the read part that are checked before reading goes on."""


class SessionFile:
    """The file that has a name now; it stays the same file when the name passes to another one."""

    def __init__(self, path: Path | str, *, once: bool = False) -> None:
        """Raises NotASession, with the reason in one line, where the file cannot be opened.

        `once`: it is read for one look, a small file with one call; later requests get the bytes from then.
        """
        self.content: bytes | None = None
        """The whole file, where one call read it."""
        self._path = path
        self.proof: tuple[tuple[int, bytes], ...] = ()
        """The first and the last bytes of the read part, with their offsets."""
        try:
            self.handle: BinaryIO = self._read_at_once(path) if once else open_regular(path)
            self.look()
        except IsADirectoryError as error:
            raise NotASession(f"{path} is a folder, not a session file") from error
        except NotRegular as error:
            raise NotASession(f"{path} is not a regular file") from error
        except OSError as error:
            raise NotASession(f"cannot read {path}: {error.strerror or error}") from error

    def _read_at_once(self, path: Path | str) -> BinaryIO:
        """The file in memory; opened, where it is large or grows while it is read. Raises OSError."""
        descriptor = descriptor_of(path)
        try:
            self.seen = self.latest = os.fstat(descriptor)
            size = self.seen.st_size
            content = os.read(descriptor, size + 1) if size <= _AT_ONCE else b""
        finally:
            os.close(descriptor)
        if not size or len(content) != size:
            return open_regular(path)
        self.content = content
        return BytesIO(content)

    def close(self) -> None:
        """Closes the file; its bytes are no longer readable."""
        with suppress(OSError):
            # Nothing was written through it.
            self.handle.close()

    def __del__(self) -> None:
        # A file that was replaced has no other owner than the jobs that still read it.
        if hasattr(self, "handle"):
            self.close()

    def at(self, offset: int, size: int) -> bytes:
        """Some bytes of the file. Raises OSError. Callable from any thread."""
        if self.content is not None:
            return self.content[offset : offset + size]
        if self.handle.closed:
            raise OSError(errno.EBADF, "the session was closed", str(self._path))
        if hasattr(os, "pread"):
            try:
                return os.pread(self.handle.fileno(), size, offset)
            except OSError as error:
                error.filename = str(self._path)
                raise
        with open_buffered(self._path) as file:
            file.seek(offset)
            return file.read(size)

    def look(self) -> None:
        """Records the file's state before it is read. Raises OSError."""
        if self.content is None:
            self.seen = self.latest = os.fstat(self.handle.fileno())

    def mark_read(self, end: int) -> None:
        """Records that the file was read up to an offset, with the bytes that prove it later. Raises OSError."""
        if self.content is not None:
            # A file that was read for one look is not read on.
            return
        self.proof = tuple(
            (at, self.at(at, size))
            for at, size in ((0, min(end, _PROOF)), (max(0, end - _PROOF), min(end, _PROOF)))
        )

    def begins_as_read(self) -> bool:
        """Whether the file still begins with the read part, as far as the first and last few thousand bytes of that prove it.

        An editor may rewrite the same file, and longer; an insertion or removal moves the bytes after it.
        """
        try:
            return bool(self.proof) and all(self.at(at, len(read)) == read for at, read in self.proof)
        except OSError:
            return False

    def is_other(self, now: os.stat_result) -> bool:
        """Whether the file with its name now is longer, newer or another one than at the last look."""
        return any(getattr(now, name) != getattr(self.latest, name) for name in _TELLING)
