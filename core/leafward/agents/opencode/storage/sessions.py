"""The sessions in a database: their descriptions there, and stamps that change with them."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.agents.opencode.storage.records import Info, object_in, whole
from leafward.session.entries import object_at, text_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.base import Stamp
    from leafward.agents.opencode.storage.database import Database

_NS_PER_MS = 1_000_000
_LATEST = (1 << 63) // _NS_PER_MS - 1
"""Milliseconds whose nanoseconds fill 64 bits: later than any session."""
OURS = "leafward"
"""The field of a session's metadata that names its source."""

_FIELDS = (
    "id", "title", "directory", "parent_id", "time_created", "time_updated", "time_archived",
    "time_compacting", "version", "project_id", "slug", "share_url", "revert", "metadata"
)  # fmt: skip

Counts = dict[str, tuple[int, int, int, int, int]]
"""By session: messages, the time of the first and of the last, parts, events."""


class ListedSession(NamedTuple):
    """A session in a listing."""

    info: Info
    messages: int
    first: int
    """The time of its first message: the same in every copy."""
    stamp: Stamp


def info_of(base: Database, session: str) -> Info | None:
    """A session's description; None where the session is missing."""
    for row in base.ask(f"{_described(base)} WHERE id = ?", session):
        return _info(row)
    return None


def infos_of(base: Database, order: str = "") -> Iterator[Info]:
    """Every session, as its row describes it."""
    query = _described(base)
    yield from map(_info, base.ask(f"{query} ORDER BY {order}" if order else query))


def _described(base: Database) -> str:
    have = base.columns("session")
    names = ", ".join(name if name in have else f"NULL AS {name}" for name in _FIELDS)
    return f"SELECT {names} FROM session"  # noqa: S608  # names of our own


def rows_of(base: Database) -> tuple[list[ListedSession], dict[str, int]]:
    """Every session with its stamp; and the numbers of messages without a session, by the session that they name."""
    counts = counted(base)
    rows = [row_of(info, counts) for info in infos_of(base)]
    known = {row.info.id for row in rows}
    return rows, {name: found[0] for name, found in counts.items() if name not in known and found[0]}


def row_of(info: Info, counts: Counts) -> ListedSession:
    """A session in a listing."""
    messages, first, latest, parts, events = counts.get(info.id, (0, 0, 0, 0, 0))
    seal = f"{info.title}\0{info.parent}\0{info.archived}\0{info.revert}\0{messages}\0{parts}\0{events}"
    updated = min(max(info.updated or info.created or 0, latest), _LATEST)
    stamp = [0, updated * _NS_PER_MS, zlib.crc32(seal.encode("utf-8", "surrogatepass"))]
    return ListedSession(info, messages, first, stamp)


def counted(base: Database, only: str | None = None) -> Counts:
    """The counts of stored records, for each session or for one. Answered by indexes alone."""
    time = "time_created" if "time_created" in base.columns("message") else "0"
    parameters = () if only is None else (only,)
    which = "" if only is None else "WHERE session_id = ? "
    found: Counts = {}
    query = f"SELECT session_id, COUNT(*), MIN({time}), MAX({time}) FROM message {which}GROUP BY session_id"  # noqa: S608  # names of our own
    for session, count, first, last in base.ask(query, *parameters):
        found[session] = (count, whole(first) or 0, whole(last) or 0, 0, 0)
    if base.has_newer:
        times = "COUNT(*), MIN(time_created), MAX(time_created)"
        query = f"SELECT session_id, {times} FROM session_message {which}GROUP BY session_id"  # noqa: S608  # words of our own
        for session, count, first, last in base.ask(query, *parameters):
            begun, ended = whole(first) or 0, whole(last) or 0
            known = found.get(session, (0, begun, 0, 0, 0))
            found[session] = (known[0] + count, min(known[1], begun), max(known[2], ended), 0, 0)
    if "session_id" in base.columns("part"):
        query = f"SELECT session_id, COUNT(*) FROM part {which}GROUP BY session_id"  # noqa: S608  # words of our own
        for session, count in base.ask(query, *parameters):
            found[session] = (*found.get(session, (0, 0, 0))[:3], count, 0)
    if {"aggregate_id", "seq"} <= base.columns("event_sequence"):
        query = "SELECT aggregate_id, seq FROM event_sequence"
        for session, last in base.ask(
            query if only is None else f"{query} WHERE aggregate_id = ?", *parameters
        ):
            if session in found:
                found[session] = (*found[session][:4], last if isinstance(last, int) else 0)
    return found


def _info(row: tuple[Any, ...]) -> Info:
    known = dict(zip(_FIELDS, row, strict=True))

    def text(name: str) -> str:
        return known[name] if isinstance(known[name], str) else ""

    def time(name: str) -> int | None:
        return whole(known[name])

    return Info(
        id=str(known["id"]),
        title=text("title"),
        directory=text("directory"),
        parent=text("parent_id") or None,
        created=time("time_created"),
        updated=time("time_updated"),
        archived=time("time_archived"),
        compacting=time("time_compacting"),
        version=text("version"),
        project=text("project_id"),
        slug=text("slug"),
        share=text("share_url"),
        source=text_at(object_at(object_in(text("metadata")), OURS), "forkedFrom") or None,
        revert=text("revert"),
    )
