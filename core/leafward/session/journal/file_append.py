"""The one road by which lines reach a session file that exists, and the sidecar of another agent's session."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.errors import NotASession, Refused
from leafward.session.journal.creation import create
from leafward.session.journal.durable import APPENDING, WINDOWS
from leafward.session.journal.lines import Clock, encode_line, iso_time, utc_now
from leafward.session.journal.lock import PATIENCE, Claim, locked, refuse_if_busy
from leafward.session.journal.short_write import CutShort, Restored, append_bytes
from leafward.session.scan import CURRENT_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from leafward.session.entries import Body
    from leafward.session.session import Session


@dataclass(frozen=True, slots=True)
class Appended:
    """What reached the file."""

    size: int
    """Bytes, with the newline that closes a torn last line."""
    backup: Path | None = None
    """The copy of a version 1 or 2 file from before its migration."""
    raced: bool = False
    """Another program wrote between the last look and the write; its lines are whole and so are ours."""


def refuse_unwritable(session: Session, claim: Claim | None = None) -> None:
    """Raises Refused, with the reason, where a write would be refused as things stand: all checks but the lock."""
    path = session.book_path
    _refuse_read_only(session)
    refuse_if_busy(session.path, claim)
    if session.book is None:
        _refuse_folder(path.parent)
        refuse_changed(session)
        return
    if path.is_symlink():
        raise Refused(f"{path.name} is a symbolic link; open the file it points to: {os.path.realpath(path)}")
    try:
        now = path.stat()
    except OSError as error:
        raise Refused(f"cannot write to {path.name}: {error.strerror or error}") from error
    if not now.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(path, os.W_OK):
        why = (
            "it lies on a read-only file system" if _is_frozen(path) else "its permissions make it read-only"
        )
        raise Refused(f"cannot write to {path.name}: {why}")
    refuse_changed(session)


def _is_frozen(path: Path) -> bool:
    """Whether nobody can write where a file lies, whatever its permissions say."""
    try:
        return not WINDOWS and bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def _refuse_folder(folder: Path) -> None:
    """Raises Refused where a file cannot be made in a folder, which need not be there yet."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise Refused(f"cannot write in {folder}, where Leafward keeps what is done to this session")


def _refuse_read_only(session: Session) -> None:
    if session.read_only is not None:
        raise Refused(f"{session.path.name} is read-only: {session.read_only}")


def refuse_changed(session: Session) -> None:
    """Raises Refused, saying what happened, where the file is no longer the one that the session read, or cannot be written."""
    _refuse_read_only(session)
    went_on = session.went_on()
    if went_on is not None:
        raise Refused(went_on)
    path, book = session.book_path, session.book
    if book is None:
        if path.exists():
            raise Refused(_BEGUN)
        return
    try:
        if _unchanged(book, path.stat()):
            return
        with path.open("rb", buffering=0) as file:
            _refuse_changed(session, book, file.fileno())
    except OSError as error:
        raise Refused(f"cannot read {path.name}: {error.strerror or error}") from error


_BEGUN = "another Leafward began to keep something of this session since it was read"


@contextmanager
def opened(session: Session, patience: float) -> Iterator[int]:
    """The session file open for appending, locked, and proved to be what the session read. Raises Refused."""
    path, book = session.book_path, session.book or session
    try:
        descriptor = os.open(path, APPENDING)
    except OSError as error:
        raise Refused(f"cannot write to {path.name}: {error.strerror or error}") from error
    try:
        with locked(descriptor, path.name, patience):
            if not _unchanged(book, os.fstat(descriptor)):
                _refuse_changed(session, book, descriptor)
            # While this waited, the name may have gone to another file.
            try:
                named = path.stat()
            except OSError as error:
                raise Refused(f"{path.name} is gone: {error.strerror or error}") from error
            if not _unchanged(book, named):
                raise Refused(f"{path.name} was replaced by another file since it was read")
            went_on = session.went_on()
            if went_on is not None:
                raise Refused(went_on)
            yield descriptor
    finally:
        # What was written is durable already, or was said to have failed.
        with suppress(OSError):
            os.close(descriptor)


def _unchanged(book: Session, now: os.stat_result) -> bool:
    seen = book.seen
    return (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns) == (
        seen.st_dev,
        seen.st_ino,
        seen.st_size,
        seen.st_mtime_ns,
    )


def _refuse_changed(session: Session, book: Session, descriptor: int) -> None:
    """Raises Refused, saying what happened to the file since it was read."""
    now, seen = os.fstat(descriptor), book.seen
    name = session.path.name if book is session else f"what Leafward keeps of {session.path.name}"
    if (now.st_dev, now.st_ino) != (seen.st_dev, seen.st_ino):
        raise Refused(f"{name} was replaced by another file since it was read")
    if now.st_size < seen.st_size:
        raise Refused(f"{name} shrank since it was read")
    os.lseek(descriptor, book.scan.end, os.SEEK_SET)
    with open(descriptor, "rb", closefd=False) as file:
        added = sum(1 for line in file if line.strip())
    if now.st_size > seen.st_size and added:
        entries = "1 entry" if added == 1 else f"{added} entries"
        raise Refused(f"{name} grew by {entries} since it was read")
    raise Refused(f"{name} was changed since it was read")


def append(
    session: Session,
    lines: Sequence[Body],
    *,
    patience: float = PATIENCE,
    claim: Claim | None = None,
    now: Clock = utc_now,
) -> Appended:
    """Appends the lines of one operation and takes them into the session.

    Everything is written by one call on a descriptor that appends, under the lock (waited for `patience` seconds at most),
    after the file was seen to be the one that was read, and is durable on return. Where the file does not end in a newline the
    write begins with one. A version 1 or 2 file is migrated first. For another agent's session the file is its sidecar, which
    the first operation makes; it is refused too where the agent's files went on.

    Nothing that others wrote is ever changed. A write that the system cuts short (a full disk) is taken back before the lock is
    given up (`short_write`), so that no agent appends to a torn line. One that was killed leaves the beginning of our lines:
    whole ones count, the torn last one is pending to every reader, and the next write closes it with its newline, after which
    it is a malformed line that carries no child. One-line operations are therefore done or not done, at whatever byte they stop.

    Raises Refused, with the reason, where nothing or not everything was written; the session has then taken in what is there
    if the cause was the write itself, and is left alone if it was a check, so that the caller can say so and refresh.
    """
    refuse_unwritable(session, claim)
    backup = None
    if session.version < CURRENT_VERSION:
        from leafward.session.journal.migration import migrate

        backup = migrate(session, now=now, patience=patience)
    if session.book is None:
        return _begin(session, lines, now)
    data = b"".join(map(encode_line, lines))
    with opened(session, patience) as descriptor:
        before = os.fstat(descriptor).st_size
        if not _ends_line(descriptor, before):
            data = b"\n" + data
        trouble: OSError | None = None
        try:
            append_bytes(descriptor, data)
            os.fsync(descriptor)
        except OSError as error:
            trouble = error
        after = os.fstat(descriptor).st_size
    _take_in(session)
    if trouble is not None:
        raise Refused(_trouble(session, trouble, len(data))) from trouble
    return Appended(len(data), backup, raced=after != before + len(data))


def _begin(session: Session, lines: Sequence[Body], now: Clock) -> Appended:
    """Makes the sidecar with the lines of its first operation: whole under its name, or not at all."""
    path = session.book_path
    header = session.book_header(iso_time(now()))
    try:
        create(path, header, lines)
    except Refused as error:
        if not path.exists():
            raise
        if not _holds(path, b"".join(map(encode_line, (header, *lines)))):
            raise Refused(_BEGUN) from None
        # It has its name, and the disk that did not confirm it did not take it back either.
        _take_in(session)
        reason = f": {error.__cause__}" if error.__cause__ is not None else ""
        raise Refused(f"{path.name} was written, but the disk does not confirm it{reason}") from error
    _take_in(session)
    return Appended(sum(len(encode_line(line)) for line in lines))


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.read_bytes() == data
    except OSError:
        return False


def _take_in(session: Session) -> None:
    try:
        session.refresh()
    except NotASession as error:
        raise Refused(f"written, but {error}") from error
    except OSError as error:
        name = session.book_path.name
        raise Refused(f"written, but {name} cannot be read any more: {error.strerror or error}") from error


def _ends_line(descriptor: int, size: int) -> bool:
    if not size:
        return True
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1) == b"\n"


def _trouble(session: Session, trouble: OSError, wanted: int) -> str:
    """What became of a write that failed."""
    name, reason = session.path.name, trouble.strerror or str(trouble)
    if not isinstance(trouble, CutShort):
        return f"{name} was written, but the disk does not confirm it: {reason}"
    if trouble.restored is Restored.UNDONE:
        return f"nothing was written to {name}: {reason}"
    part = f"only {trouble.written} of {wanted} bytes were written to {name}: {reason}"
    if trouble.restored is Restored.CLOSED:
        return f"{part}; what was torn of them is a blank line"
    return f"{part}; they stay as a torn line, which the next write closes"
