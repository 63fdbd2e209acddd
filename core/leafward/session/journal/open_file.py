"""The session file open for writing: locked, and proved to be the one that the session read; or the reason why not."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from leafward.base.durable import APPENDING, WINDOWS
from leafward.base.errors import Refused, not_written
from leafward.base.figures import counted
from leafward.session.journal.lock import Claim, locked, refuse_if_busy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leafward.session.session import Session
    from leafward.session.source import Source


def refuse_unwritable(session: Session, claim: Claim | None = None) -> None:
    """Raises Refused, with the reason, where a write would currently be refused: all checks except the lock."""
    _refuse_read_only(session)
    refuse_if_busy(session.path, claim)
    _refuse_shut(session)
    refuse_changed(session)


def why_unwritable(session: Session) -> str:
    """The permanent reason why a session is not writable: its format, or the place of its file; empty for none."""
    try:
        _refuse_read_only(session)
        _refuse_shut(session)
    except Refused as refused:
        return str(refused)
    return ""


def _refuse_shut(session: Session) -> None:
    """Raises Refused where permissions or links prevent every write."""
    path = session.book_path
    if session.source.book is None:
        _refuse_folder(path.parent)
        return
    if path.is_symlink():
        raise Refused(f"{path.name} is a symbolic link; open the file it points to: {os.path.realpath(path)}")
    try:
        now = path.stat()
    except OSError as error:
        raise Refused(f"cannot write to {path.name}: {error.strerror or error}") from error
    if not now.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(path, os.W_OK):
        why = "it is on a read-only file system" if _is_frozen(path) else "its permissions make it read-only"
        raise Refused(f"cannot write to {path.name}: {why}")


def _is_frozen(path: Path) -> bool:
    """Whether a file lies where nobody can write, whatever its permissions say."""
    try:
        return not WINDOWS and bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def _refuse_folder(folder: Path) -> None:
    """Raises Refused where a file cannot be created in a folder, which may not exist yet."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise Refused(f"cannot write in {folder}, where Leafward keeps its changes to this session")


def _refuse_read_only(session: Session) -> None:
    if session.read_only is not None:
        raise Refused(f"{session.path.name} is read-only: {session.read_only}")


def refuse_changed(session: Session) -> None:
    """Raises Refused, saying what happened, where the file is no longer the one that the session read, or is not writable."""
    _refuse_read_only(session)
    went_on = session.source.went_on()
    if went_on is not None:
        raise Refused(went_on)
    path, book = session.book_path, session.source.book
    if book is None:
        if path.exists():
            raise Refused(BEGUN)
        return
    try:
        if _unchanged(book, path.stat()):
            return
        with path.open("rb", buffering=0) as file:
            _refuse_changed(session, book, file.fileno())
    except OSError as error:
        raise Refused(f"cannot read {path.name}: {error.strerror or error}") from error


BEGUN = "another Leafward changed this session since it was read: reload it"
"""The reason why a first write to a sidecar is not made."""


@contextmanager
def opened(session: Session, patience: float) -> Iterator[int]:
    """The session file open for appending, locked, and proved to be the one that the session read. Raises Refused."""
    path, book = session.book_path, session.source.book or session.source
    try:
        descriptor = os.open(path, APPENDING)
    except OSError as error:
        raise Refused(f"cannot write to {path.name}: {error.strerror or error}") from error
    try:
        with locked(descriptor, path.name, patience):
            # During the wait, the name may have passed to another file.
            try:
                ours, named = os.fstat(descriptor), path.stat()
            except FileNotFoundError as error:
                raise Refused(f"{path.name} is gone: {error.strerror or error}") from error
            except OSError as error:
                raise Refused(not_written(path, error)) from error
            if not _unchanged(book, ours):
                _refuse_changed(session, book, descriptor)
            if not _unchanged(book, named):
                raise Refused(f"{path.name} was replaced by another file since it was read")
            went_on = session.source.went_on()
            if went_on is not None:
                raise Refused(went_on)
            yield descriptor
    finally:
        # The written bytes are durable already, or the write was reported as failed.
        with suppress(OSError):
            os.close(descriptor)


def _unchanged(book: Source, now: os.stat_result) -> bool:
    seen = book.seen
    return (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns) == (
        seen.st_dev,
        seen.st_ino,
        seen.st_size,
        seen.st_mtime_ns,
    )


def _refuse_changed(session: Session, book: Source, descriptor: int) -> None:
    """Raises Refused with the change of the file since it was read."""
    now, seen = os.fstat(descriptor), book.seen
    name = session.path.name if session.is_native else f"Leafward's file for {session.path.name}"
    if (now.st_dev, now.st_ino) != (seen.st_dev, seen.st_ino):
        raise Refused(f"{name} was replaced by another file since it was read; nothing was written")
    if now.st_size < seen.st_size:
        raise Refused(f"{name} shrank since it was read; nothing was written")
    os.lseek(descriptor, book.scan.end, os.SEEK_SET)
    with open(descriptor, "rb", closefd=False) as file:
        added = sum(1 for line in file if line.strip())
    if now.st_size > seen.st_size and added:
        entries = counted(added, "entry", "entries")
        raise Refused(f"{name} grew by {entries} since it was read; nothing was written")
    raise Refused(f"{name} was changed since it was read; nothing was written")
