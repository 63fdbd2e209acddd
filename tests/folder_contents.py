"""The contents of a folder, to be compared with its later contents."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

Snapshot = dict[str, tuple[bytes, int]]
"""By name below the folder: the bytes of a file and its permissions; of a link where it leads, and -1."""
Contents = dict[str, bytes]
"""By name below the folder: the bytes of a file."""


def snapshot(folder: Path) -> Snapshot:
    """The files and links of a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = (os.fsencode(os.readlink(path)), -1)
        elif path.is_file():
            found[name] = (path.read_bytes(), path.stat().st_mode & 0o777)
    return found


def contents(folder: Path) -> Contents:
    """The files of a folder, without those of git."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }
