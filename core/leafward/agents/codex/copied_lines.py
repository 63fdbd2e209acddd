"""Forks of older versions, and sub-agents that were given their parent's conversation, repeat lines: how far they do."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from leafward.agents.codex.chain import Base, Thread, base_of
from leafward.agents.codex.description import SUBAGENT, relation_of
from leafward.agents.codex.rollout import Rollout
from leafward.base.errors import NotASession
from leafward.session.source import Note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.codex.store import Segment


class CopiedLines(Protocol):
    """Tells how far a thread repeats the lines of another one."""

    @property
    def partial(self) -> bool:
        """Whether some of the other's lines are left out, such as the items of a reply whose events are there."""

    def goes_on(self, data: bytes, start: int, end: int) -> bool:
        """Whether a line is still one of the other's; asked of each in turn, until one is not."""

    def close(self) -> None:
        """Closes what it reads."""


class Compared:
    """Lines held beside those of their source.

    A sub-agent is not given everything (Codex 0.125 to 0.142 leave out calls, outputs and what is said between them), so there
    a line may be any of the source's that stands behind the one before.
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
        """Whether a line is still one of the source's."""
        if self._first:
            self._first = False
            return True
        payload = _payload(data, start, end)
        if payload is None:
            return True
        return payload in self._lines if self.partial else next(self._lines, None) == payload

    def close(self) -> None:
        """Closes the source."""
        self._lines.close()
        self.source.close()


@dataclass(frozen=True, slots=True)
class Numbered:
    """Lines up to a number, which a sub-agent's description names (Codex from 0.153 on)."""

    end: int
    """The ordinal of the first line of its own."""
    partial = True

    def goes_on(self, data: bytes, start: int, end: int) -> bool:
        """Whether a line comes before that one."""
        number = ordinal(data, start, end)
        return number is None or number < self.end

    def close(self) -> None:
        """Nothing is open."""


def ordinal(data: bytes, start: int, end: int) -> int | None:
    """The number of a line, as it stands near its beginning."""
    at = data.find(b'"ordinal":', start, min(end, start + 120))
    if at < 0:
        return None
    at += len(b'"ordinal":')
    digits = bytes(islice(_digits(data, at, end), 20))
    return int(digits) if digits else None


def _digits(data: bytes, at: int, end: int) -> Iterator[int]:
    while at < end and 48 <= data[at] <= 57:
        yield data[at]
        at += 1


def _payload(data: bytes, start: int, end: int) -> bytes | None:
    """A line from its type on; None for a session's description, which every copy has of its own."""
    at = data.find(b'"type":"', start, min(end, start + 120))
    line = data[at if at >= 0 else start : end].rstrip(b"\r")
    return None if line.startswith(b'"type":"session_meta"') or not line else line


def copied_lines(
    meta: dict[str, Any], base: Base | None, thread: Thread, notes: list[Note], segment: Segment
) -> CopiedLines | None:
    """What tells the lines of an old fork, of a sub-agent or of a copy that went on by itself from those of its source; None for any other file."""
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
    text = f"forked from {source}, which is not here: what was copied from it is not told apart"
    notes.append(Note("fork-source-missing", text, path=Path(segment.path)))
    return None
