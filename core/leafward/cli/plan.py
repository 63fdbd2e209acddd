"""The verb `plan`: the effect of a compaction, by one strategy or by all of them side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from leafward.agents.model_window import context_window
from leafward.agents.recognition import agent_behind
from leafward.base.strategies import Strategy, strategy_of, threshold_strategy
from leafward.cli.model_request import chosen, outgoing_json, request_text, sent_by, would_be_sent
from leafward.cli.output.page import emit_json, page, say
from leafward.cli.output.plan_json import ALL_STRATEGIES, all_json, plan_json
from leafward.cli.output.plan_lines import all_lines, plan_lines
from leafward.cli.selection import opened
from leafward.cli.settings import configured
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
    from leafward.summaries.summarizers.summary import Summarizer


def plan(selector: str, options: PlanOptions, as_json: bool) -> int:
    """`leafward plan`."""
    settings = configured()
    summarizer = chosen(options.model, settings, options.base_url)
    with opened(selector) as session:
        found = requested_plans(session, options, settings)
        every = is_all(options, settings)
        if as_json:
            extras = _plan_extras(session, found, settings, summarizer)
            plans = [plan_json(session, made) | extra for made, extra in zip(found, extras, strict=True)]
            emit_json(all_json(plans) if every else plans[0])
        else:
            here = page()
            say(all_lines(session, found, here) if every else plan_lines(session, found[0], here))
    return 0


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


def _plan_extras(
    session: Session, found: list[Plan], settings: config.Config, summarizer: Summarizer
) -> list[dict[str, Any]]:
    """For each plan, the text to be injected, and the texts to be sent with their receiver."""
    from leafward.cli.inject import injection_json
    from leafward.compaction.draft.draft_assembly import prepared

    injection = {**injection_json(session, injection_at(session, found[0].at, settings)), "included": False}
    extras = []
    for made in found:
        request = prepared(session, made) if not made.nothing else None
        going = sent_by(summarizer, *request) if request is not None else None
        shown = going or would_be_sent(*request, settings.window) if request is not None else None
        extras.append(
            {
                "injection": injection,
                "summarizer": summarizer.name,
                "prompt": request_text(shown) if shown is not None else None,
                "outgoing": outgoing_json(going),
            }
        )
    return extras


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
