"""The verb `plan`: the effect of a compaction, by one strategy or by all of them side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from leafward.agents.model_window import context_window
from leafward.agents.recognition import agent_behind
from leafward.base.figures import counted, short
from leafward.base.safe_text import safe_line
from leafward.base.strategies import Strategy, own_strategy, strategy_of, threshold_strategy
from leafward.cli.model_request import chosen, outgoing_json, request_text, sent_by, would_be_sent
from leafward.cli.output.page import (
    Page,
    emit_json,
    fact_lines,
    faint,
    pad,
    page,
    say,
    table,
    warning,
    wrapped,
)
from leafward.cli.selection import opened
from leafward.cli.settings import configured
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.onset import onset
from leafward.compaction.plan.plan import Plan
from leafward.compaction.plan.plan import plan as plan_of
from leafward.compaction.plan.settings import BadSettings, PlanSettings, TriggerRule
from leafward.compaction.plan.trigger import Trigger, trigger_of
from leafward.compaction.strategies.by_name import rules_of
from leafward.compaction.strategies.cut_rules import RULE_CODE, RULE_TEXT, SHORT_RULE_TEXT, CutLine
from leafward.context.estimators import ESTIMATOR_TEXT, Estimator
from leafward.session.entry_headline import headline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from leafward.base import config
    from leafward.cli.options.compaction_options import PlanOptions
    from leafward.compaction.injection.values import Injection
    from leafward.compaction.strategies.division import Diagnostic
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session
    from leafward.summaries.summarizers.summary import Summarizer

ALL = "all"
_NEAR = 3
"""Number of cuts shown before and after the chosen one."""


def plan(selector: str, options: PlanOptions, as_json: bool) -> int:
    """`leafward plan`."""
    settings = configured()
    with opened(selector) as session:
        found = requested_plans(session, options, settings)
        every = is_all(options, settings)
        if as_json:
            extras = _plan_extras(session, found, settings, chosen(options.model, settings, options.base_url))
            plans = [_plan_json(session, made) | extra for made, extra in zip(found, extras, strict=True)]
            emit_json(_all_json(plans) if every else plans[0])
        else:
            here = page()
            say(_all_text(session, found, here) if every else _plan_text(session, found[0], here))
    return 0


def is_all(options: PlanOptions, settings: config.Config) -> bool:
    """Whether the plans of all strategies are asked for."""
    return (options.strategy or settings.strategy) == ALL


def requested_plans(session: Session, options: PlanOptions, settings: config.Config) -> list[Plan]:
    """The plan that is asked for, or one for each strategy, all from one measurement of the path."""
    chosen = _strategy(session, options, settings)
    if chosen == ALL and options.behaviour is not None:
        raise click.UsageError("--behaviour names a version of one strategy, so it needs --strategy")
    strategies = list(Strategy) if chosen == ALL else [Strategy(chosen)]
    if chosen != ALL and options.cut is not None and not rules_of(strategies[0]).keeps_tail:
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
    return ALL if named == ALL else strategy_of(named, agent_behind(session).name).value


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


_TOKENS = (
    "system",
    "previous_summary",
    "summarize",
    "turn_prefix",
    "kept",
    "pruned",
    "summary",
    "not_in_file",
    "error",
)


def _plan_json(session: Session, made: Plan) -> dict[str, Any]:
    """The document of `plan --json`, without the texts to be injected and sent (`_plan_extras`)."""

    def ids(entries: Iterable[int]) -> list[str | None]:
        return [session.columns.id_at(entry) for entry in entries]

    settings, tokens, trigger, files = made.settings, made.tokens, made.trigger, made.files
    triggers = [trigger_of(made.sizes, replace(settings, trigger=rule)) for rule in TriggerRule]
    return {
        "at": session.columns.id_at(made.at),
        "strategy": settings.strategy.value,
        "behaviour": settings.behaviour,
        "corrected": settings.mends,
        "estimator": {"name": made.estimator.value, "text": ESTIMATOR_TEXT[made.estimator]},
        "trigger": {**_trigger_json(trigger), "rules": [_trigger_json(one) for one in triggers]},
        "keep_recent": settings.budget,
        "first_kept": session.columns.id_at(made.first_kept),
        "keeps": made.keeps,
        "split_turn": made.split_turn,
        "tokens_before": tokens.counted_before,
        "tokens_after": tokens.counted_before if made.nothing else tokens.counted_after,
        "as_pi": {
            "tokens_before": tokens.before,
            "tokens_after": tokens.before if made.nothing else tokens.after,
        },
        "tokens": {name: getattr(tokens, name) for name in _TOKENS},
        "summarize": ids(made.summarize),
        "turn_prefix": ids(made.turn_prefix),
        "kept": ids(made.kept),
        "pruned": ids(short.entry for short in made.pruned),
        "prunings": [
            {"entry": session.columns.id_at(short.entry), "tokens": short.tokens, "left": short.left}
            for short in made.pruned
        ],
        "previous_summary": made.previous_summary,
        "files": {
            "read": list(files.read),
            "modified": list(files.modified),
            "omitted": {"read": files.omitted_read, "modified": files.omitted_modified},
        },
        "why": made.why,
        "diagnostics": diagnostics_json(session, made.diagnostics),
        "cuts": [
            {
                "entry": session.columns.id_at(line.entry),
                "legal": line.legal,
                "rule": RULE_CODE[line.rule],
                "splits_turn": line.splits_turn,
                "kept": line.kept,
            }
            for line in made.cuts()
        ],
        "rules": {RULE_CODE[rule]: text for rule, text in RULE_TEXT.items()},
    }


def diagnostics_json(session: Session, remarks: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Remarks on a plan or a draft, with pi's behaviour if it differs."""
    return [
        {
            "code": remark.code,
            "text": remark.text,
            "pi_would": remark.pi_would,
            **(
                {
                    "pi": {
                        "first_kept": session.columns.id_at(remark.pi.first_kept),
                        "split_turn": remark.pi.split_turn,
                        "summarize": remark.pi.summarize,
                        "turn_prefix": remark.pi.turn_prefix,
                    }
                }
                if remark.pi is not None
                else {}
            ),
        }
        for remark in remarks
    ]


def _trigger_json(trigger: Trigger) -> dict[str, Any]:
    return {
        "rule": trigger.rule.value,
        "window": trigger.window,
        "reserve": trigger.reserve,
        "threshold": trigger.threshold,
        "about": trigger.about,
        "tokens": trigger.tokens,
        "source": trigger.source,
        "reached": trigger.reached,
    }


def _all_json(plans: list[dict[str, Any]]) -> dict[str, Any]:
    """The document of `plan --strategy all --json`: the plan of each strategy."""
    return {"at": plans[0]["at"], "strategy": ALL, "plans": plans, "diagnostics": []}


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


def strategy_text(made: Plan) -> str:
    """The strategy and its version."""
    return f"{made.settings.strategy} {made.settings.behaviour}"


def _plan_text(session: Session, made: Plan, page: Page) -> Iterator[str]:
    """A plan as text: the ledger, the cut with its neighbours, files, remarks."""
    settings, trigger, tokens = made.settings, made.trigger, made.tokens
    where = session.columns.id_at(made.at)
    yield page.style(f"Compaction at {safe_line(where, 60) if where else 'the start'}", "bold")
    sign = "" if trigger.source == "usage" else "~"
    state = "reached" if trigger.reached else "not reached"
    threshold = f"threshold {'about ' if trigger.about else ''}{trigger.threshold:,}"
    facts = (
        f"{strategy_text(made)} rules",
        f"keep recent {settings.budget:,}",
        f"{sign}{trigger.tokens:,} tokens",
        f"{threshold} of {trigger.window:,} {state}",
    )
    yield from faint(fact_lines(facts, page), page)
    yield from faint(wrapped(_estimator_text(made), page), page)
    yield from _stand_in_text(session, settings.strategy, page)
    yield ""
    if made.nothing:
        yield from _remarks(made, page)
        return
    # The rest of a shortened message is summarised, but the message is listed as kept.
    summarised = set(made.summarize).difference(made.kept)
    rows = [
        ("S", "summarised", counted(len(summarised), "message"), tokens.summarize, "memory"),
        ("S", "earlier summary", "into the new one", tokens.previous_summary, "memory"),
        ("P", "split turn", counted(len(made.turn_prefix), "message"), tokens.turn_prefix, "warn"),
        ("K", "kept", counted(len(made.kept), "message"), tokens.kept, "leaf"),
        (" ", "pruned", counted(len(made.pruned), "message"), tokens.pruned, "faint"),
        (" ", "summary, about", "files included" if made.files.size else "", tokens.summary, "memory"),
        (" ", "system", "", tokens.system, "faint"),
        (" ", "not in file", "system, tools", tokens.not_in_file, "faint"),
        (" ", "estimation error", "", tokens.estimation_error, "faint"),
    ]
    for letter, name, count, size, style in rows:
        if size:
            yield f"{page.style(letter, style)} {pad(name, 18)}{pad(count, 16)}{pad(f'{size:,}', 10, right=True)}"
    before = f"{tokens.before_sign}{tokens.counted_before:,} before"
    after = f"  {pad('after, nothing injected', 34)}{pad(f'~{tokens.counted_after:,}', 10, right=True)}"
    yield from fact_lines((after, f"of {before}"), page, below=" " * 36)
    yield ""
    yield from _cut_text(session, made, page)
    if made.files.read or made.files.modified:
        left = f", {made.files.omitted} left out" if made.files.omitted else ""
        modified = counted(len(made.files.modified), "modified file")
        text = f"carries {modified} and {counted(len(made.files.read), 'read file')}{left}"
        yield from faint(wrapped(text, page), page)
    yield from _remarks(made, page)


def _estimator_text(made: Plan) -> str:
    """The estimator of sizes, and that of the rules if it differs."""
    rules = ESTIMATOR_TEXT[made.estimator]
    if made.settings.estimator is not None or made.estimator is Estimator.PI:
        return f"sizes by {rules}"
    return f"cut by {rules}; sizes by {ESTIMATOR_TEXT[Estimator.PI]}"


def _stand_in_text(session: Session, strategy: Strategy, page: Page) -> Iterator[str]:
    """The remark that a strategy stands for an agent without one."""
    agent = agent_behind(session)
    if own_strategy(agent.name) is None:
        text = f"What {agent.title} keeps is not known: {strategy.agent}'s rules are used"
        yield from faint(wrapped(text, page), page)


def _cut_text(session: Session, made: Plan, page: Page) -> Iterator[str]:
    if made.first_kept >= 0:
        lines = [line for line in made.cuts() if line.rule.name != "QUIET_INSIDE"]
        at = next(number for number, line in enumerate(lines) if line.entry == made.first_kept)
        yield page.style(f"  {pad('cut before', 9 + _words_width(page))}   keeps", "faint")
        for line in lines[max(0, at - _NEAR) : at + _NEAR + 1]:
            yield _cut_line(session, line, page, chosen=line.entry == made.first_kept)
        yield ""
    yield from wrapped(safe_line(made.why, 1000), page, below="")


def _words_width(page: Page) -> int:
    """Cells for the first words of the entry behind a cut."""
    return max(18, page.width - 79)


def _cut_line(session: Session, line: CutLine, page: Page, *, chosen: bool) -> str:
    first_words = headline(session, line.entry)
    mark = ("→" if page.unicode else ">") if chosen else " "
    verdict = "can cut" if line.legal else "no cut"
    width = _words_width(page)
    words = page.fit(f"{first_words.word}  {first_words.text}", width)
    text = (
        f"{mark} {pad(f'#{line.entry}', 8)}{pad(words, width)}  {pad(short(line.kept), 6, right=True)}  "
        f"{pad(verdict, 9)}{SHORT_RULE_TEXT[line.rule]}"
    )
    return page.style(page.fit(text, page.width), "bold" if chosen else "faint")


def _remarks(made: Plan, page: Page) -> Iterator[str]:
    for remark in made.diagnostics:
        yield from warning(safe_line(remark.text, 1000), page)
        if remark.pi_would is not None:
            yield from faint(wrapped(safe_line(remark.pi_would, 1000), page, first="  "), page)


def _sizes_of(made: Plan) -> dict[str, str]:
    """The sizes of a plan by name; empty for none. The parts from what is kept on add up to the size afterwards."""
    tokens = made.tokens
    after = tokens.counted_before if made.nothing else tokens.counted_after
    sizes = {"before": f"{tokens.before_sign}{tokens.counted_before:,}", "after": f"~{after:,}"}
    parts = {
        "summarised": tokens.summarize + tokens.previous_summary,
        "split turn": tokens.turn_prefix,
        "pruned": tokens.pruned,
        "kept": tokens.kept,
        "summary, about": tokens.summary,
        "system": tokens.system,
        "not in file": tokens.not_in_file,
        "estimation error": tokens.estimation_error,
    }
    return sizes | {name: f"{size:,}" if size and not made.nothing else "" for name, size in parts.items()}


def _all_text(session: Session, found: list[Plan], page: Page) -> Iterator[str]:
    """Plans side by side: a row for each part, a column for each strategy."""
    where = session.columns.id_at(found[0].at)
    yield page.style(f"Compaction at {safe_line(where, 60) if where else 'the start'}", "bold")
    yield from _stand_in_text(session, Strategy.PI, page)
    yield ""
    columns = [_sizes_of(made) for made in found]
    # A part that no plan has gets no row, like in a single plan.
    rows = [
        [name, *(sizes[name] or "·" for sizes in columns)]
        for name in columns[0]
        if any(sizes[name] for sizes in columns)
    ]
    rows.append(
        [
            "first kept",
            *(
                f"#{made.first_kept}"
                if made.first_kept >= 0
                else counted(len(made.kept), "message")
                if made.keeps == "messages"
                else made.keeps
                for made in found
            ),
        ]
    )
    rows.append(
        [
            "trigger",
            *("reached" if made.trigger.reached else f"{-made.trigger.excess:,} below" for made in found),
        ]
    )
    names = [strategy_text(made) for made in found]
    yield from table(["tokens", *names], rows, page, grow=0, right=names)
    for made in found:
        yield ""
        text = f"{made.settings.strategy}: {safe_line(made.why, 1000)}"
        yield from faint(wrapped(text, page), page)
        yield from _remarks(made, page)
