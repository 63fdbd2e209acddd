"""What opencode stores, as it lies there: sessions, messages with their parts, and the order of these."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.session.line_decoding import decode_line

if TYPE_CHECKING:
    from leafward.session.entries import Body

_ID_DIGITS = 12
_WRAP = 1 << 48
"""Ids begin with a time that begins again from zero every 795 days (opencode)."""
_STEPS_PER_MS = 4096
NEVER = 1 << 62
"""The number of an event that never comes."""


class Stored(NamedTuple):
    """One message or part."""

    id: str
    created: int
    """Milliseconds since 1970; 0 where it is not known."""
    data: bytes
    """JSON as stored."""
    path: str
    """The file or database it lies in."""
    row: int = 0
    """Of the database; 0 for a file of its own."""


class MessageRecord(NamedTuple):
    """A message with its parts in order."""

    message: Stored
    parts: list[Stored]
    begun: int = 0
    """The number of the event that first told it, of one that was deleted since; 0 for what is still there."""
    removed: int = NEVER
    """The number of the event that deleted it."""
    stored: Stored | None = None
    """The row that message and parts were made of; None where they are themselves what is stored."""


def by_time(record: MessageRecord) -> tuple[int, str]:
    """The order of messages: by the time they were made, since ids begin again from zero."""
    return record.message.created, record.message.id


class Info(NamedTuple):
    """A session's own description, whichever generation it comes from."""

    id: str
    title: str = ""
    directory: str = ""
    parent: str | None = None
    """The session that the task tool made this one from."""
    created: int | None = None
    """Milliseconds since 1970, as all times."""
    updated: int | None = None
    archived: int | None = None
    compacting: int | None = None
    """When a compaction began that has not ended."""
    version: str = ""
    project: str = ""
    slug: str = ""
    share: str = ""
    source: str | None = None
    """The session that Leafward made this one from, of whichever agent."""
    revert: str = ""
    """What was taken back and not yet deleted, as JSON; empty where nothing was."""
    torn: bool = False
    """Whether its row cannot be read: nothing is known but what its messages say."""

    @property
    def relation(self) -> str | None:
        """What it is to the session it says it comes from; None where it says none."""
        if self.parent is not None:
            return "subagent"
        return "fork" if self.source is not None else None


def object_in(text: str | bytes) -> Body:
    """A JSON object; empty where there is none."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return decode_line(raw) or {}


def dumped(body: Body) -> bytes:
    """An object as JSON, as short as it can be written."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def text_in(body: Body, name: str) -> str:
    """A text in an object; empty for anything else."""
    found = body.get(name)
    return found if isinstance(found, str) else ""


def whole(value: object) -> int | None:
    """A number as a whole one; None for anything else, and for one that no time or count could be."""
    if type(value) is int:
        return value if -NEVER < value < NEVER else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if abs(value) < NEVER else None


def number_in(body: Body, name: str) -> int | None:
    """A whole number in an object; None for anything else."""
    return whole(body.get(name))


def object_at(body: Body, name: str) -> dict[str, Any]:
    """An object in an object; empty for anything else."""
    found = body.get(name)
    return found if isinstance(found, dict) else {}


def created_in(body: Body) -> int:
    """When a message or part was made; 0 where it does not say."""
    time = object_at(body, "time")
    return number_in(time, "created") or number_in(time, "start") or 0


def time_in_id(name: str, near: int) -> int:
    """The time that an id was made from, in the turn of the clock that is nearest to `near`; `near` where it holds none."""
    digits = name.partition("_")[2][:_ID_DIGITS]
    try:
        moment = int(digits, 16) // _STEPS_PER_MS
    except ValueError:
        return near
    turn = _WRAP // _STEPS_PER_MS
    return moment + round((near - moment) / turn) * turn


def in_order(parts: list[Stored]) -> list[Stored]:
    """Parts in the order of their ids, which is opencode's; where those wrapped among them, by time."""
    parts.sort(key=lambda part: part.id)
    if len(parts) > 1 and _number(parts[-1].id) - _number(parts[0].id) > _WRAP // 2:
        half = _WRAP // 2
        parts.sort(key=lambda part: (_number(part.id) < half, part.id))
    return parts


def _number(name: str) -> int:
    try:
        return int(name.partition("_")[2][:_ID_DIGITS], 16)
    except ValueError:
        return 0
