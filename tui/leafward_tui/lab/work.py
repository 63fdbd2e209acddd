"""What the lab does off the UI thread. Loaded when some of it starts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from leafward.agents import agent_behind
from leafward.base.safe_text import safe
from leafward.cli.inject import injection_settings
from leafward.compaction import ALL_ESTIMATORS, measure
from leafward.compaction.cuts import IllegalCut
from leafward.compaction.entry import cost_of
from leafward.compaction.injection import Collected, Injection, build
from leafward.compaction.run import clean_pins, draft, edited, prepared
from leafward.compaction.xray import planned_at
from leafward.context.model_context import context_at, context_window
from leafward.session.entries import NO_ENTRY, EntryIndex, Kind
from leafward.session.headline import headline
from leafward.session.injected_block import split_enclosed
from leafward.summaries.summarizers import tokens_of
from leafward.summaries.survival import survival_of
from leafward_tui.lab.model.choices import Choices
from leafward_tui.lab.model.runs import Run
from leafward_tui.lab.model.turns import PathTurns, by_turn
from leafward_tui.lab.model.what_if import WhatIf
from leafward_tui.ui.cells import counted, limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.base.config import Config
    from leafward.compaction import Plan
    from leafward.compaction.draft import Draft
    from leafward.session.headline import Headline
    from leafward.session.session import Session
    from leafward.summaries.summarizers import Summarizer
    from leafward.summaries.summarizers.model import Model, Outgoing


def point_of(session: Session, entry: int) -> tuple[EntryIndex, EntryIndex]:
    """Where a what-if at an entry stands, and the compaction it stands beside (-1 for none)."""
    if entry >= 0 and session.columns.kind[entry] == Kind.COMPACTION:
        return EntryIndex(planned_at(session, entry)), EntryIndex(entry)
    return EntryIndex(entry), NO_ENTRY


def begin(session: Session, at: int, beside: int, config: Config) -> WhatIf:
    """Measures the path to an entry. Beside a compaction that is in the session, its own cut is where it begins."""
    sizes = measure(session, at, estimators=ALL_ESTIMATORS)
    turns = PathTurns(sizes)
    turns = PathTurns(sizes, by_turn(_branches(session, at, sizes.entries), turns))
    context = sizes.context
    choices = Choices.of(config, context_window(session, context, config).tokens, agent_behind(session).name)
    choices = replace(choices, off=injection_settings(config).off)
    if config.model:
        choices = replace(choices, summarizer=config.model)
    found = WhatIf(turns, choices)
    kept = _first_kept(session, beside)
    position = sizes.position(kept) if kept >= 0 else -1
    if position >= 0 and found.cuttable:
        try:
            found.choices = found.cutting(position)
            found.replan()
        except IllegalCut:
            return found
    return found


def _first_kept(session: Session, compaction: int) -> int:
    if compaction < 0:
        return NO_ENTRY
    named = (session.body(compaction) or {}).get("firstKeptEntryId")
    return session.columns.index(named) if isinstance(named, str) else NO_ENTRY


def _branches(session: Session, at: int, entries: Iterable[int]) -> dict[int, int]:
    """What the branches that leave a path begin with, each with the position of the entry it leaves."""
    tree = session.tree
    position = {entry: place for place, entry in enumerate(entries)}
    path = tree.path_runs(at)
    on_path = {run.start for run in path}
    found: dict[int, int] = {}
    for run in path:
        index = tree.run_of(run.start)
        place = position.get(int(tree.content_at(run.stop - 1)))
        if place is None or tree.bounds(index)[1] != run.stop:
            continue
        for child in tree.content_children(index):
            if tree.starts[child] not in on_path:
                found.setdefault(tree.content_from(child), place)
    return found


def worded(session: Session, entries: Iterable[int], stop: Callable[[], bool]) -> dict[int, Headline]:
    """The headlines of some entries."""
    found: dict[int, Headline] = {}
    for entry in entries:
        if stop():
            break
        found[entry] = headline(session, entry)
    return found


def injected(found: Collected, choices: Choices, config: Config) -> Injection:
    """What would be injected at a point that was read already."""
    settings = replace(injection_settings(config), budget=choices.budget, off=choices.off)
    return build(found, settings)


def drafted(
    session: Session,
    plan: Plan,
    summarizer: Summarizer,
    choices: Choices,
    injection: Injection | None,
    progress: Callable[[str], object],
    stop: Callable[[], bool],
) -> Draft:
    """A draft of a plan. Raises what summarisers raise."""
    return draft(
        session,
        plan,
        summarizer,
        pins=choices.pins,
        focus=choices.focus,
        injection=injection if choices.inject else None,
        progress=progress,
        stop=stop,
    )


def sending(
    session: Session, plan: Plan, model: Model, choices: Choices, injection: Injection | None
) -> Outgoing:
    """What a model would be sent for a draft of a plan; nothing is sent."""
    span, budget = prepared(
        session,
        plan,
        pins=choices.pins,
        focus=choices.focus,
        injection=injection if choices.inject else None,
    )
    return model.outgoing(span, budget)


def with_pins(draft: Draft, pins: Iterable[str]) -> Draft:
    """A draft whose summary was not made here, with facts pinned into it."""
    every = tuple(dict.fromkeys([*draft.pins, *clean_pins(pins)]))
    return edited(replace(draft, pins=every), draft.summary.text)


def stood(session: Session, compaction: int) -> Run:
    """A compaction that is in the session, as a run to hold others against."""
    body = session.body(compaction) or {}
    stored = body.get("summary")
    text = safe(split_enclosed(stored if isinstance(stored, str) else "")[0])
    return Run(
        name=f"#{compaction} as it is",
        about="in the session",
        text=text,
        tokens=tokens_of(text),
        after=context_at(session, compaction).size.total,
        survival=survival_of(session, compaction),
        cost=None,
    )


def run_of(draft: Draft, choices: Choices) -> Run:
    """A draft as a run."""
    plan, summary = draft.plan, draft.summary
    settings = plan.settings
    by = f"{summary.summarizer}, edited" if draft.changed else summary.summarizer
    about = f"keep {limit(settings.budget)}, window {limit(settings.window)}"
    if choices.cut is not None:
        about = f"cut at #{plan.first_kept}, window {limit(settings.window)}"
    if draft.pins:
        about += f", {counted(len(draft.pins), 'pin')}"
    if draft.injection is None:
        about += ", nothing injected"
    elif choices.off:
        about += f", {counted(len(choices.off), 'section')} off"
    cost = cost_of(summary)
    name = f"{settings.strategy.value}   {by}"
    return Run(name, about, summary.text, summary.tokens, draft.tokens_after, draft.survival, cost, choices)
