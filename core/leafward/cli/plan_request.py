"""The plans that the options of `plan` and `compact` ask for, and the context to be injected with them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from leafward.agents.model_window import context_window
from leafward.agents.recognition import agent_behind
from leafward.base.strategies import Strategy, strategy_of, threshold_strategy
from leafward.cli.output.plan_json import ALL_STRATEGIES
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.onset import onset
from leafward.compaction.plan.plan import Plan
from leafward.compaction.plan.plan import plan as plan_of
from leafward.compaction.plan.settings import BadSettings, PlanSettings, TriggerRule
from leafward.compaction.strategies.by_name import rules_of
from leafward.context.estimators import Estimator

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.base import config
    from leafward.cli.options.compaction_options import PlanOptions
    from leafward.compaction.injection.values import Injection
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session


def is_all(options: PlanOptions, settings: config.Config) -> bool:
    """Whether the plans of all strategies are asked for."""
    return (options.strategy or settings.strategy) == ALL_STRATEGIES


def requested_plans(session: Session, options: PlanOptions, settings: config.Config) -> list[Plan]:
    """The plan that is asked for, or one for each strategy, all from one measurement of the path."""
    chosen = _strategy(session, options, settings)
    if chosen == ALL_STRATEGIES and options.behaviour is not None:
        raise click.UsageError("--behaviour names a version of one strategy, so it needs --strategy")
    strategies = list(Strategy) if chosen == ALL_STRATEGIES else [Strategy(chosen)]
    if chosen != ALL_STRATEGIES and options.cut is not None and not rules_of(strategies[0]).keeps_tail:
        raise click.UsageError(
            f"--cut sets where the tail begins, but {chosen} keeps single messages and no tail"
        )
    at = session.find(options.at) if options.at is not None else session.leaf
    cut = session.find(options.cut) if options.cut is not None else None
    plan_settings = [_settings(strategy, options, settings, cut) for strategy in strategies]
    sizes = measure(session, at, estimators=[one.counting for one in plan_settings])
    if options.window is None:
        window = context_window(session, sizes.context, settings)
        when = onset(sizes.context, window, settings) if options.reserve is None else None
        own = threshold_strategy(options.strategy or settings.strategy, agent_behind(session).name)
        plan_settings = [
            replace(one, window=window.tokens, onset=when if one.strategy is own else None)
            for one in plan_settings
        ]
    return [plan_of(sizes, one) for one in plan_settings]


def _strategy(session: Session, options: PlanOptions, settings: config.Config) -> str:
    """`all`, or the strategy: the one asked for, else the configured one, else that of the session's own agent."""
    named = options.strategy or settings.strategy
    return ALL_STRATEGIES if named == ALL_STRATEGIES else strategy_of(named, agent_behind(session).name).value


def _settings(
    strategy: Strategy, options: PlanOptions, settings: config.Config, cut: EntryIndex | None
) -> PlanSettings:
    """The settings from the options, else from the configuration; strategies that the configuration does not cover have their own."""
    keep, reserve = options.keep_recent, options.reserve
    rules = rules_of(strategy)
    if rules.configured:
        keep = settings.keep_recent if keep is None else keep
        reserve = settings.reserve if reserve is None else reserve
    made = PlanSettings(
        strategy=strategy,
        version=options.behaviour or "",
        corrected=not options.as_is,
        keep_recent=keep,
        reserve=reserve,
        window=options.window or settings.window,
        trigger=TriggerRule(options.trigger),
        estimator=Estimator.SCRIPT if options.by_script else None,
        prune=not options.no_prune,
        cut=cut if rules.keeps_tail else None,
    )
    try:
        made.behaviour  # noqa: B018  # an unknown version is refused before anything is read
    except BadSettings as error:
        raise click.UsageError(str(error)) from error
    return made


def injection_at(
    session: Session,
    at: int,
    settings: config.Config,
    *,
    most: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Injection:
    """The context to be injected at an entry, as configured; in at most so many code points."""
    from leafward.compaction.injection.configured import configured_settings
    from leafward.compaction.injection.injection import inject

    injection_settings = configured_settings(settings)
    if most is not None and most < injection_settings.budget:
        injection_settings = replace(injection_settings, budget=most)
    return inject(session, at, injection_settings, stop)
