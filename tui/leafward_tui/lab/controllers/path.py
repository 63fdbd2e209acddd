"""The measurement of the path that is planned on."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.model_window import context_window
from leafward.agents.recognition import agent_behind
from leafward.base.strategies import Strategy
from leafward.compaction.injection.configured import configured_settings
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.onset import onset
from leafward.compaction.stored_summary.pins import as_sentences, pins_in
from leafward.compaction.strategies.by_name import ALL_ESTIMATORS, rules_of
from leafward.compaction.strategies.cut_rules import IllegalCut
from leafward.context.basis import planned_at
from leafward.context.sizes import entries_below
from leafward.session.entries import BOOKKEEPING_BYTES, NO_ENTRY, EntryIndex, Kind
from leafward.session.journal.open_file import why_unwritable
from leafward_tui.lab.controllers.controller import LabController, LabMeans
from leafward_tui.lab.model.choices import AS_IT_IS, Choices
from leafward_tui.lab.model.fates import as_pinned
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
    from leafward_tui.ui.jobs import Job


class PathReader(LabController):
    """Owns `state.path`."""

    def __init__(
        self,
        means: LabMeans,
        display: Display,
        turns: TurnsPane,
        settings: Settings,
        drafts: DraftMaker,
        kept: KeptSummaries,
        prefetch: Callable[[], object],
    ) -> None:
        super().__init__(means)
        self._display = display
        self._turns = turns
        self._settings = settings
        self._drafts = drafts
        self._kept = kept
        self._prefetch = prefetch

    def forget(self) -> None:
        """Drops the work on the session, because it changes."""
        self._settings.stop()
        self._drafts.forget()
        self._turns.forget_words()
        self._jobs.cancel("pins")

    def go_on(self) -> None:
        """Takes the dropped work up again, because the session stays as it is."""
        self._drafts.rest()

    def measure(self) -> None:
        """Measures the path again; the choices stay."""
        state = self._state
        self.forget()
        before = state.what_if.choices if state.what_if is not None else None
        work = partial(measured, state.session, state.entry, self._services.config, state.given_pins, before)
        self._jobs.latest("measure", work, self._measured, self.fail)

    def _measured(self, found: Measured) -> None:
        """Shows the plan; a draft follows."""
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
            # Shown before the user works on a plan that cannot be accepted.
            self._view.tell(path.shut, "warn")
        if before is not None:
            # The choices made during the measurement stay.
            self._settings.choose(replace(before.choices, cut=None))
        self._kept.take_up(offer=before is None)
        self._jobs.latest("lab modules", modules, lambda _none: self._prefetch())

    def fail(self, text: str) -> None:
        """Says why there is no path to plan on, and shows no plan of before; only going back is left."""
        self._state.path.trouble, self._state.path.what_if = text, None
        self._view.panes.clear()
        self._view.show_hints()
        self._view.tell(text, "bad")


_SOON = ("textual.widgets._text_area", "leafward_tui.lab.runs")
"""Modules that keys of the lab need."""


class Measured(NamedTuple):
    """A measured path: the entry it leads to, the compaction beside which it is planned (-1 for none)."""

    at: EntryIndex
    beside: EntryIndex
    what_if: WhatIf
    shut: str
    """The reason why nothing can be written to the session; empty where it can."""


def modules(job: Job) -> None:
    """Loads the modules for the keys of the lab, so that no key has to wait for them."""
    for name in _SOON:
        if job.unwanted():
            return
        import_module(name)


def measured(
    session: Session, entry: int, config: Config, pins: tuple[str, ...], before: Choices | None, _job: Job
) -> Measured:
    """Measures the path to an entry, with the choices of `before` except for the cut. Raises LeafwardError, OSError."""
    shut = why_unwritable(session)
    at, beside = point_of(session, entry)
    what_if = begin(session, at, beside, config)
    if before is not None:
        what_if.choices = replace(before, cut=None)
        what_if.replan()
        return Measured(at, beside, what_if, shut)
    if pins and beside >= 0:
        # A correction keeps the summary and its pins.
        kept, added = pins_in(session.body(beside) or {}), as_sentences(session, at, pins)
        pins = tuple(dict.fromkeys([*kept, *added]))
        what_if.choices = replace(_cut_as(session, beside, what_if.choices), summarizer=AS_IT_IS)
        what_if.replan()
    what_if.choices = replace(what_if.choices, pins=pins)
    what_if.pinned = as_pinned(pins)
    return Measured(at, beside, what_if, shut)


def point_of(session: Session, entry: int) -> tuple[EntryIndex, EntryIndex]:
    """The entry that a compaction is planned at, and the compaction beside it (-1 for none)."""
    if entry >= 0 and session.columns.kind[entry] == Kind.COMPACTION:
        return EntryIndex(planned_at(session, entry)), EntryIndex(entry)
    return EntryIndex(entry), NO_ENTRY


def begin(session: Session, at: int, beside: int, config: Config) -> WhatIf:
    """Measures the path to an entry; beside a stored compaction, begins with its own cut."""
    sizes = measure(session, at, estimators=ALL_ESTIMATORS)
    turns = PathTurns(sizes)
    turns = PathTurns(sizes, by_turn(_branches(session, at, sizes.entries), turns))
    context, agent = sizes.context, agent_behind(session)
    window = context_window(session, context, config)
    choices = Choices.of(config, window.tokens, agent.name, onset(context, window, config))
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
    """Choices with the cut of a compaction, even of one that kept no entry: its summary covers all entries it replaced."""
    from leafward.compaction.draft.repair import plan_of

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
    """The first entry of each branch that leaves a path, with the position of the entry that it leaves."""
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
        # The path itself is no branch: it has one row, even where nothing else leaves there.
        found = {entry: place for entry, place in found.items() if not tree.is_ancestor(entry, session.place)}
        found[onward] = len(position) - 1
    return found


def _onward(session: Session, at: int) -> int:
    """The next entry of the conversation on the way to the leaf; -1 where the leaf is not below the entry."""
    if at < 0 or not session.tree.is_ancestor(at, session.place):
        return NO_ENTRY
    kinds = session.columns.kind
    below = entries_below(session, at, session.place)
    return next((index for index in below if kinds[index] not in BOOKKEEPING_BYTES), NO_ENTRY)
