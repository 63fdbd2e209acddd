"""Rules of a strategy as one value; each strategy has its own, `RULES`, in the module with its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.measure.measure import PathSizes
    from leafward.compaction.strategies.division import Division
    from leafward.context.estimators import Estimator
    from leafward.session.entries import EntryIndex


class PlanTerms(Protocol):
    """Settings of a plan that rules read, with the strategy's defaults filled in (`PlanSettings` has all of them)."""

    @property
    def behaviour(self) -> str:
        """The version to reproduce."""

    @property
    def mends(self) -> bool:
        """Whether known faults are mended."""

    @property
    def counting(self) -> Estimator:
        """The estimator to count with."""

    @property
    def budget(self) -> int:
        """Tokens to keep unchanged."""

    @property
    def usable(self) -> int:
        """Tokens of the window minus the reserved ones."""

    @property
    def cut(self) -> EntryIndex | None:
        """The first entry to keep, if one is asked for."""

    @property
    def prune(self) -> bool:
        """Whether old results are cleared before the summary, if the strategy supports it."""

    @property
    def tail_turns(self) -> int | None:
        """The most turns to keep, if the strategy limits them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyRules:
    """The rules of one strategy. Sizes in tokens."""

    versions: tuple[str, ...]
    """The versions that can be reproduced, newest first; the newest is the default."""
    estimator: Estimator
    """The estimator, unless another is asked for."""
    budget: Callable[[int], int]
    """Tokens to keep by default, from the usable part of the window."""
    reserve: Callable[[int], int]
    """Tokens to leave free for the reply by default, from the window."""
    configured: bool = False
    """Whether `keep-recent` and `reserve` of the configuration apply to it."""
    inclusive: bool
    """Whether a context equal to its threshold is compacted, not only a larger one."""
    keeps_tail: bool = True
    """Whether it keeps a tail, whose beginning can be chosen; otherwise it quotes messages of the user in the stored text."""
    divide: Callable[[PathSizes, PlanTerms], Division]
    """Divides the messages of a path. Raises BadSettings, and IllegalCut if the cut that is asked for is not legal."""
    cleared: str = ""
    """Text that replaces a shortened result, in the summary's input too; empty if results are cut in the middle instead."""
    bounds_files: bool = True
    """Whether its file lists are bounded even if faults are not mended."""
