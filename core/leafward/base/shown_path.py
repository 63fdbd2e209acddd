"""Paths as rows show them: relative to a folder, and shortened in the middle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable

NO_PROJECT_FOLDER = "project folder not found"
"""The words wherever the project folder of a session is missing."""
_LONGEST = 300
"""Most characters of a folder in a message."""


def no_project_folder(folder: str) -> str:
    """The message that a session's project folder is missing, with its name. Safe, one line."""
    return f"{NO_PROJECT_FOLDER}: {safe_line(folder, _LONGEST) or 'not in file'}"


def project_name(folder: str, longest: int = 24) -> str:
    """The last part of a project's folder, safe and at most so many characters; a worktree has its project's name before its own.

    Worktrees are told by the folder that tools keep them in: `app/.worktrees/1` and `app/.claude/worktrees/1` are `app/1`.
    """
    parts = folder.replace("\\", "/").rstrip("/").split("/")
    name = parts.pop()
    if parts and parts[-1].lstrip(".") == "worktrees":
        project = next((part for part in reversed(parts[:-1]) if part[:1] not in ("", ".")), "")
        name = f"{project}/{name}" if project else name
    return safe_line(name or folder, longest)


def below(path: str, folder: str) -> str:
    """`path` relative to `folder`; unchanged where it lies elsewhere, `.` where it is that folder."""
    start = folder.rstrip("/\\")
    if not start or not path.startswith(start):
        return path
    rest = path[len(start) :]
    if rest.rstrip("/\\") == "":
        return "."
    return rest.lstrip("/\\") if rest[0] in "/\\" else path


def split_path(path: str) -> tuple[str, str]:
    """Folder, with its last separator, and name of `path`; their sum is `path`. A trailing separator belongs to the name."""
    body = path.rstrip("/\\") or path
    cut = max(body.rfind("/"), body.rfind("\\")) + 1
    return path[:cut], path[cut:]


def shortened(path: str, width: int, cells: Callable[[str], int], gap: str = "…") -> str:
    """`path` in `width` cells: it loses its middle, then its folders; a file name that is wider stays as it is.

    `cells` measures a text; `gap` stands for the folders left out.
    """
    if cells(path) <= width:
        return path
    folder, name = split_path(path)
    separator = folder[-1:] or "/"
    parts = folder[:-1].split(separator) if folder else []
    # The first folder tells most (the project, the home folder), then those next to the name.
    first = parts[0] if parts and parts[0] else separator.join(parts[:2])
    for start in (first + separator, ""):
        room = width - cells(start) - cells(gap) - cells(separator) - cells(name)
        if not parts or room < 0:
            continue
        kept = ""
        for part in reversed(parts[(first.count(separator) + 1) if start else 0 :]):
            longer = part + separator + kept
            if cells(longer) > room:
                break
            kept = longer
        return f"{start}{gap}{separator}{kept}{name}"
    return name
