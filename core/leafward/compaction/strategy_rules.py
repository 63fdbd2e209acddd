"""What a strategy decides, as one value: each strategy has its own, `RULES`, in the module of its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.division import Division
    from leafward.compaction.measure import PathSizes
    from leafward.context.estimators import Estimator
    from leafward.session.entries import EntryIndex


class Terms(Protocol):
    """What rules read of the settings of a plan, with the strategy's defaults filled in (`PlanSettings` has it all)."""

    @property
    def behaviour(self) -> str:
        """The version whose behaviour counts."""

    @property
    def mends(self) -> bool:
        """Whether known faults are mended."""

    @property
    def counting(self) -> Estimator:
        """The estimator that counts."""

    @property
    def budget(self) -> int:
        """Tokens that are to be kept as they are."""

    @property
    def usable(self) -> int:
        """Tokens of the window less what is reserved."""

    @property
    def cut(self) -> EntryIndex | None:
        """The first entry to keep, where one is asked for."""

    @property
    def prune(self) -> bool:
        """Whether old results are cleared before the summary, where the strategy does so."""

    @property
    def tail_turns(self) -> int | None:
        """The most turns to keep, where the strategy counts them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyRules:
    """The rules of one strategy. Sizes in tokens."""

    versions: tuple[str, ...]
    """The versions whose behaviour can be asked for, newest first; the newest is meant where none is named."""
    estimator: Estimator
    """How it counts, where nothing else is asked for."""
    budget: Callable[[int], int]
    """What it keeps by default, by the usable part of the window."""
    reserve: Callable[[int], int]
    """What it leaves free for the reply by default, by the window."""
    configured: bool = False
    """Whether `keep-recent` and `reserve` of the configuration are meant for it."""
    inclusive: bool
    """Whether a context that equals its threshold is compacted, not only one beyond it."""
    keeps_tail: bool = True
    """Whether it keeps a tail, whose beginning can be chosen; else messages of the user, quoted in the stored text."""
    divide: Callable[[PathSizes, Terms], Division]
    """Deals out the messages of a path. Raises BadSettings, or IllegalCut where the cut that is asked for is none."""
    cleared: str = ""
    """What takes the place of a result that is cut short, for the summary too; empty where its middle is cut out."""
    bounds_files: bool = True
    """Whether its file lists have a bound even where it is reproduced as it is."""
