"""Forks of older versions, which repeat the lines of their source: how far they do."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafward.agents.codex.chain import Base, Thread, base_of
from leafward.agents.codex.rollout import Rollout
from leafward.base.errors import NotASession
from leafward.session.source import Note

if TYPE_CHECKING:
    from leafward.agents.codex.store import Segment


class Copied:
    """Tells how far a fork repeats the lines of its source."""

    def __init__(self, source: Rollout) -> None:
        self.source = source
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
        return payload is None or next(self._lines, None) == payload

    def close(self) -> None:
        """Closes the source."""
        self._lines.close()
        self.source.close()


def _payload(data: bytes, start: int, end: int) -> bytes | None:
    """A line from its type on; None for a session's description, which every copy has of its own."""
    at = data.find(b'"type":"', start, min(end, start + 120))
    line = data[at if at >= 0 else start : end].rstrip(b"\r")
    return None if line.startswith(b'"type":"session_meta"') or not line else line


def copied_lines(
    meta: dict[str, Any], base: Base | None, thread: Thread, notes: list[Note], segment: Segment
) -> Copied | None:
    """What the lines of an old fork are compared with, or those of a copy that went on by itself; None for any other file."""
    if thread.original is not None:
        with suppress(NotASession):
            return Copied(Rollout(thread.original.path))
    source = meta.get("forked_from_id")
    if base is not None or base_of(meta) is not None or not isinstance(source, str):
        return None
    found = thread.source(source.lower())
    if found is not None:
        with suppress(NotASession):
            return Copied(Rollout(found.path))
    text = f"forked from {source}, which is not here: what was copied from it is not told apart"
    notes.append(Note("fork-source-missing", text, path=Path(segment.path)))
    return None
