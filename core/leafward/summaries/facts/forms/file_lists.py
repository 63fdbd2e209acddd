"""Lists of files in a line of a summary, which name a folder that several of them share only once.

``Read: `setup.py`; in `server/src/`: `index.ts` 2×, `pages/home.ts` ``
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

READ = "Read: "
NAMED = "Named in calls: "
CHANGED = "Changed: "
"""The beginning of a line of files without further details."""
LISTS = frozenset({READ, NAMED, CHANGED})
"""Groups of files, of which a summary has one line each."""
_LISTED = late(rf"(?m)^(?:- )?(?:{READ}|{NAMED}|{CHANGED}).{{1,4000}}")
_SHARED = late(r"(; )?in `([^`\n]{1,300}/)`: ([^;\n]{1,4000})")
_FILE = late(r"`([^`\n]{1,300})`")
_LEAST_SAVED = 12
"""Characters that a folder has to save before it is named apart."""


def joined(files: Sequence[str]) -> str:
    """A list of files, each of them a path between backticks with what is told of it; folders that save room stand once."""
    rest, parts = list(files), []
    while folder := _shared(rest):
        parts.append(f"in `{folder}`: {', '.join(_inside(rest, folder))}")
        rest = [file for file in rest if not _lies_in(file, folder)]
    return "; ".join([*([", ".join(rest)] if rest else ()), *parts])


def _inside(files: Sequence[str], folder: str) -> list[str]:
    return [f"`{file[len(folder) + 1 :]}" for file in files if _lies_in(file, folder)]


def _lies_in(file: str, folder: str) -> bool:
    # A semicolon would end the list of the folder.
    return file.startswith(f"`{folder}") and ";" not in file


def _shared(files: Sequence[str]) -> str:
    """The folder that saves most characters where it stands once for all files in it; empty where none saves enough."""
    counts: dict[str, int] = {}
    for file in files:
        path = file[1:].partition("`")[0]
        end = path.find("/", 1)
        while end > 0 and ";" not in file:
            counts[path[: end + 1]] = counts.get(path[: end + 1], 0) + 1
            end = path.find("/", end + 1)
    saved = {folder: (count - 1) * len(folder) - len("; in ``:") for folder, count in counts.items()}
    best = max(saved, key=saved.__getitem__, default="")
    return best if saved.get(best, 0) >= _LEAST_SAVED else ""


def with_whole_paths(text: str) -> str:
    """A text in which every file of such a list has its whole path."""
    return _LISTED.sub(_with_whole_paths, text) if "in `" in text else text


def _with_whole_paths(line: re.Match[str]) -> str:
    return _SHARED.sub(_apart, line[0])


def _apart(part: re.Match[str]) -> str:
    return (", " if part[1] else "") + _FILE.sub(lambda file: f"`{part[2]}{file[1]}`", part[3])
