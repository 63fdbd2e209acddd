"""Settings in a turn's context, decoded once for all turns with the same ones."""

from __future__ import annotations

from typing import NamedTuple

from leafward.agents.codex.entries.items import effort_of
from leafward.agents.codex.entries.records import TURN, payload_of
from leafward.session.lines.line_decoding import decode_line

_LONGEST = 1 << 16
"""Most bytes of a context that are kept to recognise the next one."""


class Settings(NamedTuple):
    """The settings of a turn's context that make entries."""

    model: object
    effort: str | None


class Contexts:
    """The `turn_context` lines of a rollout, one after the other."""

    def __init__(self) -> None:
        self._bytes = b""
        self._known = Settings(None, None)

    def __reduce__(self) -> tuple[type[Contexts], tuple[()]]:
        """Without the last context: it only saves decoding, and has text of the user's."""
        return Contexts, ()

    def settings(self, data: bytes, start: int, end: int) -> Settings | None:
        """The settings in the line `data[start:end]`; None where it is not a record, or differs from Codex's own shape."""
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
