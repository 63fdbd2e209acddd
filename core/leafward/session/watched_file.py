"""A file that is open for reading while others write to it: its bytes, and whether it is still what was read."""

from __future__ import annotations

import errno
import os
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

from leafward.base.errors import NotASession
from leafward.base.regular_files import NotRegular, descriptor_of, open_buffered, open_regular

if TYPE_CHECKING:
    from pathlib import Path

_TELLING = ("st_size", "st_mtime_ns", "st_ino", "st_dev")
"""What changes when somebody writes to a file or puts another in its place."""

_AT_ONCE = 4 << 20
"""Bytes of a file up to which it is read with one call."""

_PROOF = 4096
"""Bytes at the beginning and at the end of what was read that are looked at before reading goes on behind them."""


class SessionFile:
    """The file that has a name now; it stays that file when the name is given to another one."""

    def __init__(self, path: Path | str, *, once: bool = False) -> None:
        """Raises NotASession where it cannot be opened, saying why in one line.

        `once`: it is read for one look, and a small file with one call: what is asked for later is what it held then.
        """
        self.content: bytes | None = None
        """All of it, where it was read with one call."""
        try:
            self.handle: BinaryIO = self._read_at_once(path) if once else open_regular(path)
        except IsADirectoryError as error:
            raise NotASession(f"{path} is a folder, not a session file") from error
        except NotRegular as error:
            raise NotASession(f"{path} is not a regular file") from error
        except OSError as error:
            raise NotASession(f"cannot read {path}: {error.strerror or error}") from error
        self._path = path
        self.proof: tuple[tuple[int, bytes], ...] = ()
        """The first and the last bytes of what was read, with their offsets."""
        if self.content is None:
            self.look()

    def _read_at_once(self, path: Path | str) -> BinaryIO:
        """The file in memory; one that is large, or grows while it is read, opened. Raises OSError."""
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
        """Its bytes can no longer be read."""
        self.handle.close()

    def at(self, offset: int, size: int) -> bytes:
        """Some bytes of it. Raises OSError. From any thread."""
        if self.content is not None:
            return self.content[offset : offset + size]
        if self.handle.closed:
            raise OSError(errno.EBADF, "the session was closed", str(self._path))
        if hasattr(os, "pread"):
            return os.pread(self.handle.fileno(), size, offset)
        with open_buffered(self._path) as file:
            file.seek(offset)
            return file.read(size)

    def look(self) -> None:
        """Takes note of the file's state before it is read. Raises OSError."""
        if self.content is None:
            self.seen = self.latest = os.fstat(self.handle.fileno())

    def was_read(self, end: int) -> None:
        """Takes note that it was read up to an offset: keeps what proves later that it still begins so. Raises OSError."""
        if self.content is not None:
            # Nobody reads on what was read for one look.
            return
        self.proof = tuple(
            (at, self.at(at, size))
            for at, size in ((0, min(end, _PROOF)), (max(0, end - _PROOF), min(end, _PROOF)))
        )

    def begins_as_read(self) -> bool:
        """Whether it begins with what was read, as far as the first and last few thousand bytes of that prove it.

        An editor may write the same file anew, and longer; whatever it inserts or removes moves what comes behind.
        """
        try:
            return bool(self.proof) and all(self.at(at, len(read)) == read for at, read in self.proof)
        except OSError:
            return False

    def is_other(self, now: os.stat_result) -> bool:
        """Whether what has its name now is longer, newer or another file than when it was last looked at."""
        return any(getattr(now, name) != getattr(self.latest, name) for name in _TELLING)
