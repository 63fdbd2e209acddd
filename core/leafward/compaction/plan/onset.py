"""The onset: the size at which a session's agent compacts it next by itself, as far as that can be told."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.recognition import agent_behind
from leafward.agents.registry import auto_compaction_of
from leafward.base.model_windows import Window, WindowSource
from leafward.context.projection import latest
from leafward.session.entries import EntryIndex, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.auto_compaction import AutoCompaction
    from leafward.base.config import Config
    from leafward.context.model_context import Context

_COMPACTION, _REPLY = frozenset({Kind.COMPACTION}), frozenset({Kind.ASSISTANT})
_LOOKED_AT = 8
"""Number of compactions above a place that are looked at."""


class Onset(NamedTuple):
    """The size at which an agent compacts by itself."""

    tokens: int
    about: bool
    """Whether the size is not certain."""
    inclusive: bool
    """Whether a context of exactly this size is compacted."""
    source: str = ""
    """The agent's settings file that decides it; empty if the agent's rule or its earlier behaviour does."""
    off: bool = False
    """Whether the agent never compacts by itself; there is no size then."""

    def reached(self, tokens: int) -> bool:
        """Whether a context of this size is compacted."""
        if self.off:
            return False
        return tokens >= self.tokens if self.inclusive else tokens > self.tokens


def onset(context: Context, window: Window, config: Config) -> Onset | None:
    """The size at which the agent compacts a context next; None if its window is not known.

    This is the agent's rule with its current settings, or a smaller size at which it compacted here before: that reveals a
    changed rule. Such a size is never below the threshold of its time, as an agent compacts only once that is passed.
    """
    rule = auto_compaction_of(agent_behind(context.session).name)
    own = rule.settings(context.session, window, context.provider, context.model)
    source = str(own.source) if own is not None else ""
    if own is not None and own.off:
        return Onset(0, rule.about, rule.inclusive, source, off=True)
    if window.source is WindowSource.ASSUMED:
        return None
    reserve = own.reserve if own is not None and own.reserve is not None else config.reserve
    ruled = rule.threshold(window, context.model, reserve)
    if own is not None and own.size is not None:
        ruled = own.size
    limited = min(ruled, own.limit) if own is not None and own.limit is not None else ruled
    tokens = min([limited, *_earlier(context, rule)])
    # A settings file that changed nothing is not the source.
    told = source if tokens == limited and (own is None or own.limit is None or limited < ruled) else ""
    return Onset(tokens, rule.about, rule.inclusive, told) if tokens > 0 else None


def _earlier(context: Context, rule: AutoCompaction) -> Iterator[int]:
    """The sizes at which the agent compacted on this path by itself, with the same model."""
    session, at = context.session, context.at
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
