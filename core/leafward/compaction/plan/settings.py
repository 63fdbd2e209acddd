"""Settings of a plan: strategy, version, budgets, trigger and estimator. Sizes are in tokens unless stated otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from leafward.base.config import DEFAULT_WINDOW
from leafward.base.errors import LeafwardError
from leafward.base.strategies import Strategy
from leafward.compaction.strategies.by_name import rules_of

if TYPE_CHECKING:
    from leafward.compaction.plan.onset import Onset
    from leafward.compaction.strategies.strategy_rules import StrategyRules
    from leafward.context.estimators import Estimator
    from leafward.session.entries import EntryIndex


class TriggerRule(StrEnum):
    """Rule for when a context counts as too large."""

    FIXED = "fixed"
    """Larger than the window minus a reserve."""
    PROPORTIONAL = "proportional"
    """Larger than the window minus a share of it (diligent)."""


RESERVE_PERCENT = 16
"""Percentage of the window that diligent keeps free."""

FILE_BUDGET = 8_000
"""Code points that both file lists together may take."""
SUMMARY_TOKENS = 1_500
"""Expected tokens of a summary before there is one: the usual size of models' summaries in pi's published sessions."""


class BadSettings(LeafwardError):
    """Raised for settings with which no plan can be made."""


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """Settings of a plan. None means the strategy's own default."""

    strategy: Strategy = Strategy.PI
    version: str = ""
    """One of the strategy's `versions`; empty for the newest."""
    corrected: bool = True
    """Whether known faults of the newest version are mended; older versions are always reproduced unchanged."""
    keep_recent: int | None = None
    reserve: int | None = None
    window: int = DEFAULT_WINDOW
    trigger: TriggerRule = TriggerRule.FIXED
    reserve_percent: int = RESERVE_PERCENT
    estimator: Estimator | None = None
    prune: bool = True
    """Whether opencode's pruning happens before its summary; in 1.18 it has to be switched on."""
    tail_turns: int | None = None
    """The most turns that opencode keeps; None for as many as fit."""
    file_budget: int = FILE_BUDGET
    summary_tokens: int = SUMMARY_TOKENS
    cut: EntryIndex | None = None
    """The first entry to keep, instead of the one that the budget leads to; must be a legal cut."""
    onset: Onset | None = None
    """The size at which the session's own agent compacts; replaces the window minus the fixed reserve."""

    @property
    def rules(self) -> StrategyRules:
        """The rules of the strategy."""
        return rules_of(self.strategy)

    @property
    def behaviour(self) -> str:
        """The version to reproduce. Raises BadSettings if there is none of that name."""
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
        """The estimator to count with."""
        return self.estimator if self.estimator is not None else self.rules.estimator

    @property
    def budget(self) -> int:
        """Tokens to keep unchanged."""
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
    def free(self) -> int:
        """Tokens of the window above the threshold: by the onset if there is one, else the reserve."""
        own = self.onset
        if own is None or own.off or self.trigger is TriggerRule.PROPORTIONAL:
            return self.reserved
        return max(0, self.window - own.tokens)

    @property
    def usable(self) -> int:
        """The window minus the reserved tokens, which is the threshold."""
        return max(0, self.window - self.reserved)
