"""Rows of a session in its database that were written since a moment, and what all the others are in sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.opencode.storage.records import MESSAGE, PART, STORED, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.opencode.storage.database import Database

_TOGETHER = 500
"""Rows that are asked for in one query."""


class WrittenRows(NamedTuple):
    """Some rows in sum."""

    number: int
    written: int
    """The sum of the times when they were written, in milliseconds since 1970."""
    size: int
    """Their bytes."""

    def without(self, number: int, written: int, size: int) -> WrittenRows:
        """Their sums without those of other rows."""
        return WrittenRows(self.number - number, self.written - written, self.size - size)


class LaterRow(NamedTuple):
    """A row that was written since a moment, or does not tell."""

    row: int
    written: int | None
    size: int
    data: bytes | None
    """Its content; None where its message is behind the one that was asked for."""


def rows_in_sum(base: Database, session: str, table: int, moment: int) -> tuple[WrittenRows, list[int]]:
    """All rows of a session in sum, and the numbers of those that were not written before a moment.

    SQLite does it in one go: asking for the rows takes several times as long.
    """
    query = (
        "SELECT COUNT(*), SUM(time_updated), SUM(LENGTH(CAST(data AS BLOB))),"  # noqa: S608  # names of our own
        f" GROUP_CONCAT(CASE WHEN time_updated < ? THEN NULL ELSE rowid END) FROM {STORED[table]} WHERE session_id = ?"
    )
    number, written, size, later = base.ask(query, moment, session).fetchone()
    rows = [int(row) for row in str(later).split(",")] if later is not None else []
    return WrittenRows(number, written or 0, size or 0), rows


def later_rows(
    base: Database, session: str, table: int, rows: list[int], last: tuple[int, str]
) -> Iterator[LaterRow]:
    """Some rows, with the content of those that belong to messages up to one, named by its time and id."""
    # A CROSS JOIN begins with the rows: SQLite would rather go through all messages of the session.
    name = STORED[table]
    of_message = " CROSS JOIN message ON message.id = part.message_id" if table == PART else ""
    known = "+message.session_id = ? AND (message.time_created, message.id) <= (?, ?)"
    for at in range(0, len(rows), _TOGETHER):
        numbers = ", ".join(map(str, rows[at : at + _TOGETHER]))
        query = (
            f"SELECT {name}.rowid, {name}.time_updated, LENGTH(CAST({name}.data AS BLOB)),"  # noqa: S608  # names of our own
            f" CASE WHEN {known} THEN CAST({name}.data AS BLOB) END"
            f" FROM {name}{of_message} WHERE {name}.rowid IN ({numbers})"
        )
        yield from map(LaterRow._make, base.ask(query, session, *last))


def last_event(base: Database, session: str) -> int:
    """The number of a session's last event; -1 without one."""
    if not {"aggregate_id", "seq"} <= base.columns("event_sequence"):
        return -1
    query = "SELECT seq FROM event_sequence WHERE aggregate_id = ?"
    return next((whole(number) or 0 for (number,) in base.ask(query, session)), -1)


def has_removed(base: Database, session: str, since: int) -> bool:
    """Whether a message was deleted after an event, as far as events tell."""
    if not {"aggregate_id", "seq", "type"} <= base.columns("event"):
        return False
    query = "SELECT 1 FROM event WHERE aggregate_id = ? AND type >= ? AND type < ? AND seq > ? LIMIT 1"
    return any(base.ask(query, session, "message.removed.", "message.removed/", since))


def tells_writing(base: Database, session: str) -> bool:
    """Whether rows tell when they were written, and the usual engine made all messages of a session."""
    needed = {"time_created", "time_updated", "session_id"}
    if not (needed <= base.columns(STORED[MESSAGE]) and needed <= base.columns(STORED[PART])):
        return False
    query = "SELECT 1 FROM session_message WHERE session_id = ? LIMIT 1"
    return not (base.has_newer and any(base.ask(query, session)))
