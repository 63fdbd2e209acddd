"""Writing a document to a place that the user names: a file whole or not at all, a device or a pipe directly.

A regular file is replaced by a finished one with the same name and mode. A link stays a link, and its target is
replaced. A device, a named pipe or one of our own descriptors is written to directly.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.base.durable import (
    WINDOWS,
    discarded_on_failure,
    draft_name,
    give_name,
    sync_folder,
    write_all,
    write_new,
)
from leafward.base.errors import LeafwardError, not_written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_DESCRIPTOR = re.compile(r"/dev/fd/(\d+)|/proc/(self|thread-self|\d+)/(?:task/\d+/)?fd/(\d+)")
_LINKS = 40
"""Links in a row after which they count as a circle."""
_NO_CONTROL: int = getattr(os, "O_NOCTTY", 0)
_NO_WAIT: int = getattr(os, "O_NONBLOCK", 0)


def descriptor_of(path: Path) -> int | None:
    """The descriptor of this process that a path names (`/dev/stdout`, `/dev/fd/3`), also through links; else None.

    Opening such a file by its path would start again at its first byte and overwrite the output of others.
    """
    if WINDOWS:
        return None
    at = os.path.abspath(path)
    for _ in range(_LINKS):
        # Links among the folders are followed and the last one is read, because `/dev/fd` is itself a link.
        descriptor = _STANDARD.get(at)
        if descriptor is not None:
            return descriptor
        folder = os.path.realpath(os.path.dirname(at))
        for place in (at, os.path.join(folder, os.path.basename(at))):
            found = _DESCRIPTOR.fullmatch(place)
            if found is not None and found[2] in {None, "self", "thread-self", str(os.getpid())}:
                return int(found[1] or found[3])
        try:
            target = os.readlink(at)
        except OSError:
            return None
        at = os.path.normpath(os.path.join(folder, target))
    return None


def write_document(path: Path, text: str, keep: Iterable[Path] = ()) -> None:
    """Writes a text, as UTF-8, to the place that the user names.

    A new file is readable by its owner only; an existing one keeps its mode. Raises LeafwardError for a folder, a
    socket, a pipe without a reader, a link that leads nowhere and a file in `keep`, and OSError where the system
    refuses.
    """
    data = text.encode("utf-8", "replace")
    descriptor = descriptor_of(path)
    if descriptor is not None:
        _into_descriptor(descriptor, path, data)
        return
    target = Path(os.path.realpath(path))
    try:
        found = os.stat(path)
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise LeafwardError(f"{path}: there is no folder {target.parent}") from None
        _replace(target, data, None)
        return
    except OSError as error:
        raise LeafwardError(f"{path}: {error.strerror or error}") from error
    if stat.S_ISDIR(found.st_mode):
        raise LeafwardError(f"{path} is a folder; name a file in it")
    if any(one.is_file() and os.path.samestat(found, one.stat()) for one in keep):
        raise LeafwardError(f"{path} is the session itself")
    if stat.S_ISREG(found.st_mode):
        if not os.access(target, os.W_OK):
            raise LeafwardError(f"{path} is read-only")
        _replace(target, data, found)
    else:
        _into(path, data, found)


def replace_document(path: Path, text: str) -> None:
    """Replaces a regular file, as `write_document`, but never what a link leads to that took its name meanwhile.

    Raises LeafwardError where it is no regular file, is read-only, or the system refuses; OSError where it is gone.
    """
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode):
        raise LeafwardError(f"{path} is not a file of its own; nothing was written")
    if not os.access(path, os.W_OK):
        raise LeafwardError(f"{path} is read-only")
    _replace(path, text.encode("utf-8", "replace"), found)


def write_new_document(path: Path, text: str) -> None:
    """Writes a text, as UTF-8, to a new file that only its owner can read: the whole file, or none.

    Raises FileExistsError where the name is taken, also by a link, and LeafwardError where the system refuses.
    """
    if path.is_dir():
        raise LeafwardError(f"{path} is a folder; name a file in it")
    draft = _draft_beside(path)
    try:
        write_new(draft, [text.encode("utf-8", "replace")])
        with discarded_on_failure(draft):
            give_name(draft, path)
    except FileExistsError:
        raise
    except OSError as error:
        raise LeafwardError(not_written(path, error)) from error


def write_under_free_name(name: Callable[[], Path], text: str) -> Path:
    """Writes a text as `write_new_document` does, under a name that `name` gives, asked again where it was taken first; returns it."""
    while True:
        path = name()
        with suppress(FileExistsError):
            write_new_document(path, text)
            return path


def _draft_beside(path: Path) -> Path:
    """A free name in the same folder, made without the target's name where that is too long for another ending."""
    draft = draft_name(path)
    return draft if len(os.fsencode(draft.name)) <= 255 else draft_name(path.with_name("document"))


def _replace(target: Path, data: bytes, old: os.stat_result | None) -> None:
    """Puts a finished file in the place of a target that may exist; the mode and owner of the old file stay."""
    draft = _draft_beside(target)
    try:
        # The draft is its owner's only; it gets the target's mode once it is complete.
        write_new(draft, [data])
    except OSError as error:
        raise LeafwardError(not_written(target, error)) from error
    try:
        with discarded_on_failure(draft):
            if old is not None and not WINDOWS:
                _give_mode_and_owner(draft, old)
            draft.replace(target)
    except OSError as error:
        if old is not None and error.errno == errno.EBUSY:
            # A file that is itself a mount point is not replaceable by name, so its content is overwritten.
            _into(target, data, old)
            return
        raise LeafwardError(not_written(target, error)) from error
    try:
        sync_folder(target.parent)
    except OSError as error:
        # The old file is gone already: to say that nothing was written would be wrong.
        raise LeafwardError(
            f"{error.strerror or error}: {target} was written, but may be lost in a power failure"
        ) from error


def _give_mode_and_owner(draft: Path, old: os.stat_result) -> None:
    """Gives a file the mode and owner of the file that it replaces; the owner only where the system allows it."""
    own = draft.stat()
    if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid):
        with suppress(OSError):
            os.chown(draft, old.st_uid, old.st_gid)
    draft.chmod(stat.S_IMODE(old.st_mode) & 0o777)


def _into(path: Path, data: bytes, found: os.stat_result) -> None:
    """Writes to a file that is not regular. Refuses a pipe without a reader, because opening it would wait for one."""
    if stat.S_ISSOCK(found.st_mode):
        raise LeafwardError(f"{path} is a socket; a document cannot be written to it")
    try:
        descriptor = os.open(path, os.O_WRONLY | _NO_CONTROL | _NO_WAIT)
    except OSError as error:
        if error.errno == errno.ENXIO and stat.S_ISFIFO(found.st_mode):
            raise LeafwardError(f"nobody reads from the pipe {path}; start its reader first") from None
        raise LeafwardError(f"{path}: {error.strerror or error}") from error
    try:
        os.set_blocking(descriptor, True)
        _write(descriptor, path, data)
        if stat.S_ISREG(found.st_mode):
            os.ftruncate(descriptor, len(data))
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _into_descriptor(number: int, path: Path, data: bytes) -> None:
    try:
        descriptor = os.dup(number)
    except OSError as error:
        raise LeafwardError(f"{path} is not open") from error
    try:
        _write(descriptor, path, data)
    finally:
        os.close(descriptor)


def _write(descriptor: int, path: Path, data: bytes) -> None:
    try:
        write_all(descriptor, data)
    except BrokenPipeError:
        raise LeafwardError(f"the reader of {path} went away before the end") from None
    except OSError as error:
        raise LeafwardError(f"{path}: {error.strerror or error}") from error
