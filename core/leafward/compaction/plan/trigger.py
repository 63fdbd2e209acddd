"""Checks whether a context is large enough to be compacted: pi's fixed reserve, diligent's share of the window, and others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.compaction.plan.settings import PlanSettings, TriggerRule

if TYPE_CHECKING:
    from leafward.compaction.measure.measure import PathSizes


@dataclass(frozen=True, slots=True)
class Trigger:
    """The size of a context, compared with the threshold."""

    rule: TriggerRule
    window: int
    reserve: int
    threshold: int
    tokens: int
    source: str
    """`usage` if a provider's count is part of the size, else `estimate`."""
    reached: bool
    about: bool = False
    """Whether the threshold is not certain."""

    @property
    def excess(self) -> int:
        """Tokens above the threshold; negative if there is room."""
        return self.tokens - self.threshold


def trigger_of(sizes: PathSizes, settings: PlanSettings) -> Trigger:
    """The trigger of a path: its size as it is shown, compared with the window minus the reserve.

    pi and diligent compact above the threshold, Codex and opencode at it. diligent takes the larger of the last reply's count and
    the whole estimate. If the plan is for the session's own agent, the threshold is that agent's.
    """
    context = sizes.context
    tokens, source = context.total, "usage" if context.count.recorded else "estimate"
    if settings.trigger is TriggerRule.PROPORTIONAL:
        estimate = sum(context.messages.tokens)
        if estimate > tokens:
            tokens, source = estimate, "estimate"
    fixed, own = settings.trigger is TriggerRule.FIXED, settings.onset
    if fixed and own is not None and not own.off:
        reached = own.reached(tokens)
        return Trigger(
            settings.trigger,
            settings.window,
            settings.free,
            own.tokens,
            tokens,
            source,
            reached,
            own.about,
        )
    inclusive = fixed and settings.rules.inclusive
    threshold = settings.usable
    reached = tokens >= threshold if inclusive else tokens > threshold
    return Trigger(settings.trigger, settings.window, settings.reserved, threshold, tokens, source, reached)
