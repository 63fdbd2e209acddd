"""A folder that is only read: within limits, inside its root, and in an order that does not depend on the disk."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.compaction.injection.values import InjectionRemark, SourceKind, SourceRef

if TYPE_CHECKING:
    from pathlib import Path

FILE_LIMIT = 256 * 1024
"""Most bytes of a file that is read; a larger file is skipped."""
LIST_LIMIT = 2_000
"""Most names that are read of a folder."""

_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
)
_ABSENT = {errno.ENOENT, errno.ENOTDIR}


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file that was read."""

    path: str
    """Path relative to the root, with `/`."""
    text: str
    """The text, with newlines as line ends."""
    digest: str

    def source(self, line: int = 0, note: str = "") -> SourceRef:
        """The file, or one of its lines (from 1), as a source."""
        return SourceRef(SourceKind.FILE, file=self.path, line=line, digest=self.digest, note=note)


class Workspace:
    """The files that builders may read. Unreadable files count as absent, and `diagnostics` gives the reasons."""

    def __init__(self, root: Path) -> None:
        self.root = os.path.realpath(root)
        self.diagnostics: list[InjectionRemark] = []
        self._files: dict[str, TextFile | None] = {}

    def read(self, path: str) -> TextFile | None:
        """A text file inside the root; None if there is no usable one."""
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def _read(self, path: str) -> TextFile | None:
        real = self._inside(path)
        if real is None:
            return None
        try:
            descriptor = os.open(real, _FLAGS)
        except OSError as error:
            if error.errno not in _ABSENT:
                self._note("unreadable", f"{path} cannot be read ({error.strerror or error})")
            return None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                self._note("no-file", f"{path} is not a regular file")
                return None
            data = b""
            while len(data) <= FILE_LIMIT and (more := os.read(descriptor, FILE_LIMIT + 1 - len(data))):
                data += more
        except OSError as error:
            self._note("unreadable", f"{path} cannot be read ({error.strerror or error})")
            return None
        finally:
            os.close(descriptor)
        if len(data) > FILE_LIMIT:
            self._note("too-large", f"{path} is larger than {FILE_LIMIT // 1024} KiB; it is skipped")
            return None
        if b"\0" in data:
            self._note("binary", f"{path} is not text; it is skipped")
            return None
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            self._note("encoding", f"{path} is not UTF-8; it is skipped")
            return None
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        return TextFile(path, text, hashlib.sha256(data).hexdigest()[:16])

    def names(self, path: str) -> list[str]:
        """The names in a folder inside the root, sorted; empty if there is no such folder."""
        real = self._inside(path)
        if real is None:
            return []
        try:
            names = sorted(os.listdir(real))
        except OSError as error:
            if error.errno not in _ABSENT:
                self._note("unreadable", f"{path} cannot be read ({error.strerror or error})")
            return []
        if len(names) > LIST_LIMIT:
            self._note("too-many", f"{path} has {len(names)} names; only the first {LIST_LIMIT} are read")
        return names[:LIST_LIMIT]

    def holds(self, name: str) -> bool:
        """Whether anything lies in the root under a name, also a link to nowhere: without it, nothing below that name is read."""
        return os.path.lexists(os.path.join(self.root, name))

    def is_folder(self, path: str) -> bool:
        """Whether a path inside the root is a folder."""
        real = self._inside(path)
        return real is not None and os.path.isdir(real)

    def exists(self, path: str) -> bool:
        """Whether a path inside the root exists."""
        real = self._inside(path, quiet=True)
        return real is not None and os.path.exists(real)

    def _inside(self, path: str, *, quiet: bool = False) -> str | None:
        """The real path of a relative path; None if it is outside of the root."""
        parts = PurePosixPath(path).parts
        if not path or "\0" in path or path.startswith("/") or ".." in parts:
            if not quiet:
                self._note("outside", f"{path} leads out of the workspace; it is not followed")
            return None
        try:
            real = os.path.realpath(os.path.join(self.root, *parts))
        except (OSError, ValueError):
            return None
        if real != self.root and not real.startswith(self.root.rstrip(os.sep) + os.sep):
            if not quiet:
                self._note("outside", f"{path} leads out of the workspace; it is not followed")
            return None
        return real

    def _note(self, code: str, text: str) -> None:
        remark = InjectionRemark(code, safe_line(text, 400))
        if remark not in self.diagnostics:
            self.diagnostics.append(remark)
