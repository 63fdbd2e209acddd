"""The user's choices in the lab. A value: every change makes a new one, and drafts are kept by their choices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from leafward.base.strategies import Strategy, strategy_of, threshold_strategy
from leafward.compaction.plan.settings import PlanSettings
from leafward.compaction.strategies.by_name import rules_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leafward.base.config import Config
    from leafward.compaction.plan.onset import Onset
    from leafward.session.entries import EntryIndex

EXTRACTIVE = "extractive"
"""The name of the summariser that needs no model."""
AS_IT_IS = "the summary as it is"
"""The summary of the corrected compaction, word for word."""


@dataclass(frozen=True, slots=True)
class Choices:
    """All settings of a considered compaction. Sizes in tokens unless noted."""

    strategy: Strategy
    keep: Mapping[Strategy, int]
    """Tokens to keep, where they are not the strategy's own default."""
    reserve: Mapping[Strategy, int]
    window: int
    cut: EntryIndex | None = None
    """The first entry to keep, instead of the one that the budget leads to."""
    summarizer: str = EXTRACTIVE
    """`extractive`, the summary of the corrected compaction, or a model's name."""
    pins: tuple[str, ...] = ()
    focus: str = ""
    inject: bool = True
    """Whether context is injected beside the summary."""
    off: frozenset[str] = frozenset()
    """Keys of sections that are not injected."""
    budget: int = 8_000
    """Budget of the injected text, in code points."""
    own: Strategy | None = None
    """The strategy whose plan is compared with the threshold of the session's own agent."""
    onset: Onset | None = None
    """That threshold; None where it is not known, or where the user moved a slider that it depends on."""

    @classmethod
    def of(cls, config: Config, window: int, agent: str = "pi", onset: Onset | None = None) -> Choices:
        """The choices by the configuration for a session of an agent; unconfigured strategies keep their own defaults."""
        configured = [one for one in Strategy if rules_of(one).configured]
        return cls(
            strategy=strategy_of(config.strategy, agent),
            keep=MappingProxyType(dict.fromkeys(configured, config.keep_recent)),
            reserve=MappingProxyType(dict.fromkeys(configured, config.reserve)),
            window=window,
            budget=config.injection_budget,
            own=threshold_strategy(config.strategy, agent),
            onset=onset,
        )

    @property
    def asks(self) -> bool:
        """Whether a model has to be asked for the summary."""
        return self.summarizer not in (EXTRACTIVE, AS_IT_IS)

    def settings(self, strategy: Strategy | None = None) -> PlanSettings:
        """The settings of a strategy's plan, of the chosen one by default. A cut holds for the chosen strategy only."""
        chosen = self.strategy if strategy is None else strategy
        cut = self.cut if chosen is self.strategy and rules_of(chosen).keeps_tail else None
        return PlanSettings(
            strategy=chosen,
            keep_recent=self.keep.get(chosen),
            reserve=self.reserve.get(chosen),
            window=self.window,
            cut=cut,
            onset=self.onset if chosen is self.own else None,
        )

    def keeping(self, tokens: int, cut: EntryIndex | None = None) -> Choices:
        """The choices with another size to keep, and with a cut where one is given."""
        return replace(self, keep=MappingProxyType({**self.keep, self.strategy: tokens}), cut=cut)

    def reserving(self, tokens: int) -> Choices:
        """The choices with another reserve."""
        reserve = MappingProxyType({**self.reserve, self.strategy: tokens})
        return replace(self, reserve=reserve, onset=None if self.strategy is self.own else self.onset)

    def windowed(self, tokens: int) -> Choices:
        """The choices with another window. What is free above the agent's own threshold stays free."""
        reserve = self.reserve
        if self.own is not None and self.onset is not None:
            reserve = MappingProxyType({**reserve, self.own: self.settings(self.own).free})
        return replace(self, window=tokens, reserve=reserve, onset=None)

    def by(self, strategy: Strategy) -> Choices:
        """The choices with another strategy, and without a requested cut."""
        return replace(self, strategy=strategy, cut=None)

    def switched(self, section: str) -> Choices:
        """The choices with a section of the injected context switched on or off."""
        return replace(self, off=self.off ^ {section})

    def draft_key(
        self, strategy: Strategy | None = None, summarizer: str | None = None
    ) -> tuple[object, ...]:
        """The values that a draft depends on."""
        injected = (self.budget, self.off) if self.inject else None
        made_by = self.summarizer if summarizer is None else summarizer
        settings = self.settings(strategy)
        return (settings, made_by, self.pins, self.focus, injected)
