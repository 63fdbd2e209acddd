"""The time for which Claude Code keeps a transcript, and the files that are deleted with it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from leafward.agents.claude.store import PROJECTS, SUFFIX, config_folder_above, is_uuid, place_of
from leafward.base.regular_files import open_buffered

if TYPE_CHECKING:
    from collections.abc import Iterator

USUAL_DAYS = 30
"""Days without a write after which a transcript is deleted when Claude Code starts."""
_SETTING = "cleanupPeriodDays"
_BESIDE = ("file-history", "tasks", "todos")
"""Folders of the configuration that hold files of a session under its id."""
_HEAD = 1 << 16


def cleanup_days(settings: str) -> int:
    """The number of days in a settings file; the usual number without a valid one."""
    try:
        with open_buffered(settings) as file:
            body = json.loads(file.read())
    except (OSError, ValueError, RecursionError):
        return USUAL_DAYS
    days = body.get(_SETTING) if isinstance(body, dict) else None
    return days if isinstance(days, int) and not isinstance(days, bool) and days >= 0 else USUAL_DAYS


def belongings(path: str) -> list[tuple[str, str]]:
    """A transcript and all files of its own, each with its name in a configuration folder."""
    folder = os.path.dirname(path)
    home = config_folder_above(folder)
    if home is None:
        # It lies in no store: its folder is taken for a project's folder.
        home, project = os.path.dirname(folder), os.path.join(PROJECTS, os.path.basename(folder))
    else:
        project = os.path.relpath(folder, home)
    found = [(path, os.path.join(project, os.path.basename(path)))]
    session = place_of(path).id
    if not is_uuid(session):
        return found
    found += [
        (one, os.path.join(project, os.path.relpath(one, folder)))
        for one in _below(os.path.join(folder, session))
    ]
    found += [(one, os.path.join(project, os.path.basename(one))) for one in _helpers(folder, session)]
    for name in _BESIDE:
        above = os.path.join(home, name)
        found += [(one, os.path.relpath(one, home)) for one in _named(above, session)]
    return found


def _below(folder: str) -> Iterator[str]:
    """Every file under a folder; linked folders are not entered."""
    for above, folders, names in os.walk(folder):
        folders.sort()
        yield from (one for name in sorted(names) if os.path.isfile(one := os.path.join(above, name)))


def _helpers(folder: str, session: str) -> Iterator[str]:
    """Transcripts of sub-agents that lie beside their session, as until 2.0."""
    needle = f'"{session}"'.encode("utf-8", "surrogateescape")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        if name.startswith("agent-") and name.endswith(SUFFIX) and place_of(path).helper:
            try:
                with open_buffered(path) as file:
                    if needle in file.read(_HEAD):
                        yield path
            except OSError:
                continue


def _named(folder: str, session: str) -> Iterator[str]:
    """Files and folders named with a session's id, or with names that begin with it."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith(session))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            yield path
        elif name == session:
            yield from _below(path)
