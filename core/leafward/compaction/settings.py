"""What a plan is asked for: the strategy, its version, budgets, trigger and estimator.

A strategy is a way to compact that an agent is known for; it works on any session. Sizes are in tokens unless said.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from leafward.base.config import DEFAULT_WINDOW, KEEP_RECENT, OWN_STRATEGY, PI_RESERVE
from leafward.base.errors import LeafwardError
from leafward.context.estimators import CODEX_KEPT_USER_TOKENS, Estimator

if TYPE_CHECKING:
    from leafward.session.entries import EntryIndex


class Strategy(StrEnum):
    """Whose rules a plan follows."""

    PI = "pi"
    CODEX = "codex"
    OPENCODE = "opencode"


def strategy_of(name: str, agent: str) -> Strategy:
    """The strategy of a name; of `own`, that of an agent, by its name: pi's where it has none here, as Claude Code."""
    if name != OWN_STRATEGY:
        return Strategy(name)
    return next((one for one in Strategy if one.value == agent), Strategy.PI)


class TriggerRule(StrEnum):
    """When a context counts as too large."""

    FIXED = "fixed"
    """Beyond the window less a reserve."""
    PROPORTIONAL = "proportional"
    """Beyond the window less a share of it (diligent)."""


VERSIONS: dict[Strategy, tuple[str, ...]] = {
    Strategy.PI: ("1.5.2", "0.73", "0.58"),
    Strategy.CODEX: ("0.169", "0.125"),
    Strategy.OPENCODE: ("1.18", "1.3"),
}
"""The versions whose behaviour can be asked for, newest first; the newest is what is meant where none is named."""

CODEX_RESERVE_PERCENT = 5
"""Codex works within 95 % of a model's window."""
OPENCODE_RESERVE = 20_000
"""opencode reserves at most this for the reply."""
RESERVE_PERCENT = 16
"""The share of the window that diligent keeps free."""

TAIL_LEAST, TAIL_MOST, TAIL_PERCENT = 2_000, 15_000, 25
"""What opencode keeps of recent turns: this share of the usable window, within these bounds."""
PRUNE_PROTECT = 40_000
"""Tokens of the newest tool results that opencode never prunes."""
PRUNE_MINIMUM = 20_000
"""opencode prunes only where it frees more than this."""
PRUNE_TURNS = 2
"""The last user turns that opencode never prunes."""
PRUNE_EXEMPT = frozenset({"skill"})
"""Tools whose results opencode never prunes."""

FILE_BUDGET = 8_000
"""Code points that both file lists together may take."""
SUMMARY_TOKENS = 1_500
"""What a summary is reckoned to take before there is one: what models wrote in the sessions that pi publishes."""
TAIL_LIMIT = 1.25
"""A tail larger than this many budgets is a fault, unless its first entry alone makes it so."""


class BadSettings(LeafwardError):
    """Settings that no plan can be made with."""


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """What a plan is made with. None means the strategy's own default."""

    strategy: Strategy = Strategy.PI
    version: str = ""
    """One of `VERSIONS`; empty for the newest."""
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

    @property
    def behaviour(self) -> str:
        """The version that counts. Raises BadSettings where there is none of that name."""
        known = VERSIONS[self.strategy]
        if not self.version:
            return known[0]
        if self.version not in known:
            raise BadSettings(f"no version {self.version!r} of {self.strategy}; there are {', '.join(known)}")
        return self.version

    @property
    def mends(self) -> bool:
        """Whether known faults are mended in this plan."""
        return self.corrected and self.behaviour == VERSIONS[self.strategy][0]

    @property
    def counting(self) -> Estimator:
        """The estimator that counts."""
        return self.estimator if self.estimator is not None else Estimator(self.strategy.value)

    @property
    def budget(self) -> int:
        """Tokens that are to be kept as they are."""
        if self.keep_recent is not None:
            return max(0, self.keep_recent)
        if self.strategy is Strategy.OPENCODE:
            return min(TAIL_MOST, max(TAIL_LEAST, self.usable * TAIL_PERCENT // 100))
        return CODEX_KEPT_USER_TOKENS if self.strategy is Strategy.CODEX else KEEP_RECENT

    @property
    def reserved(self) -> int:
        """Tokens of the window that are left free for the reply."""
        if self.trigger is TriggerRule.PROPORTIONAL:
            return self.window * self.reserve_percent // 100
        if self.reserve is not None:
            return max(0, self.reserve)
        if self.strategy is Strategy.CODEX:
            return self.window * CODEX_RESERVE_PERCENT // 100
        return OPENCODE_RESERVE if self.strategy is Strategy.OPENCODE else PI_RESERVE

    @property
    def usable(self) -> int:
        """The window less what is reserved: where the trigger lies."""
        return max(0, self.window - self.reserved)
