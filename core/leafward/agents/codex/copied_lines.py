"""Lines that forks of older versions, and sub-agents with their parent's conversation, repeat from another thread."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from leafward.agents.codex.chain import SegmentBase, Thread, base_of
from leafward.agents.codex.description import relation_of
from leafward.agents.codex.entries.items import item_text
from leafward.agents.codex.entries.records import payload_of
from leafward.agents.codex.rollout import Rollout
from leafward.base.errors import NotASession
from leafward.session.entries import SUBAGENT
from leafward.session.lines.line_decoding import decode_line
from leafward.session.source import SourceRemark

if TYPE_CHECKING:
    from leafward.agents.codex.store import Segment
    from leafward.session.entries import Body

_CONTENT = (
    b'"type":"response_item"',
    b'"type": "response_item"',
    b'"type":"compacted"',
    b'"type": "compacted"',
)
_TELLING = (
    "role",
    "call_id",
    "name",
    "arguments",
    "input",
    "output",
    "message",
    "text",
    "turn_id",
    "thread_id",
)
"""Fields that stay in a line that a newer version writes anew."""
_DESCRIPTIONS = (b'"type":"session_meta"', b'"type": "session_meta"')
_ORDINAL = re.compile(rb'"ordinal": ?(\d{1,20})')


class CopiedLines(Protocol):
    """Tells how far a thread repeats the lines of another one."""

    @property
    def partial(self) -> bool:
        """Whether some of the other thread's lines are left out, such as the items of a reply whose events are present."""

    def goes_on(self, data: bytes, start: int, end: int) -> bool:
        """Whether a line still belongs to the other thread; asked for each in turn, until one does not."""

    def close(self) -> None:
        """Closes the files that it reads."""


class Compared:
    """Lines compared with those of their source.

    A newer version writes the lines of an older one anew: with ids and empty fields, and without turns and events that it does
    not know (0.171 with threads of 0.47 to 0.142). What was said in them, and in which turn, stays.

    A sub-agent does not get every line (Codex 0.125 to 0.142 leave out calls, outputs and texts between them), so its line may
    equal any line of the source behind the last equal one.
    """

    def __init__(self, source: Rollout, *, partial: bool = False) -> None:
        self.source = source
        self.partial = partial
        self._lines = (
            payload
            for data, start, end, _ in source.lines()
            if (payload := _payload(data, start, end)) is not None
        )
        self._first = True

    def goes_on(self, data: bytes, start: int, end: int) -> bool:
        """Whether a line still belongs to the source."""
        if self._first:
            self._first = False
            return True
        payload = _payload(data, start, end)
        if payload is None:
            return True
        if self.partial:
            return payload in self._lines
        said: Any = None
        for line in self._lines:
            if line == payload:
                return True
            said = _said(payload) if said is None else said
            if _repeats(said, _said(line)):
                return True
            if line.startswith(_CONTENT):
                break
        return False

    def close(self) -> None:
        """Closes the source."""
        self._lines.close()
        self.source.close()


@dataclass(frozen=True, slots=True)
class Numbered:
    """Lines up to an ordinal, which a sub-agent's description names (Codex from 0.153 on)."""

    end: int
    """The ordinal of the thread's first own line."""
    partial = True

    def goes_on(self, data: bytes, start: int, end: int) -> bool:
        """Whether a line comes before the first own one."""
        number = ordinal(data, start, end)
        if number is None and data.find(b'"ordinal"', start, end) >= 0:
            # Another program wrote the line again, with its fields in another order.
            number = number_in(decode_line(data[start:end]) or {})
        return number is None or number < self.end

    def close(self) -> None:
        """Nothing is open."""


def number_in(body: Body) -> int | None:
    """The number of a decoded line."""
    number = body.get("ordinal")
    return number if type(number) is int else None


def ordinal(data: bytes, start: int, end: int) -> int | None:
    """The number of a line, from near its beginning."""
    at = data.find(b'"ordinal"', start, min(end, start + 120))
    found = _ORDINAL.match(data, at, end) if at >= 0 else None
    return int(found[1]) if found is not None else None


def _payload(data: bytes, start: int, end: int) -> bytes | None:
    """A line from its type on; None for a session's description, which differs in every copy."""
    at = data.find(b'"type"', start, min(end, start + 120))
    line = data[at if at >= 0 else start : end].rstrip(b"\r")
    return None if line.startswith(_DESCRIPTIONS) or not line else line


def _said(payload: bytes) -> Body:
    """A line without its time."""
    return decode_line(b"{" + payload) or {}


def _repeats(line: Body, source: Body) -> bool:
    """Whether a line says the same as one of an older version."""
    mine, theirs = payload_of(line), payload_of(source)
    return (
        line.get("type") == source.get("type")
        and mine.get("type") == theirs.get("type")
        and item_text(mine) == item_text(theirs)
        and all(theirs.get(name) in (None, mine.get(name)) for name in _TELLING)
    )


def copied_lines(
    meta: dict[str, Any],
    base: SegmentBase | None,
    thread: Thread,
    notes: list[SourceRemark],
    segment: Segment,
) -> CopiedLines | None:
    """Finds the source's lines in an old fork, in a sub-agent or in a copy that continued by itself; None for any other file."""
    if thread.original is not None:
        with suppress(NotASession):
            return Compared(Rollout(thread.original.path))
    if base is not None or base_of(meta) is not None:
        return None
    first = meta.get("subagent_history_start_ordinal")
    if isinstance(first, int) and not isinstance(first, bool):
        return Numbered(first)
    source = meta.get("forked_from_id")
    if not isinstance(source, str):
        return None
    found = thread.source(source.lower())
    if found is not None:
        with suppress(NotASession):
            return Compared(Rollout(found.path), partial=relation_of(meta)[1] == SUBAGENT)
    text = f"forked from {source}, which is not here: lines copied from it cannot be recognised"
    notes.append(SourceRemark("fork-source-missing", text, path=Path(segment.path)))
    return None
