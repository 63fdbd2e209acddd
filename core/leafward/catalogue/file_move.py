"""Moves a file to another folder or file system; at every moment at least one whole copy is on a disk."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from leafward.base.durable import draft_name, give_name, sync_folder, write_new
from leafward.base.errors import Refused
from leafward.base.safe_text import safe_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PIECE = 1 << 20


def move_file(source: Path, target: Path, *, leave: bool = False) -> None:
    """Moves a file to a new path. Never replaces a file.

    On one file system this is a rename. Between two, the file is copied with mode and times, and the copy and its name are on
    the disk before the source is removed. If the source cannot be removed, the copy is deleted again; `leave` keeps both.

    Raises Refused, which names the folder at fault; nothing is changed then.
    """
    if os.path.lexists(target):
        raise Refused(f"a file of that name exists: {_shown(target)}")
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise Refused(
                f"cannot move {_shown(source)} to {_shown(target.parent)}: {error.strerror or error}"
            ) from error
        _copy(source, target)
        _remove(source, target, leave=leave)
    for folder in (target.parent, source.parent):
        # The move is done. Whichever name survives a crash, the file is whole under it.
        with suppress(OSError):
            sync_folder(folder)


def _copy(source: Path, target: Path) -> None:
    """Writes a whole, durable copy under the target's name. Raises Refused and leaves nothing behind."""
    waiting = draft_name(target)
    try:
        with source.open("rb") as original:
            before = os.fstat(original.fileno())
            write_new(waiting, _pieces(original.fileno(), source))
            try:
                os.utime(waiting, ns=(before.st_atime_ns, before.st_mtime_ns))
                os.chmod(waiting, stat.S_IMODE(before.st_mode))
                _refuse_changed(source, before)
                give_name(waiting, target)
            except BaseException:  # an interrupt too leaves no half copy
                with suppress(OSError):
                    waiting.unlink(missing_ok=True)
                raise
    except OSError as error:
        why = f"{error.strerror or error}; the session stays where it is"
        raise Refused(f"cannot write to {_shown(target.parent)}: {why}") from error


def _pieces(descriptor: int, source: Path) -> Iterator[bytes]:
    while True:
        try:
            piece = os.read(descriptor, _PIECE)
        except OSError as error:
            raise Refused(f"cannot read {_shown(source)}: {error.strerror or error}") from error
        if not piece:
            return
        yield piece


def _refuse_changed(source: Path, before: os.stat_result) -> None:
    now = os.stat(source)
    if any(getattr(now, name) != getattr(before, name) for name in ("st_ino", "st_size", "st_mtime_ns")):
        raise Refused(f"{_shown(source)} changed while it was copied; nothing was moved")


def _remove(source: Path, copy: Path, *, leave: bool) -> None:
    try:
        source.unlink()
    except BaseException as error:  # on an interrupt too only one of both files stays
        if leave and isinstance(error, OSError):
            return
        if source.exists():
            with suppress(OSError):
                copy.unlink()
        if isinstance(error, OSError):
            raise Refused(f"cannot remove {_shown(source)}: {error.strerror or error}") from error
        raise


def begins_with(path: Path, other: Path) -> bool:
    """Whether a file begins with the whole content of another one. Raises OSError."""
    with path.open("rb") as long, other.open("rb") as short:
        if not stat.S_ISREG(os.fstat(long.fileno()).st_mode):
            return False
        while True:
            piece = short.read(_PIECE)
            if not piece:
                return True
            if long.read(len(piece)) != piece:
                return False


def _shown(path: Path) -> str:
    return safe_line(str(path), 400)
