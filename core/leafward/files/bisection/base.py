"""The project's files before the session: a commit of git, or a folder. Neither is written to, and nothing in it is run."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from typing import TYPE_CHECKING, Protocol

from leafward.base.errors import Refused
from leafward.base.regular_files import read_regular
from leafward.files.git_call import batch_contents, git_output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_LINK = "120000"
_FILE = ("100644", "100755")
_CHUNK = 256
_SECONDS = 60.0
_NO_NAMES = frozenset({"", ".", "..", ".git"})
"""Names that git gives no file; a made-up commit may have them."""


class ProjectBase(Protocol):
    """The files that the session began with."""

    name: str
    """The name, nearly as the command line takes it."""
    title: str
    """The name as part of a sentence."""
    earlier: bool
    """Whether it is from before the session. If not, it tells nothing about the files that the session touched."""

    def text(self, path: str) -> str | None:
        """A file as text; None where it is missing or not text."""
        ...

    def lay_out(self, folder: Path, stop: Callable[[], bool]) -> None:
        """Writes all files into an empty folder. Raises Refused, OSError."""
        ...


class EmptyBase:
    """An empty folder: the session made every file."""

    name = ""
    title = "an empty folder"
    earlier = True

    def text(self, path: str) -> str | None:
        """None for every path."""

    def lay_out(self, folder: Path, stop: Callable[[], bool]) -> None:
        """Writes nothing."""


class FolderBase:
    """A folder as it is on disk. Everything but files, folders and links is left out."""

    def __init__(self, folder: Path, *, earlier: bool = True) -> None:
        self.earlier = earlier
        if not folder.is_dir():
            raise Refused(f"{folder} is not a folder; name a commit or a folder")
        self._folder = folder.resolve()
        self.name = str(folder)
        self.title = self.name if earlier else "the project as it is now"

    def text(self, path: str) -> str | None:
        """A file as text, where it lies inside the folder without a link on the way."""
        place = self._folder / path
        try:
            if place.resolve() != place:
                return None
            return read_regular(place).decode("utf-8")
        except (OSError, ValueError):
            return None

    def lay_out(self, folder: Path, stop: Callable[[], bool]) -> None:
        """Copies the folder, without the data of git."""

        def unwanted(at: str, names: list[str]) -> list[str]:
            if stop():
                return names
            kinds = stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK
            odd = [
                one
                for one in names
                if not any(is_one(os.lstat(os.path.join(at, one)).st_mode) for is_one in kinds)
            ]
            return [*odd, ".git"] if at == str(self._folder) else odd

        shutil.copytree(self._folder, folder, symlinks=True, ignore=unwanted, dirs_exist_ok=True)


class GitBase:
    """A commit of the repository that contains a folder, with the bytes that git stores: no filters, no hooks."""

    earlier = True

    def __init__(self, folder: Path, revision: str) -> None:
        self._folder = folder
        self._git = shutil.which("git") or ""
        if not self._git:
            raise Refused("git is not installed; name a folder")
        commit = self._output(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        )
        if not commit:
            raise Refused(f"{folder} has no commit {revision!r}; name another one, or a folder")
        self._commit = commit.decode("ascii").strip()
        """The full name of the commit."""
        self.name = self.title = f"git {self._commit[:7]}"
        self._blobs: dict[str, tuple[str, str]] = {}
        """Mode and blob of each file, by its path from the folder."""
        for line in self._output("ls-tree", "-r", "-z", self._commit).split(b"\0"):
            head, _, path = line.partition(b"\t")
            words = head.decode("ascii").split()
            name = os.fsdecode(path)
            fits = _NO_NAMES.isdisjoint(name.casefold().split("/"))
            if len(words) == 3 and words[0] in (*_FILE, _LINK) and fits:
                self._blobs[name] = (words[0], words[2])

    @classmethod
    def before(cls, folder: Path, moment: str) -> GitBase | None:
        """The last commit of the current branch before a moment, an ISO 8601 time; None where there is none."""
        try:
            head = cls(folder, "HEAD")
        except Refused:
            return None
        found = head._output("rev-list", "-1", f"--before={moment}", head._commit).decode("ascii").strip()
        return cls(folder, found) if found else None

    def text(self, path: str) -> str | None:
        """A file as text; None where there is no such file, or it is not UTF-8. Raises Refused where its content is not here."""
        mode, blob = self._blobs.get(path, ("", ""))
        if mode not in _FILE:
            return None
        try:
            return next(self._contents([(path, blob)])).decode("utf-8")
        except UnicodeDecodeError:
            return None

    def lay_out(self, folder: Path, stop: Callable[[], bool]) -> None:
        """Writes every file of the commit, links last: then none is written through a link. Submodules are left out."""
        links: list[tuple[Path, bytes]] = []
        every = list(self._blobs.items())
        for at in range(0, len(every), _CHUNK):
            if stop():
                return
            some = every[at : at + _CHUNK]
            contents = self._contents([(path, blob) for path, (_, blob) in some])
            for (path, (mode, _)), data in zip(some, contents, strict=True):
                place = folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                if mode == _LINK:
                    links.append((place, data))
                else:
                    place.write_bytes(data)
                    place.chmod(0o755 if mode == _FILE[1] else 0o644)
        for place, target in links:
            place.symlink_to(os.fsdecode(target))

    def _contents(self, files: Sequence[tuple[str, str]]) -> Iterator[bytes]:
        """The contents of some files, by path and blob. Raises Refused where one is missing, as in a partial clone."""
        request = "".join(f"{blob}\n" for _, blob in files)
        found = batch_contents(self._output("cat-file", "--batch", stdin=request))
        for path, _ in files:
            data = next(found, None)
            if data is None:
                raise Refused(f"{self.name} has {path}, but its content is not in this repository")
            yield data

    def _output(self, *words: str, stdin: str = "") -> bytes:
        try:
            return git_output(self._git, self._folder, words, _SECONDS, stdin.encode())
        except (OSError, subprocess.SubprocessError) as error:
            raise Refused(f"git cannot list {self._folder}: {error}") from error
