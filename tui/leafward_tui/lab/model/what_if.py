"""A what-if: a measured path, the choices, their plans, and the drafts and injected texts made so far.

A change of a choice makes only the plans that it affects; nothing is read or decoded for them.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.strategies import Strategy
from leafward.compaction.plan.growth import SIZE_CODES
from leafward.compaction.plan.plan import plan
from leafward.compaction.strategies.by_name import rules_of
from leafward.compaction.strategies.cut_rules import RULE_TEXT, CutRule, IllegalCut, legal_cut
from leafward.session.entries import EntryIndex
from leafward_tui.lab.model.choices import AS_IT_IS, EXTRACTIVE, Choices
from leafward_tui.lab.model.ledger import Column, Ledger, column_of, ledger_of
from leafward_tui.lab.model.plan_lines import PlanView
from leafward_tui.lab.model.sliders import Dial, Slider, nice_step

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from leafward.compaction.draft.draft import Draft
    from leafward.compaction.injection.values import Injection, SectionReport
    from leafward.compaction.measure.measure import PathSizes
    from leafward.compaction.plan.plan import Plan
    from leafward.compaction.plan.settings import PlanSettings
    from leafward.compaction.strategies.division import Diagnostic
    from leafward_tui.lab.model.fates import LostFact
    from leafward_tui.lab.model.turns import PathTurns

QUICK = 0.005
"""The seconds within which a plan may be made between a key and the next frame."""
_KEPT_DRAFTS = 40
_LEAST_KEEP = 4_000
_RESERVES = 65_536
_WINDOWS = 400_000
_BUDGETS = 16_000
_TICKS = 12
"""Ticks of a slider above which only cuts that split no turn have one."""


class TimedPlan(NamedTuple):
    """A plan, and the seconds that it took."""

    settings: PlanSettings
    plan: Plan
    seconds: float


def timed_plan(sizes: PathSizes, settings: PlanSettings) -> TimedPlan:
    """Makes a plan; may run in any thread. Raises LeafwardError."""
    since = time.perf_counter()
    made = plan(sizes, settings)
    return TimedPlan(settings, made, time.perf_counter() - since)


class WhatIf:
    """One considered compaction."""

    def __init__(self, turns: PathTurns, choices: Choices) -> None:
        self.turns = turns
        self.sizes: PathSizes = turns.sizes
        self.choices = choices
        self.pinned: list[LostFact] = []
        self.drafts: OrderedDict[tuple[object, ...], Draft] = OrderedDict()
        """Drafts by the values that they depend on."""
        self.injections: dict[tuple[int, frozenset[str]], Injection] = {}
        """Injected texts by budget and sections switched off."""
        self.sections: tuple[SectionReport, ...] = ()
        """All known sections, in the order of the injected texts."""
        self.costs: dict[str, float | None] = {EXTRACTIVE: 0.0, AS_IT_IS: 0.0}
        """Estimated cost in US dollars of a run by each summariser."""
        self.held: Slider | None = None
        """The slider that the mouse holds, as it was when it was pressed."""
        self._highest: dict[Strategy, int] = {}
        """The highest setting of tokens to keep so far, by strategy."""
        self.ruleless = ""
        """The session's agent, where it has no strategy of its own."""
        self._seconds: dict[Strategy, float] = {}
        """The least seconds that a plan of each strategy has taken."""
        self._plans: dict[Strategy, tuple[PlanSettings, Plan]] = {}
        self.replan()

    # --- plans --------------------------------------------------------------------------------------------------------

    @property
    def plan(self) -> Plan:
        """The plan of the chosen strategy."""
        return self._plans[self.choices.strategy][1]

    def plan_of(self, strategy: Strategy) -> Plan:
        """The plan of a strategy."""
        return self._plans[strategy][1]

    def replan(self) -> None:
        """Makes the missing plans for the choices."""
        self.take(self.missing())

    def missing(self) -> dict[Strategy, PlanSettings]:
        """The settings of the missing plans, by strategy."""
        by_strategy = {strategy: self.choices.settings(strategy) for strategy in Strategy}
        return {
            strategy: settings
            for strategy, settings in by_strategy.items()
            if strategy not in self._plans or self._plans[strategy][0] != settings
        }

    def take(self, missing: Mapping[Strategy, PlanSettings]) -> None:
        """Makes plans and keeps them."""
        self.keep([timed_plan(self.sizes, settings) for settings in missing.values()])

    def keep(self, made: Iterable[TimedPlan]) -> None:
        """Keeps plans that were made, in this thread or another one."""
        for settings, found, took in made:
            strategy = settings.strategy
            self._plans[strategy] = (settings, found)
            self._seconds[strategy] = min(took, self._seconds.get(strategy, took))

    def quick(self, missing: Iterable[Strategy]) -> bool:
        """Whether some plans may be made between a key and the next frame."""
        return sum(self._seconds.get(strategy, 0.0) for strategy in missing) < QUICK

    # --- sliders ------------------------------------------------------------------------------------------------------

    def slider(self, dial: Dial) -> Slider:
        """The present state of a slider; the scale of one that the mouse holds stays."""
        found, held = self._slider(dial), self.held
        return replace(found, most=held.most) if held is not None and held.dial is dial else found

    def _slider(self, dial: Dial) -> Slider:
        settings = self.choices.settings()
        if dial is Dial.RESERVE:
            return Slider(dial, settings.free, max(_RESERVES, 2 * settings.free), 1_024, 128)
        if dial is Dial.WINDOW:
            most = max(_WINDOWS, 2 * self.choices.window)
            return Slider(dial, self.choices.window, most, nice_step(most), nice_step(most) // 10, 1_000)
        if dial is Dial.BUDGET:
            most = max(_BUDGETS, 2 * self.choices.budget)
            return Slider(dial, self.choices.budget, most, 500, 50)
        whole = self.turns.kept_by(0, self.plan.estimator)
        # Earlier settings stay in reach, however low the value is now.
        highest = self._highest[settings.strategy] = max(
            settings.budget, self._highest.get(settings.strategy, 0)
        )
        most = max(_LEAST_KEEP, min(whole, self.choices.window), highest)
        step = max(100, nice_step(most))
        return Slider(dial, settings.budget, most, step, step // 10, useful=whole)

    def ticks(self) -> Sequence[int]:
        """Tokens that the legal cuts keep; where there are many, of those that split no turn only."""
        estimator = self.plan.estimator
        if self.plan.nothing or not self.cuttable:
            return ()
        every = self.turns.stops(estimator, clean=False)
        return every if len(every) <= _TICKS else self.turns.stops(estimator, clean=True)

    def sliding(self, dial: Dial, value: int) -> Choices:
        """The choices with another value on a slider."""
        if dial is Dial.KEEP:
            return self.choices.keeping(value)
        if dial is Dial.RESERVE:
            return self.choices.reserving(value)
        if dial is Dial.WINDOW:
            return self.choices.windowed(max(1, value))
        return replace(self.choices, budget=value)

    # --- the cut ------------------------------------------------------------------------------------------------------

    @property
    def cut(self) -> int:
        """The position that the kept tail begins at; the end where there is none."""
        plan = self.plan
        if plan.nothing:
            return 0
        return self.sizes.position(plan.first_kept) if plan.first_kept >= 0 else len(self.sizes)

    @property
    def cuttable(self) -> bool:
        """Whether the strategy keeps a tail whose beginning can be chosen."""
        return rules_of(self.choices.strategy).keeps_tail

    def cutting(self, position: int) -> Choices:
        """The choices with the cut at a position. Raises IllegalCut with the reason where it may not stand there."""
        if not self.cuttable:
            raise IllegalCut(f"no cut here: {RULE_TEXT[CutRule.NO_TAIL]}")
        entry = EntryIndex(self.sizes.entries[position])
        at = legal_cut(self.sizes, entry)
        return self.choices.keeping(self.turns.kept_by(at, self.plan.estimator), entry)

    def next_cut(self, step: int) -> int:
        """The next legal cut down (or up), by position; -1 where there is none."""
        if not self.cuttable:
            return -1
        return self.turns.cut_beside(self.cut, step)

    # --- drafts -------------------------------------------------------------------------------------------------------

    def draft(self, strategy: Strategy | None = None) -> Draft | None:
        """The draft of the present choices; for another strategy, that of the summariser without a model."""
        here = strategy is None or strategy is self.choices.strategy
        key = self.choices.draft_key(strategy, None if here else EXTRACTIVE)
        return self.drafts.get(key)

    def keep_draft(self, key: tuple[object, ...], draft: Draft) -> None:
        """Keeps a draft by the values that it depends on."""
        self.drafts[key] = draft
        self.drafts.move_to_end(key)
        while len(self.drafts) > _KEPT_DRAFTS:
            self.drafts.popitem(last=False)

    @property
    def injection_key(self) -> tuple[int, frozenset[str]]:
        """The values that the injected text depends on."""
        return self.choices.budget, self.choices.off

    @property
    def injected(self) -> Injection | None:
        """The injected text for the present choices; None where it is switched off or not known yet."""
        return self.injections.get(self.injection_key) if self.choices.inject else None

    def keep_injection(self, key: tuple[int, frozenset[str]], made: Injection) -> None:
        """Keeps an injected text."""
        self.injections[key] = made
        known = {section.key for section in self.sections}
        self.sections += tuple(section for section in made.sections if section.key not in known)

    # --- content ------------------------------------------------------------------------------------------------------

    def ledger(self) -> Ledger:
        """The context afterwards."""
        return ledger_of(self.plan, self.injected, self.draft())

    def column(self, strategy: Strategy) -> Column:
        """The column of a strategy."""
        draft = self.draft(strategy)
        # The drafts of other strategies need no model, so they cost nothing either.
        by_model = strategy is self.choices.strategy and self.choices.asks
        cost = self.costs.get(self.choices.summarizer) if by_model else 0.0
        if by_model and draft is not None and draft.summary.usage is not None:
            cost = draft.summary.cost
        return column_of(self.plan_of(strategy), self.injected, draft, cost, by_model=by_model)

    def remarks(self) -> tuple[Diagnostic, ...]:
        """The remarks on the plan; those on sizes are the draft's where there is one, since a plan's are estimates."""
        planned, draft = self.plan.diagnostics, self.draft()
        if draft is None:
            return planned
        others = (one for one in planned if one.code not in SIZE_CODES)
        return *others, *(one for one in draft.diagnostics if one.code in SIZE_CODES)

    def view(self, *, waiting: frozenset[Strategy] = frozenset()) -> PlanView:
        """The content of the middle pane."""
        return PlanView(
            plan=self.plan,
            remarks=self.remarks(),
            sliders=[self.slider(dial) for dial in (Dial.KEEP, Dial.RESERVE, Dial.WINDOW)],
            ticks=self.ticks(),
            columns=[self.column(strategy) for strategy in Strategy],
            ledger=self.ledger(),
            injected=self.injected,
            sections=self.sections,
            off=self.choices.off,
            injecting=self.choices.inject,
            budget=self.slider(Dial.BUDGET),
            waiting=waiting,
            ruleless=self.ruleless,
        )
