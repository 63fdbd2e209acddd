"""What a plan is asked for: the strategy, its version, budgets, trigger and estimator. Sizes are in tokens unless said."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from leafward.base.config import DEFAULT_WINDOW
from leafward.base.errors import LeafwardError
from leafward.base.strategies import Strategy
from leafward.compaction.strategies import rules_of

if TYPE_CHECKING:
    from leafward.compaction.onset import Onset
    from leafward.compaction.strategy_rules import StrategyRules
    from leafward.context.estimators import Estimator
    from leafward.session.entries import EntryIndex


class TriggerRule(StrEnum):
    """When a context counts as too large."""

    FIXED = "fixed"
    """Beyond the window less a reserve."""
    PROPORTIONAL = "proportional"
    """Beyond the window less a share of it (diligent)."""


RESERVE_PERCENT = 16
"""The share of the window that diligent keeps free."""

FILE_BUDGET = 8_000
"""Code points that both file lists together may take."""
SUMMARY_TOKENS = 1_500
"""What a summary is reckoned to take before there is one: what models wrote in the sessions that pi publishes."""


class BadSettings(LeafwardError):
    """Settings that no plan can be made with."""


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """What a plan is made with. None means the strategy's own default."""

    strategy: Strategy = Strategy.PI
    version: str = ""
    """One of the strategy's `versions`; empty for the newest."""
    corrected: bool = True
    """Whether the newest version's known faults are mended; an older version is always taken as it was."""
    keep_recent: int | None = None
    reserve: int | None = None
    window: int = DEFAULT_WINDOW
    trigger: TriggerRule = TriggerRule.FIXED
    reserve_percent: int = RESERVE_PERCENT
    estimator: Estimator | None = None
    prune: bool = True
    """Whether opencode's pruning comes before its summary; in 1.18 it has to be switched on there."""
    tail_turns: int | None = None
    """The most turns that opencode keeps; None for as many as fit."""
    file_budget: int = FILE_BUDGET
    summary_tokens: int = SUMMARY_TOKENS
    cut: EntryIndex | None = None
    """The first entry to keep, instead of what the budget leads to; has to be a legal cut."""
    onset: Onset | None = None
    """The size at which the session's own agent compacts, in place of the window less the fixed reserve."""

    @property
    def rules(self) -> StrategyRules:
        """The rules of the strategy."""
        return rules_of(self.strategy)

    @property
    def behaviour(self) -> str:
        """The version that counts. Raises BadSettings where there is none of that name."""
        known = self.rules.versions
        if not self.version:
            return known[0]
        if self.version not in known:
            raise BadSettings(f"no version {self.version!r} of {self.strategy}; there are {', '.join(known)}")
        return self.version

    @property
    def mends(self) -> bool:
        """Whether known faults are mended in this plan."""
        return self.corrected and self.behaviour == self.rules.versions[0]

    @property
    def counting(self) -> Estimator:
        """The estimator that counts."""
        return self.estimator if self.estimator is not None else self.rules.estimator

    @property
    def budget(self) -> int:
        """Tokens that are to be kept as they are."""
        if self.keep_recent is not None:
            return max(0, self.keep_recent)
        return self.rules.budget(self.usable)

    @property
    def reserved(self) -> int:
        """Tokens of the window that are left free for the reply."""
        if self.trigger is TriggerRule.PROPORTIONAL:
            return self.window * self.reserve_percent // 100
        if self.reserve is not None:
            return max(0, self.reserve)
        return self.rules.reserve(self.window)

    @property
    def usable(self) -> int:
        """The window less what is reserved: where the trigger lies."""
        return max(0, self.window - self.reserved)
