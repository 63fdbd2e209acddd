"""The rules of each strategy by its name; the strategies are listed in `base/strategies`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from leafward.base.strategies import Strategy

if TYPE_CHECKING:
    from leafward.compaction.strategies.strategy_rules import StrategyRules
    from leafward.context.estimators import Estimator


@cache
def rules_of(strategy: Strategy) -> StrategyRules:
    """The rules of a strategy: `RULES` of the module with its name in this package."""
    rules: StrategyRules = import_module(f"leafward.compaction.strategies.{strategy}").RULES
    return rules


ALL_ESTIMATORS: tuple[Estimator, ...] = tuple(dict.fromkeys(rules_of(one).estimator for one in Strategy))
"""Estimators of all strategies. Every plan asks for this set, so that one measurement serves all strategies."""
