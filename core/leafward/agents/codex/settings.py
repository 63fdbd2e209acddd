"""What a turn's context sets: decoded once for all turns that say the same."""

from __future__ import annotations

from typing import NamedTuple

from leafward.agents.codex.items import effort_of
from leafward.agents.codex.records import TURN, payload_of
from leafward.session.line_decoding import decode_line

_LONGEST = 1 << 16
"""Bytes of a context that are kept to know the next one by."""


class Settings(NamedTuple):
    """What of a turn's context makes entries."""

    model: object
    effort: str | None


class Contexts:
    """The `turn_context` lines of a rollout, one after the other."""

    def __init__(self) -> None:
        self._bytes = b""
        self._known = Settings(None, None)

    def settings(self, data: bytes, start: int, end: int) -> Settings | None:
        """What the line `data[start:end]` sets; None where it is no record, or in another shape than Codex writes."""
        turn = TURN.match(data, start, end)
        if turn is None:
            return None
        rest = data[turn.end() : end]
        if rest == self._bytes:
            return self._known
        body = decode_line(data[start:end])
        if body is None:
            return None
        payload = payload_of(body)
        settings = Settings(payload.get("model"), effort_of(payload))
        if len(rest) < _LONGEST:
            self._bytes, self._known = rest, settings
        return settings
