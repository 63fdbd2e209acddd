"""Appending to a file that others append to as well, and what is done where the system takes only a part of it.

A piece of a line that stays at the end of a session is a trap: an agent that has the session open appends its next line right
behind it, and that line is lost to every reader. So nothing torn stays: the file goes back to the length that it had, and
where somebody else appended behind our piece, the piece becomes a blank line, which every reader skips.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from enum import Enum

from leafward.session.journal.durable import WINDOWS


class Restored(Enum):
    """What became of the part of a write that reached the file."""

    UNDONE = "undone"
    """The file has the bytes that it had before the write."""
    CLOSED = "closed"
    """Somebody else appended meanwhile, or the length cannot be changed: a torn line of ours is blank and ends with a newline."""
    TORN = "torn"
    """Neither was possible: a torn line of ours is in the file."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of the data, and where it lies in the file."""

    place: int
    start: int
    end: int

    def follows(self, other: _Piece) -> bool:
        return self.place == other.place + other.end - other.start and self.start == other.end


class CutShort(OSError):
    """A write that did not reach the file as a whole; the cause has the system's reason."""

    def __init__(self, cause: OSError, written: int, restored: Restored) -> None:
        super().__init__(cause.errno, cause.strerror or str(cause))
        self.written = written
        """Bytes that had reached the file."""
        self.restored = restored


def append_bytes(descriptor: int, data: bytes) -> None:
    """Appends whole lines through a descriptor that appends, all of them together.

    Goes on where the system takes only a part. Where it then takes no more, or somebody else's bytes came between two parts,
    what is there is taken back as far as possible and CutShort is raised. Whoever calls holds the lock; agents do not ask
    for it, so their lines may come in at any moment and are left as they are.
    """
    before = os.fstat(descriptor).st_size
    pieces: list[_Piece] = []
    try:
        _append(descriptor, data, pieces)
    except OSError as error:
        raise CutShort(error, _size(pieces), _restore(descriptor, data, pieces, before)) from error
    except BaseException:
        # An interrupt leaves nothing torn either, also right behind a write that nobody heard of any more.
        there = _beginning(descriptor, data, before)
        if there < len(data):
            _restore(descriptor, data, [_Piece(before, 0, there)] if there else pieces, before)
        raise


def _beginning(descriptor: int, data: bytes, before: int) -> int:
    """How many bytes of the data stand behind what was there before; 0 where it is something else."""
    try:
        size = min(os.fstat(descriptor).st_size - before, len(data))
        os.lseek(descriptor, before, os.SEEK_SET)
        return size if size > 0 and os.read(descriptor, size) == data[:size] else 0
    except OSError:
        return 0


def _append(descriptor: int, data: bytes, pieces: list[_Piece]) -> None:
    done = 0
    while done < len(data):
        count = os.write(descriptor, memoryview(data)[done:])
        if not count:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        # A descriptor that appends stands behind what it wrote, wherever that is.
        piece = _Piece(os.lseek(descriptor, 0, os.SEEK_CUR) - count, done, done + count)
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
    """Takes the pieces back. Never raises for what the system refuses."""
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
    """Whether nothing came behind what was there but one piece of ours."""
    if len(pieces) > 1 or pieces[0].place != before:
        return False
    try:
        return os.fstat(descriptor).st_size == before + pieces[0].end - pieces[0].start
    except OSError:
        return False


def _cut_back(descriptor: int, before: int) -> bool:
    """Gives the file the length that it had; whether it has it now."""
    try:
        os.ftruncate(descriptor, before)
    except OSError:
        return False
    _sync(descriptor)
    return True


def _close(descriptor: int, data: bytes, piece: _Piece, *, whole: bool) -> bool:
    """Makes what is torn of a piece a blank line, in place: that takes no room and touches nobody else's bytes.

    `whole` blanks the whole lines of the piece as well, so that no part of the operation is done. Where somebody has written
    behind them they stay: that may hang on one of them.
    """
    held = bytearray(data[piece.start : piece.end])
    if whole:
        # Newlines stay: the first one may close what was there before.
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
    """Writes over bytes that are still `there`; whether that was done. Raises OSError."""
    if WINDOWS:
        return False
    import fcntl

    if os.pread(descriptor, len(there), place) != there:
        return False
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    # Linux writes at the end, whatever place is named, as long as the descriptor appends.
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags & ~os.O_APPEND)
    try:
        # The end first: it is what keeps the line behind it whole.
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
        # The write is said to have failed already.
        return
