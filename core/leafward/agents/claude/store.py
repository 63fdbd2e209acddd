"""Where Claude Code keeps sessions, and what the names of its files say."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.base import Trouble

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.agents.base import Stamp

PROJECTS = "projects"
HELPERS = "subagents"
"""The folder beside a session that holds its sub-agents (2.1)."""
SUFFIX = ".jsonl"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_AGENT = re.compile(r"agent-[\w.-]{1,80}\Z")
_DEPTH = 6
"""Folders below a project that are searched: workflows keep their sub-agents one or two deeper."""


class Place(NamedTuple):
    """What the path of a transcript says."""

    id: str
    """The session's id; of a sub-agent its own name; empty where the name is neither."""
    helper: bool
    """Whether it is a sub-agent's."""
    parent: str | None
    """The transcript of the session that started it, where the folders say it."""
    project: str
    """The folder of its project's transcripts."""


def stem(path: str) -> str:
    """The name of a file without its ending."""
    return os.path.basename(path).removesuffix(SUFFIX)


def place_of(path: str) -> Place:
    """What the path of a transcript says."""
    name = stem(path)
    folder = os.path.dirname(path)
    helper = _AGENT.match(name) is not None
    if helper:
        at = folder
        for _ in range(_DEPTH):
            above, last = os.path.split(at)
            if last == HELPERS:
                project, session = os.path.split(above)
                return Place(name, True, os.path.join(project, session + SUFFIX), project)
            if above == at:
                break
            at = above
        return Place(name, True, None, folder)
    return Place(name if is_uuid(name) else "", False, None, folder)


def is_uuid(name: str) -> bool:
    """Whether a name is an id as Claude Code makes them."""
    return _UUID.match(name) is not None


def walk(
    root: str, stop: Callable[[], bool], trouble: list[Trouble]
) -> Iterator[tuple[str, dict[str, Stamp]]]:
    """The transcripts under a configuration folder: each folder with what lies in it. Empty files are none."""
    top = os.path.join(root, PROJECTS)
    if not os.path.isdir(top):
        # A folder of projects, or one project, may be named itself.
        top = root
    pending = [(top, 0)]
    while pending and not stop():
        folder, depth = pending.pop()
        files: dict[str, Stamp] = {}
        below: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.endswith(SUFFIX):
                        if entry.is_file():
                            now = entry.stat()
                            if now.st_size and (depth < 2 or _AGENT.match(stem(entry.name))):
                                files[entry.name] = [now.st_size, now.st_mtime_ns, now.st_ino]
                    elif depth < _DEPTH and "." not in entry.name and entry.is_dir(follow_symlinks=False):
                        below.append(entry.path)
        except FileNotFoundError:
            continue
        except OSError as error:
            trouble.append(Trouble(folder, error.strerror or str(error)))
            continue
        pending += [
            (path, depth + 1)
            for path in sorted(below, reverse=True)
            # Beside a session lie its results and copies of files, which may be many; only its helpers are sessions.
            if depth < 1 or depth > 2 or os.path.basename(path) == HELPERS or is_uuid(os.path.basename(path))
        ]
        if files:
            yield folder, files


def is_enclosed(folder: str) -> str | None:
    """The configuration folder that a transcript's folder lies in; None where it lies in none."""
    at = folder
    for _ in range(_DEPTH + 2):
        above, name = os.path.split(at)
        if name == PROJECTS:
            return above
        if above == at:
            return None
        at = above
    return None
