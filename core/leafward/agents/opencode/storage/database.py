"""opencode's database (1.2 and later): opening it, and the stored content of its sessions.

Columns are queried by name, since versions differ in them. Only the few tables named here can be read: a connection refuses
all others, so that accounts and credentials are never touched.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from leafward.agents.opencode.storage import newer_engine as newer
from leafward.agents.opencode.storage.records import (
    MESSAGE,
    PART,
    UNKNOWN,
    MessageRecord,
    StoredRow,
    by_time,
    dumped,
    in_order,
    object_in,
    whole,
)
from leafward.agents.storage.databases import is_damage, opened_read_only, tables_only
from leafward.base.errors import NotASession
from leafward.base.regular_files import open_regular
from leafward.session.entries import object_at, text_at
from leafward.session.file_stamps import may_change_unseen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAGIC = b"SQLite format 3\0"
TABLES = frozenset(
    {"session", "message", "part", "event", "event_sequence", "project", "session_message", "sqlite_master"}
)
"""Tables that may be read."""
_TOGETHER = 64
"""Messages whose parts are asked for in one query."""
_NEEDED = {
    "session": {"id", "directory", "time_created"},
    "message": {"id", "session_id", "data"},
    "part": {"id", "message_id", "data"},
}
_BY_ROW = ("message", "part", "event", "session_message")
"""Tables whose rows are asked for by their numbers."""


def is_database(path: str) -> bool:
    """Whether a file is one of SQLite's."""
    try:
        with open_regular(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


@contextmanager
def opened(path: str) -> Iterator[Database]:
    """A database of opencode, open for reading. Raises sqlite3.Error, OSError, or NotASession where it is another program's."""
    with opened_read_only(path) as connection:
        base = Database(connection)
        for table, needed in _NEEDED.items():
            missing = needed - base.columns(table)
            if missing:
                what = (
                    f"no table {table}"
                    if missing == needed
                    else f"no {', '.join(sorted(missing))} in {table}"
                )
                raise NotASession(f"{path} is not a database of opencode: {what}")
        for table in _BY_ROW:
            if "rowid" in map(str.lower, base.columns(table)):
                # It would hide the number by which a row is found again.
                raise NotASession(f"{path} is not a database of opencode: {table} has a column rowid")
        yield base


class Database:
    """The few queries for a database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.set_authorizer(_only_ours)
        self._connection = connection
        self._columns: dict[str, set[str]] = {}

    def ask(self, query: str, *values: object) -> sqlite3.Cursor:
        """Runs a query over tables that may be read."""
        return self._connection.execute(query, values)

    def columns(self, table: str) -> set[str]:
        """The names of a table's columns; none where the table is missing."""
        if table not in self._columns:
            self._columns[table] = {str(row[1]) for row in self.ask(f"PRAGMA table_info({table})")}
        return self._columns[table]

    def row(self, session: str) -> dict[str, Any]:
        """A session's row, by column; empty where the session is missing."""
        cursor = self.ask("SELECT * FROM session WHERE id = ?", session)
        found = cursor.fetchone()
        names = [str(column[0]) for column in cursor.description]
        return dict(zip(names, found, strict=True)) if found is not None else {}

    def latest_model(self) -> dict[str, Any]:
        """The model of the session used last that names one: `id` and `providerID`; empty without one."""
        if not {"model", "time_updated"} <= self.columns("session"):
            return {}
        query = "SELECT model FROM session WHERE model IS NOT NULL ORDER BY time_updated DESC LIMIT 1"
        found = self.ask(query).fetchone()
        return object_in(found[0]) if found is not None and isinstance(found[0], str) else {}

    def times(self, session: str) -> list[int]:
        """The times of its messages, in order."""
        query = "SELECT time_created FROM message WHERE session_id = ? ORDER BY time_created, id"
        found = [whole(made) or 0 for (made,) in self.ask(query, session)]
        if self.has_newer:
            query = "SELECT time_created FROM session_message WHERE session_id = ?"
            found = sorted([*found, *(whole(made) or 0 for (made,) in self.ask(query, session))])
        return found

    # --- messages ---

    def messages(
        self,
        session: str,
        path: str,
        broken: Callable[[str, Exception], object],
        behind: tuple[int, str] | None = None,
    ) -> Iterator[MessageRecord]:
        """Its messages by time with their parts, for both engines; `broken` is called for parts that cannot be read.

        With `behind`, a time and an id, only messages of the usual engine, behind that one.
        """
        found = self._usual_messages(session, path, broken, behind)
        if behind is not None:
            return found
        return merge(found, self._newer(session, path), key=by_time) if self.has_newer else found

    def _usual_messages(
        self,
        session: str,
        path: str,
        broken: Callable[[str, Exception], object],
        behind: tuple[int, str] | None,
    ) -> Iterator[MessageRecord]:
        time, written = self._times("message")
        row = f"SELECT id, {time}, rowid, CAST(data AS BLOB), {written} FROM message"  # noqa: S608  # names of our own
        later = f" AND ({time}, id) > (?, ?)" if behind is not None else ""
        which = f"WHERE session_id = ?{later} ORDER BY {time}, id"
        values = (session, *(behind or ()))
        seen: set[str] = set()
        waiting: list[tuple[Any, ...]] = []
        try:
            for found in self.ask(f"{row} {which}", *values):
                if found[0] in seen:
                    # A table without its key may hold one id a thousand times; all parts are those of the first.
                    together, waiting = waiting, []
                    yield from self._together(together, path, broken)
                    yield _record(found, [], path)
                    continue
                seen.add(found[0])
                waiting.append(found)
                if len(waiting) == _TOGETHER:
                    together, waiting = waiting, []
                    yield from self._together(together, path, broken)
        except sqlite3.DatabaseError as error:
            yield from self._together(waiting, path, broken)
            if not is_damage(error):
                raise
            # The index continues where the page of a message cannot be read.
            names = [name for (name,) in self.ask(f"SELECT id FROM message {which}", *values)]  # noqa: S608  # names of our own
            for name in names:
                if name in seen:
                    continue
                try:
                    (found,) = self.ask(f"{row} WHERE id = ?", name)
                except (sqlite3.DatabaseError, ValueError) as reason:
                    broken(name, reason)
                else:
                    yield self._message(found, path, broken)
        else:
            yield from self._together(waiting, path, broken)

    def _together(
        self, messages: list[tuple[Any, ...]], path: str, broken: Callable[[str, Exception], object]
    ) -> Iterator[MessageRecord]:
        """Some messages with their parts from one query, which costs less than one for each; one by one behind damage."""
        if not messages:
            return
        time, written = self._times("part")
        asked = ", ".join(f"({number}, ?)" for number in range(len(messages)))
        query = (
            f"SELECT column1, part.id, {time}, part.rowid, CAST(part.data AS BLOB), {written}"  # noqa: S608  # names of our own
            f" FROM (VALUES {asked}) LEFT JOIN part ON part.message_id = column2"
        )
        done = 0
        try:
            rows = self.ask(query, *(message[0] for message in messages))
            # A left join keeps the order of its left side, so that the parts of one message at a time are in memory.
            for number, of_message in groupby(rows, itemgetter(0)):
                parts = [_part(path, *part) for _, *part in of_message if part[2] is not None]
                yield _record(messages[number], in_order(parts), path)
                done += 1
        except sqlite3.DatabaseError:
            for message in messages[done:]:
                yield self._message(message, path, broken)

    def _message(
        self, found: tuple[Any, ...], path: str, broken: Callable[[str, Exception], object]
    ) -> MessageRecord:
        parts: list[StoredRow] = []
        try:
            parts = self.parts(found[0], path)
        except sqlite3.DatabaseError as error:
            broken(found[0], error)
        return _record(found, parts, path)

    def parts(self, message: str, path: str) -> list[StoredRow]:
        """The parts of a message, in order."""
        time, written = self._times("part")
        query = f"SELECT id, {time}, rowid, CAST(data AS BLOB), {written} FROM part WHERE message_id = ?"  # noqa: S608  # names of our own
        return in_order([_part(path, *found) for found in self.ask(query, message)])

    def _times(self, table: str) -> tuple[str, str]:
        """The columns of messages or parts that tell when a row was made and when it was written; `0` and `NULL` without them."""
        have = self.columns(table)
        return (
            f"{table}.time_created" if "time_created" in have else "0",
            f"{table}.time_updated" if "time_updated" in have else "NULL",
        )

    def texts(self, session: str) -> Iterator[bytes]:
        """The stored texts of a session: its title, messages and parts, including deleted ones, in no order."""
        messages = "SELECT CAST(data AS BLOB) FROM message WHERE session_id = ?"
        parts = "SELECT CAST(data AS BLOB) FROM part WHERE message_id IN (SELECT id FROM message WHERE session_id = ?)"
        queries = [messages, parts]
        if "title" in self.columns("session"):
            queries.append("SELECT CAST(title AS BLOB) FROM session WHERE id = ?")
        if self.has_newer:
            queries.append("SELECT CAST(data AS BLOB) FROM session_message WHERE session_id = ?")
        for query in queries:
            for (data,) in self.ask(query, session):
                yield data or b""
        if {"aggregate_id", "seq", "type", "data"} <= self.columns("event") and any(
            any(self._events(session, kind))
            for kind in ("message.removed.", "session.next.revert.committed.")
        ):
            for (data,) in self.ask("SELECT CAST(data AS BLOB) FROM event WHERE aggregate_id = ?", session):
                yield data or b""

    # --- the newer engine ---

    @property
    def has_newer(self) -> bool:
        """Whether there is a table of the newer engine's messages, with all the columns that are needed."""
        return {"id", "session_id", "type", "seq", "time_created", "data"} <= self.columns("session_message")

    def is_newer(self, message: str) -> bool:
        """Whether a message belongs to the newer engine."""
        query = "SELECT 1 FROM session_message WHERE id = ?"
        return self.has_newer and next(iter(self.ask(query, message)), None) is not None

    def _teller(self, session: str, path: str) -> newer.Teller:
        try:
            row = self.row(session)
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            row = {}
        folder, inside = str(row.get("directory") or ""), str(row.get("path") or "")
        root = folder.removesuffix(inside).rstrip("/") if inside else folder
        return newer.Teller(path, root, object_in(str(row.get("model") or "")))

    def _newer(self, session: str, path: str) -> Iterator[MessageRecord]:
        teller = self._teller(session, path)
        query = (
            "SELECT id, type, time_created, rowid, CAST(data AS BLOB) FROM session_message"
            " WHERE session_id = ? ORDER BY seq"
        )
        for name, kind, created, row, data in self.ask(query, session):
            yield from teller.records(str(name), str(kind), whole(created) or 0, row, data or b"")

    def _newer_removed(self, session: str, path: str) -> list[MessageRecord]:
        if not self.has_newer or not any(self._events(session, "session.next.revert.committed.")):
            return []
        kept = {
            str(name) for (name,) in self.ask("SELECT id FROM session_message WHERE session_id = ?", session)
        }
        return newer.removed(self._events(session, "session.next."), kept, self._teller(session, path))

    # --- deleted messages ---

    def removed(self, session: str, path: str) -> list[MessageRecord]:
        """Deleted messages, from the last events before their deletion, by time. Versions without events have none."""
        if not {"aggregate_id", "seq", "type", "data"} <= self.columns("event"):
            return []
        found = self._newer_removed(session, path)
        gone: dict[str, int] = {}
        for number, _, _, data in self._events(session, "message.removed."):
            gone[text_at(data, "messageID")] = number
        for (name,) in self.ask("SELECT id FROM message WHERE session_id = ?", session) if gone else ():
            gone.pop(str(name), None)
        if not gone:
            return found
        begun: dict[str, int] = {}
        last: dict[str, StoredRow] = {}
        for number, row, _, data in self._events(session, "message.updated."):
            info = object_at(data, "info")
            name = text_at(info, "id")
            if name in gone:
                begun.setdefault(name, number)
                created = object_at(info, "time").get("created")
                last[name] = StoredRow(name, whole(created) or 0, dumped(info), path, row)
        parts: dict[str, dict[str, StoredRow]] = {}
        for number, row, _, data in self._events(session, "message.part."):
            part = object_at(data, "part")
            message = text_at(part, "messageID") or text_at(data, "messageID")
            if message not in gone or number > gone[message]:
                continue
            if part:
                part_row = StoredRow(
                    text_at(part, "id"), whole(data.get("time")) or 0, dumped(part), path, row
                )
                parts.setdefault(message, {})[part_row.id] = part_row
            else:
                parts.get(message, {}).pop(text_at(data, "partID"), None)
        found += [
            MessageRecord(stored, in_order(list(parts.get(name, {}).values())), begun[name], gone[name])
            for name, stored in last.items()
        ]
        found.sort(key=by_time)
        return found

    def _events(self, session: str, kind: str) -> Iterator[newer.Event]:
        """Events of a kind, in any version, in order."""
        query = (
            "SELECT seq, rowid, type, CAST(data AS BLOB) FROM event WHERE aggregate_id = ? AND type >= ? AND type < ?"
            " ORDER BY seq"
        )
        for number, row, name, data in self.ask(query, session, kind, kind[:-1] + "/"):
            if isinstance(number, int):
                yield number, row, name, object_in(data or b"")


def _part(path: str, name: object, created: object, row: Any, data: Any, written: object) -> StoredRow:
    """A part from the columns of its row."""
    time = written if type(written) is int else UNKNOWN
    return StoredRow(str(name), whole(created) or 0, data or b"", path, row, PART, time)


def _record(found: tuple[Any, ...], parts: list[StoredRow], path: str) -> MessageRecord:
    name, created, row, data, written = found
    stored = StoredRow(
        str(name),
        whole(created) or 0,
        data or b"",
        path,
        row,
        MESSAGE,
        written if type(written) is int else UNKNOWN,
    )
    return MessageRecord(stored, parts)


def _only_ours(action: int, table: str | None, column: str | None, base: str | None, view: str | None) -> int:
    """Refuses to read any table except those named above, and any view."""
    if action == sqlite3.SQLITE_READ and table not in TABLES:
        return sqlite3.SQLITE_DENY
    return tables_only(action, table, column, base, view)


def stamps_of(path: str) -> list[tuple[int, int, int, bool] | None]:
    """Stamps of a database that change with every write to it: its file, its log. They change once more where one may be missed."""
    found: list[tuple[int, int, int, bool] | None] = []
    for name in (path, f"{path}-wal"):
        try:
            now = os.stat(name)
            written = now.st_mtime_ns
            found.append((now.st_ino, now.st_size, written, may_change_unseen(written)))
        except OSError:
            found.append(None)
    return found
