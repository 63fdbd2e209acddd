"""The surroundings of a session: its place, and the store's knowledge of other sessions."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward.agents.opencode.storage import exports, trees
from leafward.agents.opencode.storage.database import is_database
from leafward.agents.opencode.storage.store import tree_beside
from leafward.base.errors import NotASession

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.agents.opencode.storage.records import Info
    from leafward.agents.opencode.storage.store import Shelves
    from leafward.agents.opencode.storage.trees import Tree
    from leafward.session.source import SourceRemark


@dataclass(slots=True)
class Setting:
    """The place of a session, and the store's knowledge of other sessions."""

    session: str
    database: str | None = None
    tree: Tree | None = None
    export: str | None = None
    """The document that opencode exported it to."""
    siblings: Callable[[Info, int], list[Info]] = lambda _info, _first: []
    """Older sessions with the same time of the first message."""
    path_of: Callable[[str], str | None] = lambda _session: None
    """The path of another session."""
    copy: Callable[[Info], str | None] = lambda _info: None
    """The folder of the same session's messages in the imported tree of files; None without one."""
    watched: Callable[[], Callable[[], bool] | None] = lambda: None
    """Called before a reading: gives a function that tells whether the session itself, among the many in its database, changed
    since."""
    notes: list[SourceRemark] = field(default_factory=list)


def setting_of(shelves: Shelves, path: str) -> Setting:
    """The setting of a session by its path: the path of its file, or of a database followed by its id. Raises NotASession."""
    base, session = os.path.split(path)
    if os.path.isfile(base):
        return _in_database(shelves, base, session)
    if path.endswith(".db") or is_database(path):
        raise NotASession(_refusal(shelves, path))
    if os.path.isdir(path):
        raise NotASession(f"{path} is a folder, not a session file")
    if exports.is_export(path):
        return Setting(os.path.basename(path), export=path, path_of=paths_in_folder(path))
    tree = trees.tree_of(path)
    return Setting(
        os.path.basename(path),
        tree=tree,
        siblings=lambda info, first: shelves.siblings_among(tree, info, first),
        path_of=paths_in_folder(path),
    )


def _in_database(shelves: Shelves, base: str, session: str) -> Setting:
    def stamp() -> object:
        try:
            row = shelves.shelf(base).rows.get(session)
        except (sqlite3.Error, OSError, NotASession):
            return None
        return row.stamp if row is not None else None

    def watched() -> Callable[[], bool] | None:
        before = stamp()
        return (lambda: stamp() != before) if before is not None else None

    def copy(info: Info) -> str | None:
        beside = tree_beside(base, info)
        return os.path.join(trees.tree_of(beside).messages, info.id) if beside is not None else None

    return Setting(
        session,
        database=base,
        siblings=lambda info, first: shelves.siblings(base, info, first),
        path_of=paths_in_database(shelves, base),
        copy=copy,
        watched=watched,
    )


def paths_in_database(shelves: Shelves, base: str) -> Callable[[str], str | None]:
    """A function for the paths of a database's other sessions."""

    def path_of(session: str) -> str | None:
        try:
            rows = shelves.shelf(base, lately=True).rows
        except (sqlite3.Error, OSError, NotASession):
            return None
        return os.path.join(base, session) if session in rows else None

    return path_of


def _refusal(shelves: Shelves, path: str) -> str:
    """The message about a database that was named as if it were a session."""
    try:
        shelf = shelves.shelf(path)
    except NotASession as error:
        return str(error)
    except sqlite3.Error as error:
        return f"cannot read {path}: {error}"
    except OSError as error:
        return f"cannot read {path}: {error.strerror or error}"
    if shelf.damage:
        return f"{path} {shelf.damage}"
    return f"{path} holds {len(shelf.rows):,} sessions: name one as {os.path.basename(path)}/ID; `leafward ls` lists them"


def paths_in_folder(path: str) -> Callable[[str], str | None]:
    """A function for the paths of other sessions beside a session's file."""

    def file_of(session: str) -> str | None:
        beside = os.path.join(os.path.dirname(path), f"{session}{trees.SUFFIX}")
        return beside if os.path.isfile(beside) else None

    return file_of
