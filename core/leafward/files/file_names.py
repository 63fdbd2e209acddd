"""Names of files: one name for each, whatever an agent wrote, and whether a file lies in a folder.

A pure function of names, except for one look at the disk for each folder: whether it is a link.
"""

from __future__ import annotations

import ntpath
import os
import posixpath
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SPACES = late("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_HOME = late(r"(/(?:home|Users)/[^/]+|/root)(?=/|$)")
_WINDOWS = late(r"[A-Za-z]:[\\/]|\\\\")
_PRIVATE = late(r"^/private(?=/(?:tmp|var|etc)(?:/|$))")
"""Folders that are links to others of that name on macOS: agents write either."""
_ROOTS = late(r"/|/(?:home|Users|root|tmp|var|private|private/tmp|private/var|srv|opt|workspace)")
"""Folders that are not repositories."""


def locate(path: str, folder: str, *, tidy: bool = False) -> str:
    """A path as it is shown and compared: relative to `folder` where it lies inside, else absolute.

    With `tidy` an `@` in front is dropped and odd spaces become plain ones, as in the tools of pi 1.5.2
    (`ToolTable.tidies_paths`). `~` stays, since its owner is not known, unless `folder` lies in a home folder and the path
    turns out to be inside `folder`. A folder that is a link on this disk equals its target (`real_folder`); links in the
    path itself are not followed.
    """
    if tidy:
        path = _SPACES.sub(" ", path).removeprefix("@")
    windows = _WINDOWS.match(folder) is not None
    flavour = ntpath if windows else posixpath
    if path == "~" or path.startswith("~/"):
        home = _HOME.match(folder)
        inside = _in_folder(posixpath.normpath(home[1] + path[1:]), folder) if home else None
        return posixpath.normpath(path) if inside is None else inside
    if not path:
        return "."
    if not windows and _WINDOWS.match(path):
        return ntpath.normpath(path).replace("\\", "/")
    whole = flavour.normpath(flavour.join(folder, path))
    if windows:
        whole, folder = whole.replace("\\", "/"), ntpath.normpath(folder).replace("\\", "/")
        inside = _inside(whole, folder, str.lower)
    else:
        inside = _in_folder(whole, folder)
        whole = _PRIVATE.sub("", whole)
    return whole if inside is None else inside


@lru_cache(maxsize=256)
def real_folder(folder: str) -> str:
    """The target of a folder on this disk that is a link; the folder itself where it is not a link or missing.

    Looked up once for each folder: agents name files by either name, and a path has thousands of calls.
    """
    try:
        found = os.path.realpath(folder) if os.path.isabs(folder) and Path(folder).is_dir() else folder
    except (OSError, ValueError):
        found = folder
    return _PRIVATE.sub("", found)


def in_folder(path: str, folder: str) -> str:
    """A path that was named by somebody in a folder, which is empty where it is not known."""
    if not folder or not path or path.startswith(("~", "/")) or _WINDOWS.match(path):
        return path or folder
    return f"{folder.rstrip('/')}/{path}"


def within(path: str, folder: str, cwd: str, *, repository: bool = False) -> bool:
    """Whether a located file is a folder, lies below it, or with `repository` may lie in the folder's repository."""
    cwd = _PRIVATE.sub("", cwd) or "/"
    real = real_folder(cwd)
    return _within(path, folder, cwd, repository) or (
        real != cwd
        and not (path.startswith("/") and folder.startswith("/"))
        and _within(path, folder, real, repository)
    )


def matches(path: str, pattern: Sequence[str]) -> bool:
    """Whether a located file is one of those that a shell's pattern names, or lies below one; the pattern part by part."""
    words = path.split("/")
    return len(words) >= len(pattern) and all(map(fnmatchcase, words, pattern))


def _within(path: str, folder: str, cwd: str, repository: bool) -> bool:
    path, folder = (posixpath.normpath(posixpath.join(cwd, one)) for one in (path, folder))
    if _inside(path, folder) is not None:
        return True
    if not repository:
        return False
    if not (path.startswith("/") and folder.startswith("/")):
        return True
    common = posixpath.commonpath((path, folder))
    return _ROOTS.fullmatch(common) is None and _HOME.fullmatch(common) is None


def _in_folder(path: str, folder: str) -> str | None:
    """The rest of a path in a folder under any of its names; None where it lies elsewhere."""
    inside = _inside(path, folder)
    if inside is None:
        path, folder = _PRIVATE.sub("", path), _PRIVATE.sub("", folder)
        inside = _inside(path, folder)
    if inside is None and path.startswith("/"):
        inside = _inside(path, real_folder(folder))
    return inside


def _inside(path: str, folder: str, alike: Callable[[str], str] = str) -> str | None:
    """The rest of a path that lies in `folder`, with `/` between its parts; None where it does not."""
    folder = posixpath.normpath(folder) if folder else ""
    if alike(path) == alike(folder):
        return "."
    stem = folder.rstrip("/") + "/"
    return path[len(stem) :] if folder and alike(path).startswith(alike(stem)) else None


def utf16_order(path: str) -> bytes:
    """Sorts paths as JavaScript sorts strings: by UTF-16 units."""
    return path.encode("utf-16-be", "surrogatepass")
