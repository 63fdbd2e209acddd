"""Measures the path that is planned on."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents import agent_behind
from leafward.compaction import ALL_ESTIMATORS, Strategy, measure
from leafward.compaction.cut_rules import IllegalCut
from leafward.compaction.injection.configured import configured_settings
from leafward.compaction.pins import pins_in
from leafward.compaction.strategies import rules_of
from leafward.compaction.xray import planned_at
from leafward.context.model_context import context_window
from leafward.context.sizes import entries_below
from leafward.session.entries import BOOKKEEPING_BYTES, NO_ENTRY, EntryIndex, Kind
from leafward.session.journal.open_file import why_unwritable
from leafward.summaries.survival import Status
from leafward_tui.lab.model.choices import AS_IT_IS, Choices
from leafward_tui.lab.model.fates import LostFact
from leafward_tui.lab.model.turns import PathTurns, by_turn
from leafward_tui.lab.model.what_if import WhatIf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.base.config import Config
    from leafward.session.session import Session
    from leafward_tui.lab.controllers.display import Display
    from leafward_tui.lab.controllers.drafts import DraftMaker
    from leafward_tui.lab.controllers.paid_summaries import KeptSummaries
    from leafward_tui.lab.controllers.settings import Settings
    from leafward_tui.lab.controllers.turns import TurnsPane
    from leafward_tui.lab.ports import LabPort
    from leafward_tui.lab.state import LabState
    from leafward_tui.ui.services import AppServices, Job, Jobs


class PathReader:
    """Owns `state.path`."""

    def __init__(
        self,
        state: LabState,
        view: LabPort,
        jobs: Jobs,
        services: AppServices,
        display: Display,
        turns: TurnsPane,
        settings: Settings,
        drafts: DraftMaker,
        kept: KeptSummaries,
        prefetch: Callable[[], object],
    ) -> None:
        self._state = state
        self._view = view
        self._jobs = jobs
        self._services = services
        self._display = display
        self._turns = turns
        self._settings = settings
        self._drafts = drafts
        self._kept = kept
        self._prefetch = prefetch

    def forget(self) -> None:
        """The session changes: what is being made of it does not count."""
        self._settings.stop()
        self._drafts.forget()
        self._turns.forget_words()

    def measure(self) -> None:
        """Measures the path anew; what is chosen stays."""
        state = self._state
        self.forget()
        before = state.what_if.choices if state.what_if is not None else None
        work = partial(measured, state.session, state.entry, self._services.config, state.given_pins, before)
        self._jobs.latest("measure", work, self._measured, self._failed)

    def _measured(self, found: Measured) -> None:
        """Shows the plan; a draft follows behind."""
        path, before = self._state.path, self._state.what_if
        self.forget()
        if before is not None:
            found.what_if.pinned = list(before.pinned)
        path.at, path.beside, path.what_if, path.trouble = found.at, found.beside, found.what_if, ""
        path.shut = found.shut
        self._view.show_title()
        self._display.show()
        self._view.panes.cut.go("cut")
        self._drafts.rest()
        if path.shut:
            # Said before anybody works on a plan that cannot be accepted.
            self._view.tell(path.shut, "warn")
        if before is not None:
            # What was chosen while the path was measured holds.
            self._settings.choose(replace(before.choices, cut=None))
        self._kept.take_up(offer=before is None)
        self._jobs.latest("lab modules", modules, lambda _none: self._prefetch())

    def _failed(self, text: str) -> None:
        self._state.path.trouble = text
        self._view.show_hints()
        self._view.tell(text, "bad")


_SOON = ("textual.widgets._text_area", "leafward_tui.lab.runs")
"""Modules that keys of the lab need."""


class Measured(NamedTuple):
    """A path that was measured: the entry it leads to, the compaction beside which it is planned (-1 for none)."""

    at: EntryIndex
    beside: EntryIndex
    what_if: WhatIf
    shut: str
    """Why nobody can write to the session; empty where one can."""


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
    shut = why_unwritable(session)
    at, beside = point_of(session, entry)
    what_if = begin(session, at, beside, config)
    if before is not None:
        what_if.choices = replace(before, cut=None)
        what_if.replan()
        return Measured(at, beside, what_if, shut)
    if pins and beside >= 0:
        # A correction keeps the summary, and what was pinned into it before.
        pins = tuple(dict.fromkeys([*pins_in(session.body(beside) or {}), *pins]))
        what_if.choices = replace(_cut_as(session, beside, what_if.choices), summarizer=AS_IT_IS)
        what_if.replan()
    what_if.choices = replace(what_if.choices, pins=pins)
    what_if.pinned = [LostFact(pin, -1, Status.LOST, pin, pinned=True) for pin in pins]
    return Measured(at, beside, what_if, shut)


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
    context, agent = sizes.context, agent_behind(session)
    choices = Choices.of(config, context_window(session, context, config).tokens, agent.name)
    choices = replace(choices, off=configured_settings(config).off)
    if config.model:
        choices = replace(choices, summarizer=config.model)
    found = WhatIf(turns, choices)
    found.ruleless = "" if agent.name in {one.value for one in Strategy} else agent.title
    kept = _first_kept(session, beside)
    position = sizes.position(kept) if kept >= 0 else -1
    if position >= 0 and found.cuttable:
        try:
            found.choices = found.cutting(position)
            found.replan()
        except IllegalCut:
            return found
    return found


def _cut_as(session: Session, compaction: EntryIndex, choices: Choices) -> Choices:
    """Choices that cut as a compaction did, also one that kept no entry: its summary tells of all that it replaced."""
    from leafward.compaction.repair import plan_of

    if choices.cut is not None:
        return choices
    try:
        settings = plan_of(session, compaction).settings
    except IllegalCut:
        return choices
    if rules_of(settings.strategy).keeps_tail:
        return choices
    return choices.by(settings.strategy).keeping(settings.keep_recent or 0)


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
    onward = _onward(session, at)
    if onward >= 0 and position:
        # The path itself is no branch of its own beginning: it has one row, also where nothing else leaves there.
        found = {entry: place for entry, place in found.items() if not tree.is_ancestor(entry, session.place)}
        found[onward] = len(position) - 1
    return found


def _onward(session: Session, at: int) -> int:
    """What is said next on the path of the leaf, seen from an entry above it; -1 where the leaf is at or beside the entry."""
    if at < 0 or not session.tree.is_ancestor(at, session.place):
        return NO_ENTRY
    kinds = session.columns.kind
    below = entries_below(session, at, session.place)
    return next((index for index in below if kinds[index] not in BOOKKEEPING_BYTES), NO_ENTRY)
