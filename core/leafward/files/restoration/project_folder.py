"""Files in a project's folder by name, and changes to them, without ever leaving the folder.

Every folder on the way is opened by itself and never through a link, so that nothing outside is read or written even where
another program puts a link in its place meanwhile.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, Self

from leafward.base.durable import NOT_FOR_FOLDERS, write_all
from leafward.base.errors import Refused
from leafward.base.regular_files import STORED_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_WITHOUT_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _WITHOUT_LINKS
_MOST_BELOW = 2000
"""Names below a folder from which it is not considered to make room for a file."""


class FileKind(StrEnum):
    """The kind of file under a name."""

    FILE = "file"
    ABSENT = "absent"
    LINK = "link"
    FOLDER = "folder"
    OTHER = "other"
    """A device, a pipe, or an unreadable file."""


@dataclass(frozen=True, slots=True)
class OnDisk:
    """The state of a name in the project."""

    presence: FileKind
    data: bytes = b""
    """The bytes of a file, or the target of a link."""
    mode: int = 0
    """Permission bits of a file."""
    names: int = 1
    """The number of hard links to it."""
    trouble: str = ""
    """The reason why nothing may be written under this name under any option; empty for none."""
    blocked: str = ""
    """The path of a file in the place of its parent folder."""

    @property
    def digest(self) -> str:
        """SHA-256 of its bytes; empty where it has none."""
        return digest(self.data) if self.presence in (FileKind.FILE, FileKind.LINK) else ""

    def same(self, other: OnDisk) -> bool:
        """Whether it is the same kind with the same bytes and permissions."""
        return (self.presence, self.digest, self.mode) == (other.presence, other.digest, other.mode)


NOTHING = OnDisk(FileKind.ABSENT)


def digest(data: bytes) -> str:
    """SHA-256 as hex."""
    return sha256(data).hexdigest()


class ProjectFolder:
    """The folder of a project, held open. Raises Refused where it is missing, or where the system cannot stay inside it."""

    def __init__(self, folder: Path) -> None:
        if os.open not in os.supports_dir_fd or not getattr(os, "O_NOFOLLOW", 0):
            raise Refused("this system cannot keep a restore inside the project folder; use `files --into`")
        self.path = os.path.realpath(folder)
        try:
            self._root = os.open(self.path, _FOLDER)
        except OSError as error:
            raise Refused(f"project folder {folder} cannot be opened: {error.strerror}") from error

    def close(self) -> None:
        """Closes the folder."""
        os.close(self._root)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def parent(self, path: str) -> Iterator[tuple[int, str]]:
        """A descriptor of the folder that contains a path, and the path's last name.

        Raises OSError, also for a link on the way.
        """
        *folders, name = path.split("/")
        current = os.dup(self._root)
        try:
            for folder in folders:
                below = os.open(folder, _FOLDER, dir_fd=current)
                os.close(current)
                current = below
            yield current, name
        finally:
            os.close(current)

    def look(self, path: str) -> OnDisk:
        """The state of a name, read without following links."""
        parts = path.split("/")
        for at in range(1, len(parts)):
            above = "/".join(parts[:at])
            try:
                with self.parent(above) as (folder, name):
                    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            except FileNotFoundError:
                return NOTHING
            except OSError as error:
                return OnDisk(FileKind.OTHER, trouble=f"it cannot be read: {error.strerror}")
            if stat.S_ISLNK(mode):
                return OnDisk(FileKind.OTHER, trouble=f"{above} is a link")
            if not stat.S_ISDIR(mode):
                return OnDisk(FileKind.ABSENT, blocked=above)
        try:
            with self.parent(path) as (folder, name):
                return _look_in(folder, name)
        except FileNotFoundError:
            return NOTHING
        except OSError as error:
            return OnDisk(FileKind.OTHER, trouble=f"it cannot be read: {error.strerror}")

    def below(self, path: str) -> tuple[list[str], list[tuple[str, int]]] | None:
        """Files below a folder, and the folders with their permissions, the deepest last.

        None where there are too many, or one is unreadable.
        """
        names: list[str] = []
        folders: list[tuple[str, int]] = []
        waiting = [path]
        while waiting:
            folder = waiting.pop()
            try:
                with self.parent(f"{folder}/.") as (descriptor, _):
                    folders.append((folder, stat.S_IMODE(os.fstat(descriptor).st_mode)))
                    with os.scandir(descriptor) as listed:
                        for one in listed:
                            inside = f"{folder}/{one.name}"
                            is_folder = one.is_dir(follow_symlinks=False)
                            (waiting if is_folder else names).append(inside)
            except OSError:
                return None
            if len(names) + len(folders) + len(waiting) > _MOST_BELOW:
                return None
        return names, sorted(folders, key=lambda one: one[0].count("/"))

    def locked(self, path: str) -> str:
        """The folder in which a name would be made, replaced or removed, where it is not writable; else empty."""
        above = path
        while above:
            above = above.rpartition("/")[0]
            try:
                with self.parent(f"{above}/." if above else ".") as (folder, _):
                    may = os.access(".", os.W_OK | os.X_OK, dir_fd=folder)
            except OSError:
                continue
            return "" if may else above or "the project's folder"
        return ""

    def missing_folders(self, path: str) -> list[str]:
        """Missing folders above a path, from the top."""
        parts = path.split("/")
        above = ["/".join(parts[:at]) for at in range(1, len(parts))]
        return [one for one in above if self.look(one).presence is not FileKind.FOLDER]

    def make_folder(self, path: str, mode: int = 0o777) -> None:
        """Creates a folder, unless it exists."""
        with self.parent(path) as (folder, name), suppress(FileExistsError):
            os.mkdir(name, mode, dir_fd=folder)
            _sync(folder)

    def remove_folder(self, path: str) -> None:
        """Removes an empty folder. Raises OSError where it is not empty."""
        with self.parent(path) as (folder, name):
            os.rmdir(name, dir_fd=folder)
            _sync(folder)

    def discard(self, path: str) -> None:
        """Removes an unfinished file that has no name of its own yet, if it exists."""
        with suppress(OSError), self.parent(path) as (folder, name):
            os.unlink(name, dir_fd=folder)

    def replace(self, path: str, before: OnDisk, after: OnDisk, draft: str) -> None:
        """Replaces the file or link that was seen, or removes it; durable when it returns.

        `draft` is the name of the new file beside it until it is whole. Raises Refused where the name has another state by
        now, OSError. The name has the old or the new content at any moment.
        """
        with self.parent(path) as (folder, name):
            waiting = _written(folder, after, draft) if after.presence is not FileKind.ABSENT else ""
            try:
                if not _look_in(folder, name).same(before):
                    raise Refused(f"{path} was changed meanwhile; it was not written")
                if not waiting:
                    if before.presence is not FileKind.ABSENT:
                        os.unlink(name, dir_fd=folder)
                elif before.presence is FileKind.ABSENT:
                    _give_name(folder, waiting, name)
                else:
                    os.rename(waiting, name, src_dir_fd=folder, dst_dir_fd=folder)
                    waiting = ""
            finally:
                if waiting:
                    with suppress(OSError):
                        os.unlink(waiting, dir_fd=folder)
            _sync(folder)


def _give_name(folder: int, waiting: str, name: str) -> None:
    """Gives a finished file a free name: a file that another program created meanwhile is never replaced."""
    try:
        os.link(waiting, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise Refused(f"{name} was made meanwhile; it was not written") from None
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS, errno.EACCES):
            raise
        # This file system has no hard links.
        if _look_in(folder, name).presence is not FileKind.ABSENT:
            raise Refused(f"{name} was made meanwhile; it was not written") from None
        os.rename(waiting, name, src_dir_fd=folder, dst_dir_fd=folder)


def _written(folder: int, what: OnDisk, name: str) -> str:
    """Writes a new file beside the one that it replaces, whole and durable; returns its name."""
    if what.presence is FileKind.LINK:
        os.symlink(what.data, os.fsencode(name), dir_fd=folder)
        return name
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _WITHOUT_LINKS, 0o600, dir_fd=folder)
    try:
        try:
            write_all(descriptor, what.data)
            os.fchmod(descriptor, what.mode)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        # This includes an interrupt: nothing else knows the name of the half-written file.
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)
        raise
    return name


def _look_in(folder: int, name: str) -> OnDisk:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return NOTHING
    except ValueError:
        return OnDisk(FileKind.OTHER, trouble="no file can have this name")
    if stat.S_ISDIR(found.st_mode):
        return OnDisk(FileKind.FOLDER)
    if name not in os.listdir(folder):
        return OnDisk(FileKind.OTHER, trouble="on this disk another name is the same file")
    if stat.S_ISLNK(found.st_mode):
        return OnDisk(FileKind.LINK, os.fsencode(os.readlink(name, dir_fd=folder)), names=found.st_nlink)
    if not stat.S_ISREG(found.st_mode):
        return OnDisk(FileKind.OTHER, trouble="it is not a regular file")
    if found.st_size > STORED_LIMIT:
        return OnDisk(FileKind.OTHER, trouble=f"it is larger than {STORED_LIMIT >> 20} MiB")
    try:
        descriptor = os.open(name, os.O_RDONLY | _WITHOUT_LINKS, dir_fd=folder)
    except OSError as error:
        return OnDisk(FileKind.OTHER, trouble=f"it cannot be read: {error.strerror}")
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return OnDisk(FileKind.OTHER, trouble="it is not a regular file")
        data = bytearray()
        while piece := os.read(descriptor, 1 << 20):
            data += piece
            if len(data) > STORED_LIMIT:
                return OnDisk(FileKind.OTHER, trouble="it grows while it is read")
    except OSError as error:
        return OnDisk(FileKind.OTHER, trouble=f"it cannot be read: {error.strerror}")
    finally:
        os.close(descriptor)
    return OnDisk(FileKind.FILE, bytes(data), stat.S_IMODE(found.st_mode), found.st_nlink)


def _sync(folder: int) -> None:
    """Makes names in a folder durable, where the file system does that for folders."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in NOT_FOR_FOLDERS:
            raise
