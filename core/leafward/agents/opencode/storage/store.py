"""The places where opencode keeps sessions: its data root, the databases and trees of files in it, and their sessions."""

from __future__ import annotations

import os
import re
import sqlite3
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from leafward.agents.base import Listing, Trouble, is_file
from leafward.agents.opencode.storage import trees
from leafward.agents.opencode.storage.database import is_database, opened, stamps_of
from leafward.agents.opencode.storage.recovery import Rescued, rescued
from leafward.agents.opencode.storage.sessions import rows_of
from leafward.agents.storage.databases import is_damage
from leafward.base.errors import NotASession
from leafward.base.figures import counted
from leafward.base.safe_text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from leafward.agents.base import Stamp
    from leafward.agents.opencode.storage.records import Info
    from leafward.agents.opencode.storage.sessions import ListedSession

_NAME = re.compile(r"opencode(?:-[^/\\]+)?\.db")
_NAMED = 3
"""Sessions that are named in a message about several."""
_FRESH = 2.0
"""Seconds for which facts about other sessions are used while a database is being written."""


@dataclass(slots=True)
class SessionShelf:
    """The sessions of one database."""

    rows: dict[str, ListedSession] = field(default_factory=dict)
    firsts: dict[int, list[Info]] = field(default_factory=dict)
    """Sessions by the time of their first message, without sub-agents."""
    strays: dict[str, int] = field(default_factory=dict)
    """The numbers of messages whose session is missing, by the session that they name."""
    damage: str = ""
    """The unreadable part of the database; empty where all of it is readable."""


class Shelves:
    """The sessions of databases, read again after a write. For several threads."""

    def __init__(self, agent: str, clock: Callable[[], float]) -> None:
        self._agent = agent
        self._clock = clock
        self._lock = Lock()
        self._known: dict[str, tuple[float, object, SessionShelf]] = {}
        self._first_times: dict[str, int] = {}
        self._folders: dict[str, tuple[float, object, dict[int, list[str]]]] = {}

    def shelf(self, path: str, *, lately: bool = False) -> SessionShelf:
        """The sessions of a database; with `lately` a state of some seconds ago is enough.

        Raises sqlite3.Error, OSError, or NotASession where it is not opencode's.
        """
        stamps, now = stamps_of(path), self._clock()
        with self._lock:
            known = self._known.get(path)
        if known is not None and (known[1] == stamps or (lately and now - known[0] < _FRESH)):
            return known[2]
        shelf = SessionShelf()
        with opened(path) as base:
            try:
                rows, shelf.strays = rows_of(base)
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise
                found = rescued(base)
                rows = found.rows
                if not rows:
                    raise
                shelf.damage = _rescued_words(found)
        for row in rows:
            shelf.rows[row.info.id] = row
            if row.messages and row.info.parent is None:
                shelf.firsts.setdefault(row.first, []).append(row.info)
        with self._lock:
            self._known[path] = now, stamps, shelf
        return shelf

    def siblings(self, path: str, info: Info, first: int) -> list[Info]:
        """Older sessions of a database with the same time of the first message."""
        try:
            others = self.shelf(path, lately=True).firsts.get(first, [])
        except (sqlite3.Error, OSError, NotASession):
            return []
        return [other for other in others if _age(other) < _age(info)]

    def siblings_among(self, tree: trees.Tree, info: Info, first: int) -> list[Info]:
        """Older sessions beside a session file with the same time of the first message."""
        found = []
        for path in self._begun(os.path.dirname(tree.info)).get(first, ()):
            if path == tree.info:
                continue
            try:
                other = trees.info_in(trees.read(path), path)
            except OSError:
                continue
            if other.parent is None and _age(other) < _age(info):
                found.append(other)
        return found

    def _begun(self, folder: str) -> dict[int, list[str]]:
        """The session files of a folder by the time of their first message; some seconds old at most, as every session asks."""
        changed, now = stamps_of(folder)[0], self._clock()
        with self._lock:
            known = self._folders.get(folder)
        if known is not None and known[1] == changed and now - known[0] < _FRESH:
            return known[2]
        found: dict[int, list[str]] = {}
        for name in trees.names_in(folder):
            path = os.path.join(folder, name)
            first = self._first_times.get(path)
            if not first:
                # A session without a message may have one by now.
                first = trees.first_time(trees.tree_of(path), name.removesuffix(trees.SUFFIX))
                self._first_times[path] = first
            found.setdefault(first, []).append(path)
        with self._lock:
            self._folders[folder] = now, changed, found
        return found

    # --- listings ---

    def listings(self, root: str, stop: Callable[[], bool], trouble: list[Trouble]) -> Iterator[Listing]:
        """Every session under a root, from databases and files, each from the complete source."""
        found, unreadable = self._databases(root, trouble)
        for folder, stamps in unreadable.items():
            yield Listing(folder, stamps, self._agent)
        taken: dict[str, int] = {}
        empty: set[str] = set()
        for _, shelf in found:
            for name, row in shelf.rows.items():
                taken[name] = max(taken.get(name, 0), row.stamp[1])
                if not row.messages:
                    empty.add(name)
        listed: set[str] = set()
        files = [] if stop() or os.path.isfile(root) else list(_files(root, trouble))
        if any(one.path == root for one in trouble):
            # The folder may not be listed: the same is true of all below it.
            trouble[:] = [one for one in trouble if not one.path.startswith(root + os.sep)]
        whole = {
            name.removesuffix(trees.SUFFIX)
            for folder, names in files
            for name in names
            if (session := name.removesuffix(trees.SUFFIX)) in empty
            and trees.names_in(os.path.join(trees.tree_of(os.path.join(folder, name)).messages, session))
        }
        for path, shelf in found:
            rows = {
                name: row.stamp
                for name, row in shelf.rows.items()
                if name not in listed and row.stamp[1] == taken[name] and name not in whole and _plain(name)
            }
            listed.update(rows)
            _say_unnamable(path, shelf, trouble)
            yield Listing(path, rows, self._agent)
        for folder, names in files:
            left = {
                name: stamp
                for name, stamp in names.items()
                if (session := name.removesuffix(trees.SUFFIX)) not in taken or session in whole
            }
            if left:
                yield Listing(folder, left, self._agent)

    def _databases(
        self, root: str, trouble: list[Trouble]
    ) -> tuple[list[tuple[str, SessionShelf]], dict[str, dict[str, Stamp]]]:
        """The databases under a root with their sessions; by folder, those that are damaged: reading one tells the error."""
        found: list[tuple[str, SessionShelf]] = []
        unreadable: dict[str, dict[str, Stamp]] = {}
        for path in databases_in(root, trouble):
            damaged = True
            try:
                found.append((path, shelf := self.shelf(path)))
                damaged = bool(shelf.damage)
            except (sqlite3.Error, OSError, NotASession):
                pass
            if damaged:
                folder, name = os.path.split(path)
                unreadable.setdefault(folder, {})[name] = _stamp(path)
        return found, unreadable

    def strays(self, path: str) -> dict[str, int]:
        """The numbers of messages in a database whose session is missing, by session; empty where it is unreadable."""
        try:
            return self.shelf(path).strays if os.path.isfile(path) and is_database(path) else {}
        except (sqlite3.Error, OSError, NotASession):
            return {}

    def within(self, path: str, trouble: list[Trouble] | None = None) -> Listing | None:
        """The sessions of a named database, or the session that a path into one names.

        Sessions that no path can name are added to `trouble`.
        """
        if os.path.isfile(path):
            if not is_database(path):
                return None
            try:
                shelf = self.shelf(path)
            except (sqlite3.Error, OSError, NotASession):
                return None
            if trouble is not None:
                _say_unnamable(path, shelf, trouble)
            stamps = {name: row.stamp for name, row in shelf.rows.items() if _plain(name)}
            return Listing(path, stamps, self._agent)
        base, name = os.path.split(path)
        if not name or not os.path.isfile(base) or not is_database(base):
            return None
        try:
            row = self.shelf(base).rows.get(name)
        except (sqlite3.Error, OSError, NotASession):
            return None
        return Listing(base, {name: row.stamp}, self._agent) if row is not None else None


def databases_in(root: str, trouble: list[Trouble]) -> list[str]:
    """The databases of a root, the usual channel's first; the root itself where it is one."""
    if os.path.isfile(root):
        return [root]
    try:
        names = [name for name in os.listdir(root) if _NAME.fullmatch(name)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        trouble.append(Trouble(root, error.strerror or str(error)))
        return []
    names.sort(key=lambda name: (name != "opencode.db", name))
    return [path for name in names if os.path.isfile(path := os.path.join(root, name))]


def is_store(folder: str, names: set[str]) -> bool:
    """Whether a folder with these entries is a data root, or a `storage` or `session` folder in one."""
    if any(_NAME.fullmatch(name) for name in names):
        return True
    if {"session", "message"} <= names:
        return True
    return os.path.basename(folder) == "session" and {trees.INFO_FOLDER, "message"} <= names


def root_of(path: str) -> str:
    """The data root above a session file."""
    folder = os.path.dirname(path)
    while os.path.basename(folder) != "storage":
        above = os.path.dirname(folder)
        if above == folder:
            return os.path.dirname(path)
        folder = above
    above = os.path.dirname(folder)
    # Before 0.6 a project's store lay two folders deeper.
    holder = os.path.dirname(above)
    return os.path.dirname(holder) if os.path.basename(holder) == "project" else above


def tree_beside(database: str, info: Info) -> str | None:
    """The description file of the same session in the imported tree; None without one."""
    storage = os.path.join(os.path.dirname(database), "storage", "session")
    path = os.path.join(storage, info.project or "global", f"{info.id}{trees.SUFFIX}")
    return path if os.path.isfile(path) else None


def _files(root: str, trouble: list[Trouble]) -> Iterator[tuple[str, dict[str, Stamp]]]:
    """Session files by folder. A stamp includes the folder of messages, since new messages may leave the file unchanged.

    Its size is 0 then: the size of a session is that of its messages and parts.
    """
    for folder in trees.folders_in(root, trouble):
        names: dict[str, Stamp] = {}
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.endswith(trees.SUFFIX) and is_file(entry):
                        names[entry.name] = _file_stamp(entry)
        except OSError as error:
            trouble.append(Trouble(folder, error.strerror or str(error)))
        yield folder, names


def _file_stamp(entry: os.DirEntry[str]) -> Stamp:
    try:
        now = entry.stat()
    except OSError:
        return [-1, 0]
    tree = trees.tree_of(entry.path)
    try:
        folder = os.stat(os.path.join(tree.messages, entry.name.removesuffix(trees.SUFFIX)))
    except OSError:
        return [now.st_size, now.st_mtime_ns, now.st_ino]
    return [0, max(now.st_mtime_ns, folder.st_mtime_ns), now.st_ino, now.st_mtime_ns, now.st_size]


def _stamp(path: str) -> Stamp:
    try:
        now = os.stat(path)
    except OSError:
        return [-1, 0]
    return [now.st_size, now.st_mtime_ns, now.st_ino]


def _rescued_words(found: Rescued) -> str:
    rows, torn, lost = len(found.rows), found.torn, found.lost
    read = counted(rows, "session is", "sessions are")
    torn_words = f" ({len(torn):,} without title: {_some(torn)})" if torn else ""
    left = f"{len(lost):,} cannot be read: {_some(lost)}" if lost else "others may be missing"
    return f"is a damaged database: {read} listed{torn_words}, {left}"


def _some(names: list[str]) -> str:
    return ", ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "")


def _say_unnamable(path: str, shelf: SessionShelf, trouble: list[Trouble]) -> None:
    """Adds the unlisted sessions of a database, which no path can name, to `trouble`."""
    names = sorted(name for name in shelf.rows if not _plain(name))
    if names:
        count = counted(len(names), "session is", "sessions are")
        listed = _some([repr(safe_line(name, 40)) for name in names])
        trouble.append(Trouble(path, f"{count} not listed, as a path cannot hold the id: {listed}"))


def _plain(name: str) -> bool:
    """Whether an id can be part of a path."""
    return bool(name) and name.isprintable() and "/" not in name and os.sep not in name


def _age(info: Info) -> tuple[int, str]:
    return info.created or 0, info.id


USUAL = "opencode.db"
"""The database of the usual channel."""
Store = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]
"""Variables to remove and variables to set, for opencode to use a database."""


def store_variables(database: str, usual: str, env: Mapping[str, str]) -> Store:
    """The changes to the environment that make opencode use a database; `usual` is its data root.

    None for `opencode.db` in that root, where no variable names another one.
    """
    named = env.get("OPENCODE_DB")
    folder, name = os.path.split(database)
    chosen = named if named and named != ":memory:" else USUAL
    if _same(os.path.join(usual, chosen), database):
        return (), ()
    if name != USUAL or os.path.basename(folder) != "opencode":
        return (), (("OPENCODE_DB", database),)
    removed = ("OPENCODE_DB",) if named else ()
    return removed, () if _same(folder, usual) else (("XDG_DATA_HOME", os.path.dirname(folder)),)


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
