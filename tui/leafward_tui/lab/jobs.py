"""What the lab does beside the screen: functions of values."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents import agent_behind
from leafward.base.errors import Cancelled
from leafward.base.safe_text import safe
from leafward.compaction import ALL_ESTIMATORS, measure
from leafward.compaction.cut_rules import IllegalCut
from leafward.compaction.gate import pinned
from leafward.compaction.injection import build, collect
from leafward.compaction.injection.configured import configured_settings
from leafward.compaction.pins import pins_in
from leafward.compaction.provenance import cost_of
from leafward.compaction.repair import own_summary
from leafward.compaction.run import draft, edited, prepared
from leafward.compaction.xray import planned_at
from leafward.context.model_context import context_at, context_window
from leafward.session.entries import NO_ENTRY, EntryIndex, Kind
from leafward.session.headline import headline
from leafward.session.injected_block import split_enclosed
from leafward.summaries.summarizers import tokens_of
from leafward.summaries.summarizers.extractive import Extractive
from leafward.summaries.survival import Status, survival_of
from leafward_tui.lab.model.choices import AS_IT_IS, Choices
from leafward_tui.lab.model.fates import LostFact
from leafward_tui.lab.model.runs import Run
from leafward_tui.lab.model.turns import PathTurns, by_turn
from leafward_tui.lab.model.what_if import WhatIf, timed_plan
from leafward_tui.ui.cells import counted, limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from leafward.base.config import Config
    from leafward.compaction import PathSizes, Plan, PlanSettings
    from leafward.compaction.draft import Draft
    from leafward.compaction.exam import Exam
    from leafward.compaction.injection import Collected, Injection
    from leafward.session.headline import Headline
    from leafward.session.journal import Write
    from leafward.session.session import Session
    from leafward.summaries.summarizers import Summarizer
    from leafward.summaries.summarizers.model import Outgoing, Progress
    from leafward_tui.lab.model.what_if import TimedPlan
    from leafward_tui.ui.services import Job

__all__ = [
    "Measured",
    "appended",
    "begin",
    "collected",
    "graded",
    "injected",
    "measured",
    "model_draft",
    "model_problem",
    "modules",
    "outgoing",
    "own_draft",
    "plans",
    "point_of",
    "reread",
    "run_of",
    "stood",
    "with_pins",
    "with_text",
    "worded",
]

_SOON = ("textual.widgets._text_area", "leafward_tui.lab.runs")
"""Modules that keys of the lab need."""


class Measured(NamedTuple):
    """A path that was measured: the entry it leads to, the compaction beside which it is planned (-1 for none)."""

    at: EntryIndex
    beside: EntryIndex
    what_if: WhatIf


def modules(job: Job) -> None:
    """Loads what the keys of the lab need, so that none of them has to wait for that."""
    for name in _SOON:
        if job.unwanted():
            return
        import_module(name)


def measured(
    session: Session, entry: int, config: Config, pins: tuple[str, ...], before: Choices | None, _job: Job
) -> Measured:
    """Measures the path to an entry, with the choices from before except for the cut. Raises LeafwardError, OSError."""
    at, beside = point_of(session, entry)
    what_if = begin(session, at, beside, config)
    if before is not None:
        what_if.choices = replace(before, cut=None)
        what_if.replan()
        return Measured(at, beside, what_if)
    if pins and beside >= 0:
        # A correction keeps the summary, and what was pinned into it before.
        pins = tuple(dict.fromkeys([*pins_in(session.body(beside) or {}), *pins]))
        what_if.choices = replace(what_if.choices, summarizer=AS_IT_IS)
    what_if.choices = replace(what_if.choices, pins=pins)
    what_if.pinned = [LostFact(pin, -1, Status.LOST, pin, pinned=True) for pin in pins]
    return Measured(at, beside, what_if)


def point_of(session: Session, entry: int) -> tuple[EntryIndex, EntryIndex]:
    """Where a compaction at an entry is planned, and the compaction beside it (-1 for none)."""
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
    choices = replace(choices, off=configured_settings(config).off)
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


def plans(sizes: PathSizes, missing: Iterable[PlanSettings], job: Job) -> list[TimedPlan]:
    """Plans that take too long to be made between a key and the next frame. Raises Cancelled, LeafwardError."""
    made = []
    for settings in missing:
        if job.unwanted():
            raise Cancelled
        made.append(timed_plan(sizes, settings))
    return made


def worded(session: Session, entries: Iterable[int], job: Job) -> dict[int, Headline]:
    """The headlines of some entries, as far as it came. Raises OSError."""
    found: dict[int, Headline] = {}
    for entry in entries:
        if job.unwanted():
            break
        found[entry] = headline(session, entry)
    return found


def collected(session: Session, at: int, job: Job) -> Collected:
    """What the context that is injected at an entry is built from. Raises Cancelled, LeafwardError, OSError."""
    found = collect(session, at, stop=job.unwanted)
    if job.unwanted():
        raise Cancelled
    return found


def injected(found: Collected, choices: Choices, config: Config, _job: Job) -> Injection:
    """What would be injected at a point that was read already."""
    settings = replace(configured_settings(config), budget=choices.budget, off=choices.off)
    return build(found, settings)


def own_draft(
    session: Session, plan: Plan, choices: Choices, injection: Injection, corrected: int, job: Job
) -> Draft:
    """A draft that asks no model: with the summary of the compaction that is corrected, -1 for an extractive one.

    Raises Cancelled, LeafwardError, OSError.
    """
    writer = own_summary(session, corrected) if corrected >= 0 else Extractive()
    return _drafted(session, plan, writer, choices, injection, lambda _text: None, job)


def model_draft(
    session: Session,
    plan: Plan,
    choices: Choices,
    injection: Injection | None,
    config: Config,
    tell: Callable[[Progress], object],
    job: Job,
) -> Draft:
    """A draft by a model; `tell` hears how far it is. Raises Cancelled, LeafwardError, OSError."""
    from leafward.session.journal.lock import busy
    from leafward.summaries.summarizers.choice import model_settings
    from leafward.summaries.summarizers.model import Model

    growing = _Growing(tell, job)
    with busy(session.path, "a compaction"):
        writer = Model(model_settings(choices.summarizer, config), growing.grew)
        return _drafted(session, plan, writer, choices, injection, lambda _text: None, job)


class _Growing:
    """Progress that comes faster than it is shown: only the last is shown."""

    def __init__(self, tell: Callable[[Progress], object], job: Job) -> None:
        self._tell = tell
        self._job = job
        self._last: Progress | None = None
        self._shown = True

    def grew(self, now: Progress) -> None:
        """Takes how far it is; called in the thread of the job."""
        self._last = now
        if self._shown:
            self._shown = False
            self._job.report(self._show)

    def _show(self) -> None:
        self._shown = True
        if self._last is not None:
            self._tell(self._last)


def _drafted(
    session: Session,
    plan: Plan,
    summarizer: Summarizer,
    choices: Choices,
    injection: Injection | None,
    progress: Callable[[str], object],
    job: Job,
) -> Draft:
    return draft(
        session,
        plan,
        summarizer,
        pins=choices.pins,
        focus=choices.focus,
        injection=injection if choices.inject else None,
        progress=progress,
        stop=job.unwanted,
    )


def outgoing(
    session: Session, plan: Plan, choices: Choices, injection: Injection | None, config: Config, _job: Job
) -> Outgoing:
    """What a model would be sent for a draft of a plan; nothing is sent. Raises LeafwardError, OSError."""
    from leafward.summaries.summarizers.choice import model_settings
    from leafward.summaries.summarizers.model import Model

    span, budget = prepared(
        session,
        plan,
        pins=choices.pins,
        focus=choices.focus,
        injection=injection if choices.inject else None,
    )
    return Model(model_settings(choices.summarizer, config)).outgoing(span, budget)


def graded(draft: Draft, job: Job) -> Exam:
    """The exam of a draft: what a model would still know after it. Raises Cancelled where it is not wanted any more."""
    from leafward.compaction.exam import exam_of_draft

    return exam_of_draft(draft, job.unwanted)


def model_problem(name: str, config: Config, _job: Job) -> str:
    """Why a model cannot be asked: its name is unknown, its key or address missing. Empty where it can; nothing is sent."""
    from leafward.summaries.summarizers.choice import model_settings
    from leafward.summaries.summarizers.failures import SummaryFailed
    from leafward.summaries.summarizers.model import Model

    try:
        Model(model_settings(name, config)).refuse_unknown()
    except SummaryFailed as failed:
        return str(failed)
    return ""


def with_pins(before: Draft, pins: Iterable[str], _job: Job) -> Draft:
    """A draft whose summary was not made here, with facts pinned into it. Raises LeafwardError."""
    return pinned(before, pins)


def with_text(before: Draft, text: str, _job: Job) -> Draft:
    """A draft with the user's own summary; what survives is counted anew. Raises LeafwardError."""
    return edited(before, text)


def appended(session: Session, accepted: Draft, now: Callable[[], datetime], _job: Job) -> Write:
    """Appends a draft to the session. Raises LeafwardError, OSError."""
    from leafward.compaction.draft import accept
    from leafward.session.journal import Writing

    return accept(session, accepted, Writing(now=now))


def reread(session: Session, _job: Job) -> None:
    """Reads what was added to the file. Raises LeafwardError, OSError."""
    session.refresh()


def stood(session: Session, compaction: int, _job: Job) -> Run:
    """A compaction that is in the session, as a run to hold others against."""
    from leafward.compaction.exam import exam_of

    body = session.body(compaction) or {}
    stored = body.get("summary")
    text = safe(split_enclosed(stored if isinstance(stored, str) else "")[0])
    return Run(
        name=f"#{compaction} as it is",
        about="in the session",
        text=text,
        tokens=tokens_of(text),
        after=context_at(session, compaction).total,
        survival=survival_of(session, compaction),
        cost=None,
        exam=exam_of(session, compaction),
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
    return Run(
        name,
        about,
        summary.text,
        draft.summary_tokens,
        draft.counted_after,
        draft.survival,
        cost,
        choices,
        draft,
    )
