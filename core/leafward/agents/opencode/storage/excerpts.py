"""One session of a database and its sub-agents', copied to a small database of its own that our reader can open.

Only readable tables are copied, and only rows of these sessions. SQLite itself moves the rows, so that every value stays as it is
stored.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.opencode.storage.database import opened
from leafward.agents.opencode.storage.recovery import rescued
from leafward.agents.opencode.storage.sessions import rows_of
from leafward.agents.storage.databases import is_damage
from leafward.base.errors import NotASession

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from leafward.agents.base import Stamp
    from leafward.agents.opencode.storage.database import Database
    from leafward.agents.opencode.storage.sessions import ListedSession

_OWNED = {
    "session": ("id", "= ?"),
    "message": ("session_id", "= ?"),
    "part": ("message_id", "IN (SELECT id FROM main.message WHERE session_id = ?)"),
    "session_message": ("session_id", "= ?"),
    "event": ("aggregate_id", "= ?"),
    "event_sequence": ("aggregate_id", "= ?"),
}
"""The copied tables: the column with the session of a row, and its condition."""
_SAID = ("message", "part", "session_message")
_UNNUMBERED = "event_sequence"
"""The rows of all other tables also have numbers, which the copy keeps."""
_INDEXES = (
    ("message", "session_id"),
    ("part", "message_id"),
    ("part", "session_id"),
    ("session_message", "session_id"),
    ("event", "aggregate_id"),
)
_OF_WRITING = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_FSYNC,
    sqlite3.SQLITE_IOERR_TRUNCATE,
}
"""Errors of SQLite that are the copy's, since the source is only read."""
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,80}")


class Family(NamedTuple):
    """Facts about the sessions that are copied together."""

    stamps: dict[str, Stamp]
    """Of each session, the requested one first."""
    size: int
    """Bytes of their content."""
    beside_damage: bool = False
    """Whether the database is partly unreadable."""


class SessionCopy:
    """The copy of a session, made or planned."""

    def __init__(self, database: str, session: str) -> None:
        """Raises OSError or NotASession where the database cannot be read or does not hold the session."""
        self._database = database
        self._session = session
        with _reading(database) as base:
            self._family = _family(base, session)
        if session not in self._family.stamps:
            raise NotASession(f"{database} holds no session {session}")
        self.members = tuple(os.path.join(database, name) for name in self._family.stamps)
        self.size = self._family.size
        short = (
            session
            if _PLAIN.fullmatch(session)
            else hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        )
        self.name = f"opencode-{short}.db"

    def is_at(self, path: Path) -> bool:
        """Whether a file holds the same sessions in their present state."""
        try:
            with _reading(str(path)) as base:
                return _family(base, self._session)[:2] == self._family[:2]
        except (OSError, NotASession):
            return False

    def write(self, path: Path) -> None:
        """Writes the sessions to an existing empty file. Raises OSError where that fails, NotASession where the source fails."""
        with _reading(self._database) as base:
            try:
                self._write(base, path)
            except sqlite3.Error as error:
                code = getattr(error, "sqlite_errorcode", 0)
                if code & 0xFF in _OF_WRITING or code in _OF_WRITING:
                    raise OSError(errno.EIO, str(error), str(path)) from error
                raise

    def _write(self, base: Database, path: Path) -> None:
        base.ask("ATTACH DATABASE ? AS copy", path.absolute().as_uri())
        base.ask("PRAGMA copy.journal_mode = OFF")
        base.ask("BEGIN")
        # Everything is read as of one moment, whatever is written meanwhile; SQLite writes no more to a copy in whose transaction a
        # page could not be read.
        family = self._family if self._family.beside_damage else _family(base, self._session)
        for table, (column, _) in _OWNED.items():
            if column in base.columns(table):
                _copy(base, table, family.stamps)
        for table, column in _INDEXES:
            if column in base.columns(table):
                base.ask(f"CREATE INDEX copy.{table}_{column} ON {table} ({column})")
        base.ask("COMMIT")
        base.ask("DETACH DATABASE copy")


@contextmanager
def _reading(path: str) -> Iterator[Database]:
    """A database open for reading. Raises OSError, NotASession."""
    try:
        with opened(path) as base:
            yield base
    except sqlite3.Error as error:
        raise NotASession(f"cannot read {path}: {error}") from error


def _family(base: Database, session: str) -> Family:
    """A session and all sessions that the task tool made from it, at any depth; empty where it is missing."""
    listed, beside_damage = _rows(base)
    rows = {row.info.id: row for row in listed}
    below: dict[str, list[str]] = {}
    for name, row in rows.items():
        if row.info.parent is not None:
            below.setdefault(row.info.parent, []).append(name)
    stamps: dict[str, Stamp] = {}
    waiting = [session]
    while waiting:
        name = waiting.pop()
        if name in rows and name not in stamps:
            stamps[name] = rows[name].stamp
            waiting += below.get(name, ())
    size = sum(_size(base, table, name) for table in _SAID for name in stamps)
    return Family(stamps, size, beside_damage)


def _rows(base: Database) -> tuple[list[ListedSession], bool]:
    """Every readable session, and whether others are unreadable: sessions on good pages can be copied regardless of those."""
    try:
        return rows_of(base)[0], False
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return rescued(base).rows, True


def _size(base: Database, table: str, session: str) -> int:
    column, whose = _OWNED[table]
    if not {column, "data"} <= base.columns(table):
        return 0
    query = f"SELECT SUM(LENGTH(CAST(data AS BLOB))) FROM main.{table} WHERE {column} {whose}"  # noqa: S608  # names of our own
    return base.ask(query, session).fetchone()[0] or 0


def _copy(base: Database, table: str, sessions: Iterable[str]) -> None:
    """Makes an empty table, then copies the rows of some sessions into it."""
    column, whose = _OWNED[table]
    quoted = ['"{}"'.format(name.replace('"', '""')) for name in sorted(base.columns(table))]
    base.ask(f"CREATE TABLE copy.{table} ({', '.join(quoted)})")
    names = ", ".join(quoted if table == _UNNUMBERED else ["rowid", *quoted])
    for session in sessions:
        base.ask(
            f"INSERT INTO copy.{table} ({names}) SELECT {names} FROM main.{table} WHERE {column} {whose}",  # noqa: S608  # names quoted
            session,
        )
