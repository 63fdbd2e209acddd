"""The readable content of a database of opencode with damaged pages, session by session."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.opencode.storage.records import Info
from leafward.agents.opencode.storage.sessions import counted, info_of, infos_of, row_of
from leafward.agents.storage.databases import is_damage

if TYPE_CHECKING:
    from leafward.agents.opencode.storage.database import Database
    from leafward.agents.opencode.storage.sessions import ListedSession


class Rescued(NamedTuple):
    """The readable sessions of a damaged database, and the others."""

    rows: list[ListedSession]
    torn: list[str]
    """Ids of those among them that only their messages show."""
    lost: list[str]
    """Ids of sessions that only an index shows."""


def session_info(base: Database, session: str) -> Info | None:
    """A session's description, from its messages where its row lies on a damaged page. None where the session is missing.

    Raises sqlite3.DatabaseError where both are unreadable.
    """
    try:
        return info_of(base, session)
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        # The index may be damaged instead of the row.
        found = _infos(base).get(session) or _torn(base, session)
        if found is None:
            raise
        return found


def _torn(base: Database, session: str) -> Info | None:
    """The description of a session from its messages; None where it has none. Raises sqlite3.DatabaseError."""
    messages, first, *_ = counted(base, session).get(session, (0, 0))
    return Info(session, created=first, torn=True) if messages else None


def _infos(base: Database) -> dict[str, Info]:
    """Sessions by id, read from both ends of the table up to the damage."""
    infos: dict[str, Info] = {}
    for order in ("rowid", "rowid DESC"):
        try:
            for info in infos_of(base, order):
                infos[info.id] = info
        except sqlite3.DatabaseError:
            continue
    return infos


def rescued(base: Database) -> Rescued:
    """The sessions of a damaged database: rows from both ends up to the damage, then one by one.

    A session whose messages cannot be counted is listed without any.
    """
    infos = _infos(base)
    lost = []
    for name in _names(base):
        if name not in infos:
            try:
                found = _one(base, name)
            except sqlite3.DatabaseError:
                found = None
            if found is None:
                lost.append(name)
            else:
                infos[name] = found
    rows = []
    for info in infos.values():
        try:
            rows.append(row_of(info, counted(base, info.id)))
        except sqlite3.DatabaseError:
            rows.append(row_of(info, {}))
    return Rescued(rows, [info.id for info in infos.values() if info.torn], lost)


def _one(base: Database, session: str) -> Info | None:
    """A session that was not reached from the ends of the table. Raises sqlite3.DatabaseError."""
    try:
        return info_of(base, session)
    except sqlite3.DatabaseError:
        return _torn(base, session)


def _names(base: Database) -> dict[str, None]:
    """The ids in the index of sessions, from both ends up to the damage."""
    found: dict[str, None] = {}
    for order in ("", " DESC"):
        try:
            for (name,) in base.ask(f"SELECT id FROM session ORDER BY id{order}"):  # noqa: S608  # words of our own
                found[str(name)] = None
        except sqlite3.DatabaseError:
            continue
    return found
