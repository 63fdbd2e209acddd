"""The onset: the size at which the agent of a session compacts it next by itself, as far as anything tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.agents import agent_behind, auto_compaction_of
from leafward.base.model_windows import Window, WindowSource
from leafward.context.projection import latest
from leafward.session.entries import EntryIndex, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.base.config import Config
    from leafward.context.model_context import Context

_COMPACTION, _REPLY = frozenset({Kind.COMPACTION}), frozenset({Kind.ASSISTANT})
_LOOKED_AT = 8
"""Compactions above a place that are looked at."""


class Onset(NamedTuple):
    """The size at which an agent compacts by itself."""

    tokens: int
    about: bool
    """Whether that is no certainty."""
    inclusive: bool
    """Whether a context of this very size is compacted."""

    def reached(self, tokens: int) -> bool:
        """Whether a context of this size is compacted."""
        return tokens >= self.tokens if self.inclusive else tokens > self.tokens


def onset(context: Context, window: Window, config: Config) -> Onset | None:
    """The size at which the agent compacts a context next; None where its window is not known.

    That is its rule, or what it did here before where that is less: a rule that was changed shows there. What it did is never
    less than its threshold was, as a compaction comes once that is passed.
    """
    if window.source is WindowSource.ASSUMED:
        return None
    rule = auto_compaction_of(agent_behind(context.session).name)
    tokens = min([rule.threshold(window, context.model, config.reserve), *_earlier(context)])
    return Onset(tokens, rule.about, rule.inclusive) if tokens > 0 else None


def _earlier(context: Context) -> Iterator[int]:
    """The sizes at which the agent compacted on this path unasked, for the same model."""
    session, at = context.session, context.at
    rule = auto_compaction_of(agent_behind(session).name)
    for _ in range(_LOOKED_AT):
        compaction = latest(session, at, _COMPACTION)
        if compaction < 0:
            return
        at = EntryIndex(session.columns.parent[compaction])
        body = session.body(compaction) or {}
        size = body.get("tokensBefore")
        if not isinstance(size, int) or size <= 0 or not rule.unasked(session, compaction):
            continue
        reply = latest(session, at, _REPLY)
        message = (session.body(reply) or {}).get("message") if reply >= 0 else None
        if isinstance(message, dict) and message.get("model") == context.model:
            yield size
