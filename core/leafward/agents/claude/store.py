"""The places where Claude Code keeps sessions, and the meaning of its file names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.base import Trouble, is_file
from leafward.agents.claude.config_folders import config_folders
from leafward.base.errors import Refused
from leafward.base.late_pattern import late

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from leafward.agents.base import Stamp

PROJECTS = "projects"
HELPERS = "subagents"
"""The folder beside a session that holds its sub-agents (2.1)."""
SUFFIX = ".jsonl"
AGENT = "agent-"
"""Prefix of the names of sub-agents' transcripts; the id follows."""
_UUID = late(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_AGENT = late(AGENT + r"[\w.-]{1,80}\Z")
_NOT_PLAIN = late(r"[^A-Za-z0-9]")
_LONGEST_NAME = 200
"""Characters of a folder's name that come from its path."""
_DEPTH = 6
"""Folders below a project that are searched: workflows keep their sub-agents one or two levels deeper."""


class TranscriptName(NamedTuple):
    """Facts in the path of a transcript."""

    id: str
    """The session's id; for a sub-agent its own name; empty where the name is neither."""
    helper: bool
    """Whether it is a sub-agent's."""
    parent: str | None
    """The transcript of the session that started it, where the folders tell."""
    project: str
    """The folder of its project's transcripts."""


def stem(path: str) -> str:
    """The name of a file without its ending."""
    return os.path.basename(path).removesuffix(SUFFIX)


def place_of(path: str) -> TranscriptName:
    """The facts in the path of a transcript."""
    name = stem(path)
    folder = os.path.dirname(path)
    helper = _AGENT.match(name) is not None
    if helper:
        at = folder
        for _ in range(_DEPTH):
            above, last = os.path.split(at)
            if last == HELPERS:
                project, session = os.path.split(above)
                return TranscriptName(name, True, os.path.join(project, session + SUFFIX), project)
            if above == at:
                break
            at = above
        return TranscriptName(name, True, None, folder)
    return TranscriptName(name if is_uuid(name) else "", False, None, folder)


def is_uuid(name: str) -> bool:
    """Whether a name is an id in Claude Code's form."""
    return _UUID.match(name) is not None


def stands_for(name: str, path: str) -> bool:
    """Whether a project's folder of this name belongs to a path; names for long paths end in a number of Claude Code's own."""
    plain = _NOT_PLAIN.sub("-", path)
    return plain == name or (len(plain) > _LONGEST_NAME and name.startswith(plain[:_LONGEST_NAME]))


def folder_for(projects: str, path: str) -> str:
    """The project's folder in which Claude Code looks for the sessions of a path.

    Raises Refused for a long path without a folder: only Claude Code knows how the folder's name would end.
    """
    plain = _NOT_PLAIN.sub("-", path)
    if len(plain) <= _LONGEST_NAME:
        return os.path.join(projects, plain)
    try:
        names = sorted(name for name in os.listdir(projects) if stands_for(name, path))
    except OSError:
        names = []
    if len(names) != 1:
        raise Refused(
            f"{path} is too long to tell where Claude Code keeps its sessions: start one there first"
        )
    return os.path.join(projects, names[0])


def config_folder(env: Mapping[str, str]) -> str:
    """The configuration folder that Claude Code itself uses: `$CLAUDE_CONFIG_DIR`, else `~/.claude`."""
    folders = config_folders(env)
    if folders:
        return os.path.abspath(folders[0])
    home = env.get("HOME") or env.get("USERPROFILE") or os.path.expanduser("~")
    return os.path.join(os.path.abspath(home), ".claude")


def walk(
    root: str, stop: Callable[[], bool], trouble: list[Trouble]
) -> Iterator[tuple[str, dict[str, Stamp], tuple[str, ...]]]:
    """The transcripts under a configuration folder, by folder, each with its empty files, which are no sessions."""
    top = os.path.join(root, PROJECTS)
    if not os.path.isdir(top):
        # A folder of projects, or one project, may be named itself.
        top = root
    pending = [(top, 0)]
    while pending and not stop():
        folder, depth = pending.pop()
        files: dict[str, Stamp] = {}
        below: list[str] = []
        empty: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.endswith(SUFFIX):
                        try:
                            now = entry.stat() if entry.is_file() else None
                        except OSError as error:
                            # A link to itself hides none of the others.
                            trouble.append(Trouble(entry.path, error.strerror or str(error)))
                            continue
                        if now is None or (depth >= 2 and not _AGENT.match(stem(entry.name))):
                            continue
                        if now.st_size:
                            files[entry.name] = [now.st_size, now.st_mtime_ns, now.st_ino]
                        else:
                            empty.append(entry.name)
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
            # Results and copies of files lie beside a session, perhaps many; only its sub-agents are sessions.
            if depth < 1 or depth > 2 or os.path.basename(path) == HELPERS or is_uuid(os.path.basename(path))
        ]
        if files or empty:
            yield folder, files, tuple(sorted(empty))


def config_folder_above(folder: str) -> str | None:
    """The configuration folder of a transcript's folder; None where there is none."""
    at = folder
    for _ in range(_DEPTH + 2):
        above, name = os.path.split(at)
        if name == PROJECTS:
            return above
        if above == at:
            return None
        at = above
    return None


def transcripts_in(folder: str, *, of_subagents: bool) -> list[str]:
    """The transcripts in a folder, of sub-agents or of sessions, by name; empty where the folder cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return sorted(
                entry.path
                for entry in entries
                if entry.name.endswith(SUFFIX)
                and entry.name.startswith(AGENT) is of_subagents
                and is_file(entry)
            )
    except OSError:
        return []
