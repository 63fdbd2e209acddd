"""The verb `compact`: a plan carried out or previewed, by one strategy or by all of them side by side."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import click

from leafward.base.errors import LeafwardError, Refused
from leafward.base.figures import counted, percent
from leafward.base.gc_pause import gc_paused
from leafward.base.safe_text import safe_line
from leafward.cli.model_request import (
    asks_model,
    cancellable,
    chosen,
    cost_text,
    outgoing_json,
    progress,
    refuse_cancelled,
    request_text,
    sent_by,
    tell_outgoing,
)
from leafward.cli.options.compaction_options import PlanOptions
from leafward.cli.output.exam_json import exam_json
from leafward.cli.output.page import (
    Page,
    emit_json,
    fact_lines,
    faint,
    indented,
    note,
    pad,
    page,
    say,
    table,
    usage_json,
    warning,
    wrapped,
)
from leafward.cli.output.plan_json import ALL_STRATEGIES, diagnostics_json
from leafward.cli.output.plan_lines import strategy_text
from leafward.cli.output.survival_facts import fact_text, fate_json, share_text, survival_json
from leafward.cli.output.write_report import remark, write_json
from leafward.cli.plan_request import injection_at, is_all, requested_plans
from leafward.cli.selection import compaction_at, opened
from leafward.cli.settings import configured
from leafward.compaction.draft.draft import accept
from leafward.compaction.draft.draft_assembly import draft, prepared, refuse_nothing
from leafward.compaction.draft.gate import gate_pins, pinned, unseen
from leafward.compaction.exam.grade import exam_of_draft
from leafward.compaction.plan.growth import planned_growth
from leafward.compaction.stored_summary.pins import said_pins
from leafward.compaction.stored_summary.provenance import cost_of
from leafward.context.projection import begins_at_gap
from leafward.session.entries import Usage
from leafward.session.journal.lock import busy
from leafward.session.journal.open_file import refuse_unwritable
from leafward.session.journal.write import Writing
from leafward.summaries.facts.values import FactKind
from leafward.summaries.fates.report import Status
from leafward.summaries.summarizers.extractive.summarizer import Extractive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.base.config import Config
    from leafward.cli.options.compaction_options import CompactOptions
    from leafward.compaction.draft.draft import Draft
    from leafward.compaction.injection.values import Injection
    from leafward.compaction.plan.plan import Plan
    from leafward.session.session import Session
    from leafward.summaries.summarizers.summary import Summarizer

_LOST_SHOWN = 8


# Until all that was read is gone again: one pass over it takes longer than its garbage is worth.
@gc_paused()
def compact(selector: str, options: CompactOptions, dry_run: bool, as_json: bool) -> int:
    """`leafward compact`."""
    settings = configured()
    every = is_all(options, settings)
    _refuse_contradictions(options, every=every, dry_run=dry_run)
    summarizer = chosen(options.model, settings, options.base_url)
    with opened(selector) as session:
        if every:
            return _compare(session, options, settings, as_json)
        if not dry_run:
            refuse_unwritable(session)
        with busy(session.path, "a compaction") as claim, cancellable() as stop:
            if options.repair is not None:
                plan, options, injection, own = _correction(session, options.repair, options, settings)
                summarizer = summarizer if options.model is not None else own
            else:
                plan = _plan(session, options, settings)
                if not (dry_run or options.larger or isinstance(summarizer, Extractive)):
                    _refuse_larger(planned_growth(plan.diagnostics), "sent")
                options = _with_sentences(session, plan.at, options)
                injection = _injection(session, plan, options, settings, stop)
            if dry_run and asks_model(summarizer):
                return _tell_requests(session, plan, options, summarizer, injection, as_json)
            made = _summarised(session, plan, options, summarizer, injection, stop)
            refuse_cancelled(stop)
            stopped = bool(unseen(made.survival)) and not options.accept_loss
            try:
                if not dry_run and not options.larger:
                    _refuse_larger(made.growth, "written")
                written = accept(session, made, Writing(dry_run=dry_run or stopped, claim=claim))
            except (LeafwardError, OSError):
                if made.summary.usage is not None and not as_json:
                    # It was paid for.
                    say(_text(session, made, page(), None, stopped=stopped))
                raise
        entry = written.entries[-1] if written.entries else None
        if as_json:
            document, result = draft_json(session, made), write_json(session, written)
            if written.dry_run:
                document["lines"] = made.lines()
            remarks = document.pop("diagnostics") + result.pop("diagnostics")
            emit_json({"entry": entry, **document, **result, "dry_run": dry_run, "diagnostics": remarks})
        else:
            say(_text(session, made, page(), entry, stopped=stopped))
        if stopped and not dry_run:
            again = _AGAIN if asks_model(summarizer) else ""
            note(f"{_gate_text(made)}; {_WAYS}{again}; nothing was written")
            return 1
        if not as_json:
            remark(session, written)
    return 0


def _refuse_contradictions(options: CompactOptions, *, every: bool, dry_run: bool) -> None:
    """Raises UsageError for options that do not go together."""
    if every and not dry_run:
        raise click.UsageError("--strategy all only compares, so it needs --dry-run")
    if every and options.model not in (None, Extractive.name):
        raise click.UsageError("--strategy all compares without asking a model, so it takes no --model")
    of_plan = (one for one in fields(PlanOptions) if one.name not in ("model", "base_url"))
    if options.repair is not None and any(getattr(options, one.name) != one.default for one in of_plan):
        raise click.UsageError("--repair uses the place, cut and strategy of the compaction that it corrects")


_WAYS = "--pin-lost adds them to the summary, --accept-loss goes on without them"
_AGAIN = "; either asks the model again, which costs as much"


def _gate_text(made: Draft) -> str:
    lost = unseen(made.survival)
    rules = sum(fate.fact.kind is FactKind.CONSTRAINT for fate in lost)
    counts = ((rules, "rule"), (len(lost) - rules, "unfinished step"))
    losses = " and ".join(counted(count, word) for count, word in counts if count)
    return f"the model would no longer see {losses}"


def _plan(session: Session, options: CompactOptions, settings: Config) -> Plan:
    """The plan that the options ask for. Raises Refused if it would replace nothing."""
    plan = requested_plans(session, options, settings)[0]
    if plan.nothing and begins_at_gap(session, plan.at if plan.at >= 0 else session.leaf):
        raise Refused(f"{plan.diagnostics[0].text}; {_GAP}")
    refuse_nothing(plan)
    return plan


def _with_sentences(session: Session, at: int, options: CompactOptions) -> CompactOptions:
    """The options with each pinned bare token replaced by the sentence that mentions it."""
    return replace(options, pins=said_pins(session, at, options.pins))


_GAP = "the entry before the first one is not in the file; `leafward heal` begins a session that goes on before it"
_LARGER = "--larger compacts anyway"


def _refuse_larger(grows: str, undone: str) -> None:
    """Raises Refused if the context would grow. Also checked before paying a model, whose summary would be of no use."""
    if grows:
        raise Refused(f"{grows}; nothing was {undone} ({_LARGER})")


def _injection(
    session: Session, plan: Plan, options: CompactOptions, settings: Config, stop: Callable[[], bool]
) -> Injection | None:
    """The context to enclose, if it is wanted; under a limit it takes at most half of it."""
    if not options.inject:
        return None
    limit = options.max_tokens
    return injection_at(session, plan.at, settings, most=limit * 2 if limit is not None else None, stop=stop)


def _summarised(
    session: Session,
    plan: Plan,
    options: CompactOptions,
    summarizer: Summarizer,
    injection: Injection | None,
    stop: Callable[[], bool],
) -> Draft:
    """The compaction of a plan; with `--pin-lost`, its summary holds everything for which the gate would stop it."""
    focus, limit = options.focus or "", options.max_tokens

    def drafted(pins: tuple[str, ...]) -> Draft:
        if asks_model(summarizer):
            span, budget = prepared(
                session, plan, pins=pins, focus=focus, injection=injection, max_tokens=limit
            )
            tell_outgoing(summarizer, sent_by(summarizer, span, budget))
        with progress() as show:
            return draft(
                session,
                plan,
                summarizer,
                pins=pins,
                focus=focus,
                injection=injection,
                max_tokens=limit,
                progress=show,
                stop=stop,
            )

    made, pins = drafted(options.pins), options.pins
    # A pin may take the room of another rule.
    while options.pin_lost and (lost := [pin for pin in gate_pins(made) if pin not in pins]):
        pins = (*pins, *lost)
        # A summary that stays is only added to, and one by a model is not paid for twice.
        stays = options.repair is not None or made.summary.usage is not None
        made = pinned(made, lost) if stays else drafted(pins)
    return made


def _correction(
    session: Session, repaired: str, options: CompactOptions, settings: Config
) -> tuple[Plan, CompactOptions, Injection | None, Summarizer]:
    """The plan, the options with its pins and without the question of size, the injected context and the summary of a compaction to correct."""
    # It knows how injected context is made, which nothing else here needs.
    from leafward.compaction.draft.repair import corrected, own_summary

    index = compaction_at(session, repaired)
    options = _with_sentences(session, index, options)
    injection = injection_at(session, session.columns.parent[index], settings) if options.inject else None
    start = corrected(session, index, options.pins, injection)
    return (
        start.plan,
        replace(options, pins=start.pins, larger=True),
        start.injection,
        own_summary(session, index),
    )


def _tell_requests(
    session: Session,
    plan: Plan,
    options: CompactOptions,
    summarizer: Summarizer,
    injection: Injection | None,
    as_json: bool,
) -> int:
    """Shows what would be sent: a dry run never asks a model."""
    span, budget = prepared(
        session,
        plan,
        pins=options.pins,
        focus=options.focus or "",
        injection=injection,
        max_tokens=options.max_tokens,
    )
    going = sent_by(summarizer, span, budget)
    if as_json:
        emit_json(
            {
                "entry": None,
                "at": session.columns.id_at(plan.at),
                "summary": None,
                "summarizer": summarizer.name,
                "tokens_before": plan.tokens.counted_before,
                "tokens_after": None,
                "survival": None,
                "prompt": request_text(going) if going is not None else None,
                "outgoing": outgoing_json(going),
                "dry_run": True,
                "diagnostics": diagnostics_json(session, plan.diagnostics),
            }
        )
        return 0
    tell_outgoing(summarizer, going, would=True)
    if (grows := planned_growth(plan.diagnostics)) and not options.larger:
        note(f"it would stop before sending: {grows} ({_LARGER})")
    for request in going.requests if going is not None else ():
        say(
            [
                page().style(request.title, "bold"),
                *indented(request.system),
                "",
                *indented(request.prompt),
                "",
            ]
        )
    note("nothing was sent and nothing was written")
    return 0


def draft_json(session: Session, made: Draft) -> dict[str, Any]:
    """A draft in the form of `compact --json`."""
    plan, summary, injected = made.plan, made.summary, None
    if made.injection is not None:
        # Loaded only if needed: it takes a while.
        from leafward.cli.output.injection_json import injection_json

        injected = injection_json(session, made.injection)
    return {
        "at": session.columns.id_at(plan.at),
        "strategy": plan.settings.strategy.value,
        "behaviour": plan.settings.behaviour,
        "summarizer": summary.summarizer,
        "summary": made.text,
        "first_kept": session.columns.id_at(plan.first_kept),
        "keeps": plan.keeps,
        "split_turn": plan.split_turn,
        "tokens_before": plan.tokens.counted_before,
        "tokens_after": made.counted_after,
        "as_pi": {"tokens_before": made.tokens_before, "tokens_after": made.tokens_after},
        "tokens": {
            "summary": made.summary_tokens,
            "stored": made.stored_tokens,
            "injection": made.injection.tokens if made.injection is not None else 0,
            "kept": made.kept_tokens,
            "system": made.system_tokens,
        },
        "summarize": [session.columns.id_at(entry) for entry in plan.summarize],
        "turn_prefix": [session.columns.id_at(entry) for entry in plan.turn_prefix],
        "kept": [session.columns.id_at(entry) for entry in plan.kept],
        "pruned": [session.columns.id_at(short.entry) for short in plan.pruned],
        "files": {"read": sorted(made.ground.read), "modified": sorted(made.ground.modified)},
        "pins": list(made.pins),
        "focus": made.focus,
        "injection": injected,
        "usage": usage_json(summary.usage if summary.usage is not None else Usage()),
        "cost": cost_of(summary),
        "redacted": dict(summary.redacted),
        "survival": survival_json(session, made.survival),
        "gate": [fate_json(session, fate) for fate in unseen(made.survival)],
        "exam": exam_json(session, exam_of_draft(made)),
        "diagnostics": diagnostics_json(session, made.diagnostics),
    }


def _text(session: Session, made: Draft, page: Page, entry: str | None, *, stopped: bool) -> Iterator[str]:
    plan = made.plan
    head = "compacted" if entry is not None else "would compact"
    where = f" as {entry}" if entry is not None else ""
    sizes = f"{plan.tokens.before_sign}{plan.tokens.counted_before:,} -> ~{made.counted_after:,} tokens"
    injected = "" if made.injection is not None else ", nothing injected"
    yield f"{page.style(head, 'ghost')}{where}: {sizes}{injected}"
    tail = (
        f"kept from {safe_line(session.columns.id_at(plan.first_kept) or '', 40)}"
        if plan.first_kept >= 0
        else "no tail"
    )
    split = f", {len(plan.turn_prefix):,} of them of the split turn" if plan.turn_prefix else ""
    summarised = counted(len(plan.summarize) + len(plan.turn_prefix), "message")
    facts = (strategy_text(plan), f"{summarised} summarised{split}", tail)
    yield from faint(fact_lines(facts, page), page)
    named = safe_line(made.summary.summarizer, 60)
    maker = f"{named}, extracts text locally" if named == Extractive.name else f"summary by {named}"
    yield from faint(fact_lines((maker, cost_text(cost_of(made.summary))), page), page)
    yield ""
    yield from indented(made.text, "")
    yield ""
    overall = made.survival.overall()
    if overall is not None:
        lost = [fate for fate in made.survival.fates if fate.status is Status.LOST]
        yield from wrapped(f"{share_text(made.survival, overall)}; {len(lost):,} lost", page)
        lost.sort(key=lambda fate: -fate.fact.weight)
        for fate in lost[:_LOST_SHOWN]:
            text = fact_text(fate.fact, max(20, page.width - 16), page)
            yield page.style(f"  {pad(str(fate.fact.kind), 11)} {text}", "faint")
        if len(lost) > _LOST_SHOWN:
            yield page.style(f"  and {len(lost) - _LOST_SHOWN:,} more; --json has all", "faint")
    if gate := unseen(made.survival):
        stops = "; this stops the compaction" if stopped else ""
        yield from warning(f"{_gate_text(made)}{stops}", page)
        for fate in gate:
            # Whole sentences: half a rule is another rule.
            text = f"{fate.fact.kind}  {safe_line(fate.fact.text)}"
            yield from wrapped(text, page, first="  ", below="    ")
    for one in made.diagnostics:
        yield from warning(safe_line(one.text, 1000), page)


def _compare(session: Session, options: CompactOptions, settings: Config, as_json: bool) -> int:
    """Compares the drafts of all strategies, without asking a model."""
    drafts: list[tuple[Plan, Draft | None, str]] = []
    with cancellable() as stop:
        for plan in requested_plans(session, options, settings):
            try:
                refuse_nothing(plan)
                injection = _injection(session, plan, options, settings, stop)
                made = _summarised(session, plan, options, Extractive(), injection, stop)
                drafts.append((plan, made, ""))
            except Refused as error:
                drafts.append((plan, None, str(error)))
    if all(made is None for _, made, _ in drafts):
        raise Refused(drafts[0][2])
    if as_json:
        emit_json(
            {
                "at": session.columns.id_at(drafts[0][0].at),
                "strategy": ALL_STRATEGIES,
                "dry_run": True,
                "drafts": [
                    draft_json(session, made)
                    if made is not None
                    else {"strategy": plan.settings.strategy.value, "summary": None, "refused": why}
                    for plan, made, why in drafts
                ],
                "diagnostics": [],
            }
        )
        return 0
    rows = [_row(plan, made) for plan, made, _ in drafts]
    head = ("strategy", "before", "after", "summary", "survives", "lost", "cost")
    here = page()
    say(table(head, rows, here, grow=0, right=" ".join(head[1:])))
    for plan, _, why in drafts:
        if why:
            say(warning(safe_line(f"{strategy_text(plan)}: {why}", 1000), here))
    return 0


def _row(plan: Plan, made: Draft | None) -> tuple[str, ...]:
    if made is None:
        return (strategy_text(plan), "", "", "", "", "", "")
    overall = made.survival.overall()
    lost = sum(1 for fate in made.survival.fates if fate.status is Status.LOST)
    return (
        strategy_text(plan),
        f"{plan.tokens.before_sign}{plan.tokens.counted_before:,}",
        f"~{made.counted_after:,}",
        f"{made.summary_tokens:,}",
        percent(overall, 1) if overall is not None else "·",
        str(lost),
        cost_text(cost_of(made.summary)),
    )
