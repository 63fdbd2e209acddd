"""The one road by which lines reach an existing session file, and the sidecar of another agent's session."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.errors import NotASession, Refused, not_written
from leafward.base.times import iso_stamp
from leafward.session.journal.creation import create
from leafward.session.journal.lines import Clock, encode_line, utc_now
from leafward.session.journal.lock import PATIENCE, Claim
from leafward.session.journal.migration import migrate
from leafward.session.journal.open_file import BEGUN, opened, refuse_unwritable
from leafward.session.journal.short_write import CutShort, Restored, append_bytes
from leafward.session.lines.line_decoding import CURRENT_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from leafward.session.entries import Body
    from leafward.session.session import Session


@dataclass(frozen=True, slots=True)
class Appended:
    """The result of an append."""

    size: int
    """Bytes, with the newline that closes a torn last line."""
    backup: Path | None = None
    """The copy of a version 1 or 2 file from before its migration."""
    raced: bool = False
    """Whether another program wrote between the last check and the write; its lines and ours are whole."""


def append(
    session: Session,
    lines: Sequence[Body],
    *,
    patience: float = PATIENCE,
    claim: Claim | None = None,
    now: Clock = utc_now,
) -> Appended:
    """Appends the lines of one operation and adds them to the session.

    Everything is written by one call on a descriptor that appends, under the lock (waited for `patience` seconds at most),
    after a check that the file is the one that was read, and is durable on return. Where the file does not end in a newline
    the write begins with one. A version 1 or 2 file is migrated first. For another agent's session the file is its sidecar,
    which the first operation creates; the write is also refused where the agent's files changed.

    Nothing that others wrote is ever changed. A write that the system cuts short (a full disk) is taken back before the
    lock is released (`short_write`), so that no agent appends to a torn line. A killed write leaves the beginning of our
    lines: whole ones count, the torn last one is pending to every reader, and the next write closes it with its newline,
    after which it is a malformed line without children. One-line operations are therefore done or not done, at whatever
    byte they stop.

    Raises Refused, with the reason, where nothing or not everything was written. If the cause was the write itself, the
    session has read the file's new state; if it was a check, the session is left alone, so that the caller can say so and
    refresh.
    """
    refuse_unwritable(session, claim)
    backup = None
    if session.version < CURRENT_VERSION:
        backup = migrate(session, now=now, patience=patience)
    if session.source.book is None:
        return _begin(session, lines, now)
    data = b"".join(map(encode_line, lines))
    with opened(session, patience) as descriptor:
        try:
            before = os.fstat(descriptor).st_size
            if not _ends_line(descriptor, before):
                data = b"\n" + data
        except OSError as error:
            raise Refused(not_written(session.book_path, error)) from error
        after = before
        trouble: OSError | None = None
        try:
            append_bytes(descriptor, data)
            os.fsync(descriptor)
            after = os.fstat(descriptor).st_size
        except OSError as error:
            trouble = error
    _take_in(session)
    if trouble is not None:
        raise Refused(_trouble(session, trouble, len(data))) from trouble
    session.appended = True
    return Appended(len(data), backup, raced=after != before + len(data))


def _begin(session: Session, lines: Sequence[Body], now: Clock) -> Appended:
    """Creates the sidecar with the lines of its first operation: whole under its name, or not at all."""
    path = session.book_path
    header = session.source.book_header(iso_stamp(now()))
    try:
        create(path, header, lines)
    except Refused as error:
        if not path.exists():
            raise
        if not _holds(path, b"".join(map(encode_line, (header, *lines)))):
            raise Refused(BEGUN) from None
        # The file has its name; the disk did not confirm it, but did not undo it either.
        _take_in(session)
        reason = f": {error.__cause__}" if error.__cause__ is not None else ""
        raise Refused(f"{path.name} was written, but the disk does not confirm it{reason}") from error
    _take_in(session)
    session.appended = True
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


def _trouble(session: Session, trouble: OSError, size: int) -> str:
    """The result of a failed write, in words."""
    name, reason = session.path.name, trouble.strerror or str(trouble)
    if not isinstance(trouble, CutShort):
        return f"{name} was written, but the disk does not confirm it: {reason}"
    if trouble.restored is Restored.UNDONE:
        return f"nothing was written to {name}: {reason}"
    part = f"only {trouble.written} of {size} bytes were written to {name}: {reason}"
    if trouble.restored is Restored.CLOSED:
        return f"{part}; the incomplete line was blanked"
    return f"{part}; the incomplete line stays, and the next write ends it"
