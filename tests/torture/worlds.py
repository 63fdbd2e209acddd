"""A world as it was at one moment, to be compared with later ones and to be brought back."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FactMatch = tuple[bytes | None, int, int]
"""Bytes of a file, its mode and its time; no bytes for a folder."""


@dataclass(frozen=True)
class Moment:
    """Every file and folder below some folders."""

    roots: tuple[Path, ...]
    held: dict[str, FactMatch]

    @classmethod
    def of(cls, *roots: Path) -> Moment:
        """How things are now."""
        held: dict[str, FactMatch] = {}
        for root in roots:
            for path in _walk(str(root)):
                seen = os.lstat(path)
                if stat.S_ISDIR(seen.st_mode):
                    held[path] = (None, seen.st_mode, 0)
                else:
                    with open(path, "rb") as file:
                        held[path] = (file.read(), seen.st_mode, seen.st_mtime_ns)
        return cls(roots, held)

    def come_back(self) -> None:
        """Makes everything as it was."""
        now: set[str] = set()
        for root in self.roots:
            now.update(_walk(str(root)))
        other = {
            path for path in now if path in self.held and os.path.isdir(path) != (self.held[path][0] is None)
        }
        gone = now - self.held.keys() | other
        now -= gone
        for path in sorted(gone, reverse=True):
            if os.path.isdir(path) and not os.path.islink(path):
                os.rmdir(path)
            else:
                os.unlink(path)
        for path in sorted(self.held):
            data, mode, time = self.held[path]
            if data is None:
                os.makedirs(path, exist_ok=True)
                continue
            if path in now:
                seen = os.lstat(path)
                if (seen.st_size, seen.st_mtime_ns, seen.st_mode) == (len(data), time, mode):
                    continue
                os.unlink(path)
            with open(path, "wb") as file:
                file.write(data)
            os.chmod(path, stat.S_IMODE(mode))
            os.utime(path, ns=(time, time))

    def files(self) -> dict[str, bytes]:
        """The files with what they hold."""
        return {path: data for path, (data, _, _) in self.held.items() if data is not None}

    def below(self, folder: Path) -> dict[str, FactMatch]:
        """Everything below a folder."""
        above = str(folder) + os.sep
        return {path: held for path, held in self.held.items() if path.startswith(above)}


def _walk(root: str) -> Iterable[str]:
    for folder, folders, files in os.walk(root):
        yield from (os.path.join(folder, name) for name in (*folders, *files))
