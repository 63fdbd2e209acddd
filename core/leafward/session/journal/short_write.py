"""Appending to a file that others append to as well, and the repair where the system writes only a part.

A torn line at the end of a session is a trap: an agent that has the session open appends its next line directly to it, and
every reader loses that line. So nothing torn stays: the file goes back to its old length, and where another program
appended after our piece, the piece becomes a blank line, which every reader skips.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from enum import Enum

from leafward.base.durable import WINDOWS


class Restored(Enum):
    """The state of the file after a partial write."""

    UNDONE = "undone"
    """The file has the bytes from before the write."""
    CLOSED = "closed"
    """Another program appended meanwhile, or the length is fixed: a torn line of ours is blank and ends with a newline."""
    TORN = "torn"
    """Neither was possible: the file holds a torn line of ours."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of the data, and its place in the file."""

    place: int
    start: int
    end: int

    def follows(self, other: _Piece) -> bool:
        return self.place == other.place + other.end - other.start and self.start == other.end


class CutShort(OSError):
    """A write that reached the file only in part; the cause has the system's reason."""

    def __init__(self, cause: OSError, written: int, restored: Restored) -> None:
        super().__init__(cause.errno, cause.strerror or str(cause))
        self.written = written
        """Bytes that reached the file."""
        self.restored = restored


def append_bytes(descriptor: int, data: bytes) -> None:
    """Appends whole lines through a descriptor that appends, all of them together.

    Goes on where the system takes only a part. Where it then takes no more, or another program's bytes came between two
    parts, the written parts are taken back as far as possible and CutShort is raised. The caller holds the lock; agents do
    not take it, so their lines may come in at any moment and are left alone.
    """
    pieces: list[_Piece] = []
    try:
        before = os.fstat(descriptor).st_size
    except OSError as error:
        raise CutShort(error, 0, Restored.UNDONE) from error
    try:
        _append(descriptor, data, pieces, before)
    except BaseException as error:
        # Nothing torn stays, even directly after a write whose result did not arrive.
        there = _beginning(descriptor, data, before)
        if there and there >= _size(pieces):
            pieces = [_Piece(before, 0, there)]
        if isinstance(error, OSError):
            raise CutShort(error, _size(pieces), _restore(descriptor, data, pieces, before)) from error
        if there < len(data):
            _restore(descriptor, data, pieces, before)
        raise


def _beginning(descriptor: int, data: bytes, before: int) -> int:
    """The number of bytes of the data directly after the old end; 0 where other bytes are there."""
    try:
        size = min(os.fstat(descriptor).st_size - before, len(data))
        os.lseek(descriptor, before, os.SEEK_SET)
        return size if size > 0 and os.read(descriptor, size) == data[:size] else 0
    except OSError:
        return 0


def _append(descriptor: int, data: bytes, pieces: list[_Piece], before: int) -> None:
    done = 0
    while done < len(data):
        count = os.write(descriptor, memoryview(data)[done:])
        if not count:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        pieces.append(_Piece(before + done, done, done + count))
        # The position of an appending descriptor is after the bytes that it wrote, wherever they are.
        piece = _Piece(os.lseek(descriptor, 0, os.SEEK_CUR) - count, done, done + count)
        pieces.pop()
        if pieces and piece.follows(pieces[-1]):
            piece = _Piece(pieces[-1].place, pieces[-1].start, piece.end)
            pieces.pop()
        pieces.append(piece)
        done += count
    if len(pieces) > 1:
        raise OSError(errno.EAGAIN, "another program wrote in the middle of it")


def _size(pieces: list[_Piece]) -> int:
    return sum(piece.end - piece.start for piece in pieces)


def _restore(descriptor: int, data: bytes, pieces: list[_Piece], before: int) -> Restored:
    """Takes the pieces back. Does not raise where the system refuses."""
    if not pieces:
        return Restored.UNDONE
    alone = _is_last(descriptor, pieces, before)
    if alone and _cut_back(descriptor, before):
        return Restored.UNDONE
    # In turn, so that one piece that cannot be closed keeps no other from it.
    closed = [_close(descriptor, data, piece, whole=alone) for piece in pieces]
    _sync(descriptor)
    return Restored.CLOSED if all(closed) else Restored.TORN


def _is_last(descriptor: int, pieces: list[_Piece], before: int) -> bool:
    """Whether only one piece of ours follows the old end."""
    if len(pieces) > 1 or pieces[0].place != before:
        return False
    try:
        return os.fstat(descriptor).st_size == before + pieces[0].end - pieces[0].start
    except OSError:
        return False


def _cut_back(descriptor: int, before: int) -> bool:
    """Restores the old length of the file; returns whether it has it now."""
    try:
        os.ftruncate(descriptor, before)
    except OSError:
        return False
    _sync(descriptor)
    return True


def _close(descriptor: int, data: bytes, piece: _Piece, *, whole: bool) -> bool:
    """Blanks the torn part of a piece in place: that takes no room and touches nobody else's bytes.

    `whole` blanks the whole lines of the piece as well, so that no part of the operation is done. Where another program has
    written after them they stay: its lines may depend on one of them.
    """
    held = bytearray(data[piece.start : piece.end])
    if whole:
        # Newlines stay: the first one may close the line before.
        held = held.translate(_BLANK)
    if not whole and piece.start and data[piece.start - 1 : piece.start] != b"\n":
        # The rest of a line that began in another piece; its newline stays.
        first = held.find(b"\n")
        head = first if first >= 0 else len(held)
        held[:head] = b" " * head
    tail = held.rfind(b"\n") + 1
    if tail < len(held):
        held[tail:] = b" " * (len(held) - tail - 1) + b"\n"
    blank = bytes(held)
    if blank == data[piece.start : piece.end]:
        return True
    try:
        return _overwrite(descriptor, piece.place, data[piece.start : piece.end], blank)
    except OSError:
        return False


def _overwrite(descriptor: int, place: int, there: bytes, replacement: bytes) -> bool:
    """Overwrites bytes that are still `there`; returns whether that was done. Raises OSError."""
    if WINDOWS:
        return False
    import fcntl

    if os.pread(descriptor, len(there), place) != there:
        return False
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    # Linux writes at the end, whatever offset is given, while the descriptor appends.
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags & ~os.O_APPEND)
    try:
        # The end comes first: it keeps the next line whole.
        for at in range(len(replacement) - 1, -1, -_BLOCK):
            start = max(0, at + 1 - _BLOCK)
            os.pwrite(descriptor, replacement[start : at + 1], place + start)
    finally:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)
    return os.pread(descriptor, len(replacement), place) == replacement


_BLOCK = 1 << 20
_BLANK = bytes(10 if byte == 10 else 32 for byte in range(256))


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError:
        # The write is reported as failed already.
        return
