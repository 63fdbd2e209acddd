"""Possible contents of a file before the session: the file in a workspace, and git's versions of it.

Nothing there is written, locked or run (`git_call`).
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.regular_files import open_buffered
from leafward.files.git_call import batch_contents, git_output

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 2_000_000
"""Bytes of a file from which it is not used as a base."""
MOST_VERSIONS = 40
"""Versions of a file that are read, the latest ones."""
SECONDS = 20.0
"""Seconds for all calls of git; after them only the file on disk is used."""
_ONE_CALL = 5.0
_EXECUTABLE = b"100755"
_FILES = (b"100644", _EXECUTABLE)
"""The modes by which git marks a regular file."""


class FileBase(NamedTuple):
    """A possible content of a file before the session."""

    name: str
    """The shown name: `on disk`, `git 1a2b3c4`."""
    text: str


class Committed(NamedTuple):
    """A file in the last commit."""

    data: bytes
    executable: bool


Bases = Callable[[str], Sequence[FileBase]]
"""The candidates for a file by its path, as `file_names.locate` gives it; the file on disk first, then the latest version."""


class WorkspaceBases:
    """The candidates in a folder. Each file is looked up once; an unreadable one has none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._git = shutil.which("git")
        self._left = SECONDS
        self._found: dict[str, tuple[FileBase, ...]] = {}

    def __call__(self, path: str) -> Sequence[FileBase]:
        """The candidates for one file, each text once. Empty for a file outside the folder."""
        if path not in self._found:
            outside = path.startswith(("/", "~")) or ".." in path.split("/") or "\n" in path or "\0" in path
            texts: dict[str, str] = {}
            for name, data in () if outside else (*self._on_disk(path), *self._in_git(path)):
                text = _text(data)
                if text is not None:
                    texts.setdefault(text, name)
            self._found[path] = tuple(FileBase(name, text) for text, name in texts.items())
        return self._found[path]

    def committed(self, path: str) -> Committed | None:
        """The file in the last commit; None where the commit lacks it, or git fails."""
        if "\n" in path or "\0" in path:
            return None
        listed = self._output(["ls-tree", "-z", "HEAD", "--", path]).split()[:3]
        if len(listed) < 3 or listed[0] not in _FILES or listed[1] != b"blob":
            return None
        data = self._output(["cat-file", "blob", listed[2].decode("ascii", "replace")])
        return Committed(data, listed[0] == _EXECUTABLE) if data else None

    def _on_disk(self, path: str) -> list[tuple[str, bytes]]:
        try:
            place = (self._folder / path).resolve()
            # A link may point anywhere.
            if not place.is_relative_to(self._folder) or not place.is_file():
                return []
            with open_buffered(place) as file:
                return [("on disk", file.read(MOST_BYTES + 1))]
        except (OSError, ValueError):
            return []

    def _in_git(self, path: str) -> list[tuple[str, bytes]]:
        listed = self._output(
            ["log", "--no-show-signature", "--no-color", "--format=%H", f"-n{MOST_VERSIONS}", "--", path]
        )
        commits = listed.decode("ascii", "replace").split()
        if not commits:
            return []
        # Before a commit that removed the file it existed as well.
        request = "".join(f"{commit}:./{path}\n" for commit in commits).encode("utf-8", "surrogateescape")
        sizes = self._output(["cat-file", "--batch-check"], request).splitlines()
        blobs: dict[bytes, str] = {}
        for commit, line in zip(commits, sizes, strict=False):
            words = line.split()
            if len(words) == 3 and words[1] == b"blob" and int(words[2]) <= MOST_BYTES:
                blobs[words[0]] = f"git {commit[:7]}"
        return self._blobs(blobs) if blobs else []

    def _blobs(self, blobs: dict[bytes, str]) -> list[tuple[str, bytes]]:
        output = self._output(["cat-file", "--batch"], b"".join(one + b"\n" for one in blobs))
        found = zip(blobs.values(), batch_contents(output), strict=False)
        return [(name, data) for name, data in found if data is not None]

    def _output(self, words: list[str], stdin: bytes = b"") -> bytes:
        """The output of git; empty where git is missing, fails or times out."""
        if self._git is None or self._left <= 0:
            return b""
        started = time.monotonic()
        try:
            return git_output(self._git, self._folder, words, min(self._left, _ONE_CALL), stdin)
        except (OSError, subprocess.SubprocessError):
            return b""
        finally:
            self._left -= time.monotonic() - started


def _text(data: bytes) -> str | None:
    if len(data) > MOST_BYTES or b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
