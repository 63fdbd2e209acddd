"""Stored records of opencode: sessions, messages with their parts, and their order."""

from __future__ import annotations

import json
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import FORK, SUBAGENT, object_at
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from leafward.session.entries import Body

_ID_DIGITS = 12
_WRAP = 1 << 48
"""Ids begin with a time that restarts from zero every 795 days (opencode)."""
_STEPS_PER_MS = 4096
MESSAGE, PART, EVENT = range(3)
STORED = ("message", "part", "event")
"""The tables of records, by these numbers. Events tell those of deleted messages."""
UNKNOWN = -1
NEVER = 1 << 62
"""The number of an event that never occurs."""


class StoredRow(NamedTuple):
    """One message or part."""

    id: str
    created: int
    """Milliseconds since 1970; 0 where unknown."""
    data: bytes
    """JSON as stored."""
    path: str
    """Its file or database."""
    row: int = 0
    """Its row in the database; 0 for a file of its own."""
    table: int = EVENT
    """The table of that row."""
    written: int = 0
    """When that row of a message or part was written, in milliseconds since 1970; `UNKNOWN` where it does not tell."""


class MessageRecord(NamedTuple):
    """A message with its parts in order."""

    message: StoredRow
    parts: list[StoredRow]
    begun: int = 0
    """Of a deleted message: the number of its first event; 0 for an existing one."""
    removed: int = NEVER
    """The number of the event that deleted it."""
    stored: StoredRow | None = None
    """The row from which message and parts were made; None where they are stored themselves."""


def by_time(record: MessageRecord) -> tuple[int, str]:
    """The order of messages: by time, since ids restart from zero."""
    return record.message.created, record.message.id


class Info(NamedTuple):
    """A session's own description, in any generation."""

    id: str
    title: str = ""
    directory: str = ""
    parent: str | None = None
    """The session from which the task tool made this one."""
    created: int | None = None
    """Milliseconds since 1970, as all times."""
    updated: int | None = None
    archived: int | None = None
    compacting: int | None = None
    """The beginning of a compaction that has not ended."""
    version: str = ""
    project: str = ""
    slug: str = ""
    share: str = ""
    source: str | None = None
    """The session from which Leafward made this one, of any agent."""
    revert: str = ""
    """The content that was taken back and not yet deleted, as JSON; empty without any."""
    torn: bool = False
    """Whether its row is unreadable: only its messages are known."""

    @property
    def relation(self) -> str | None:
        """Its relation to the session that it names as its source; None where it names none."""
        if self.parent is not None:
            return SUBAGENT
        return FORK if self.source is not None else None


def object_in(text: str | bytes) -> Body:
    """A JSON object; empty for anything else."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return decode_line(raw) or {}


def dumped(body: Body) -> bytes:
    """An object as JSON, as short as possible."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def whole(value: object) -> int | None:
    """A number as an integer; None for anything else, and for numbers that cannot be a time or a count."""
    if type(value) is int:
        return value if -NEVER < value < NEVER else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if abs(value) < NEVER else None


def number_in(body: Body, name: str) -> int | None:
    """A whole number in an object; None for anything else."""
    return whole(body.get(name))


def created_in(body: Body) -> int:
    """The time of a message or part; 0 where it is not recorded."""
    time = object_at(body, "time")
    return number_in(time, "created") or number_in(time, "start") or 0


def time_in_id(name: str, near: int) -> int:
    """The time in an id, taken from the period of the clock that is nearest to `near`; `near` where the id holds no time."""
    digits = name.partition("_")[2][:_ID_DIGITS]
    try:
        moment = int(digits, 16) // _STEPS_PER_MS
    except ValueError:
        return near
    turn = _WRAP // _STEPS_PER_MS
    return moment + round((near - moment) / turn) * turn


def in_order(parts: list[StoredRow]) -> list[StoredRow]:
    """Parts in the order of their ids, which is opencode's order; by time where ids restarted between them."""
    if len(parts) < 2:
        return parts
    parts.sort(key=itemgetter(0))
    if _number(parts[-1].id) - _number(parts[0].id) > _WRAP // 2:
        half = _WRAP // 2
        parts.sort(key=lambda part: (_number(part.id) < half, part.id))
    return parts


def _number(name: str) -> int:
    try:
        return int(name.partition("_")[2][:_ID_DIGITS], 16)
    except ValueError:
        return 0
