"""Results of the choices once they rest: injected text, drafts of all strategies, runs. One job after the other."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from leafward.base.errors import Cancelled
from leafward.base.figures import counted
from leafward.base.safe_text import safe, safe_line
from leafward.base.strategies import Strategy
from leafward.compaction.draft.draft_assembly import draft, edited
from leafward.compaction.draft.gate import pinned
from leafward.compaction.draft.repair import own_summary
from leafward.compaction.injection.configured import configured_settings
from leafward.compaction.injection.findings.collection import collect
from leafward.compaction.injection.injection import build
from leafward.compaction.stored_summary.provenance import cost_of
from leafward.context.model_context import context_at
from leafward.session.injected_block import split_enclosed
from leafward.summaries.fates.report import survival_of
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.summarizers.summary import tokens_of
from leafward_tui.lab.controllers.controller import LabController, LabMeans
from leafward_tui.lab.model.choices import AS_IT_IS, EXTRACTIVE, Choices
from leafward_tui.lab.model.runs import Run
from leafward_tui.lab.state import Mode
from leafward_tui.ui.delay import Delay
from leafward_tui.ui.text.cells import limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.base.config import Config
    from leafward.compaction.draft.draft import Draft
    from leafward.compaction.injection.findings.path_findings import Collected
    from leafward.compaction.injection.values import Injection
    from leafward.compaction.plan.plan import Plan
    from leafward.session.session import Session
    from leafward.summaries.summarizers.summary import Summarizer
    from leafward_tui.lab.controllers.display import Display
    from leafward_tui.lab.controllers.prompt import PromptReader
    from leafward_tui.lab.model.paid_summaries import KeptDrafts
    from leafward_tui.lab.model.what_if import WhatIf
    from leafward_tui.ui.jobs import Job

REST = 0.25
"""Seconds that settings rest before a draft is made of them."""
_RUNS = 12
"""Runs kept for comparison."""
_FOCUS = 40
"""Characters of a focus that distinguish one run from another."""


class DraftMaker(LabController):
    """Owns `state.drafts`, and the drafts and injected texts made from the choices."""

    def __init__(self, means: LabMeans, display: Display, prompt: PromptReader, kept: KeptDrafts) -> None:
        super().__init__(means)
        self._display = display
        self._prompt = prompt
        self._kept = kept
        self._resting = Delay(means.view.set_timer)
        self._then: Callable[[], object] | None = None

    # --- following the settings ---------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Cancels the draft being made, because the choices changed."""
        self._jobs.cancel("draft")
        self._give_up()
        self._prompt.drop()

    def forget(self) -> None:
        """Forgets all results of the session, because it is read again."""
        self.stop()
        self._jobs.cancel("amend")
        self._state.drafts.collected = None
        self._state.drafts.waiting = self._state.drafts.amending = False

    def expect(self) -> None:
        """Waits for the plans that the settings need first."""
        self._state.drafts.waiting = True

    def rest(self) -> None:
        """Starts the wait for the settings to rest."""
        what_if = self._state.what_if
        self._state.drafts.waiting = what_if is not None and not what_if.plan.nothing
        self._resting.start(REST, self.follow)

    def when_made(self, then: Callable[[], object], words: str) -> None:
        """Calls `then` once all is there that the present choices make without the user: the draft, or what a model's would have beside it.

        While it waits, the row over the keys shows `words`. A change of the choices, a failure, or another screen ends the wait.
        """
        drafts = self._state.drafts
        if self._is_made() or not (drafts.waiting or drafts.amending):
            then()
            return
        self._then, drafts.awaited = then, words
        self._view.tell("")

    def redo(self) -> None:
        """Makes the draft of the present choices again."""
        what_if = self._state.what_if
        if what_if is not None:
            what_if.drafts.pop(what_if.choices.draft_key(), None)
            self.follow()
            self._display.show_text()

    def follow(self) -> None:
        """Makes the missing results of the present choices that need no confirmation."""
        state = self._state
        what_if = state.what_if
        if what_if is None or state.mode in (Mode.STREAM, Mode.EDIT, Mode.READ):
            state.drafts.waiting = False
            return
        state.drafts.waiting = not what_if.plan.nothing
        self._prompt.renew()
        self._next(what_if, what_if.choices)

    def _next(self, what_if: WhatIf, choices: Choices) -> None:
        """Starts a job for the next missing result."""
        session, path, drafts = self._state.session, self._state.path, self._state.drafts
        injection = what_if.injections.get(what_if.injection_key)
        if drafts.collected is None:
            self._jobs.latest("draft", partial(collected, session, path.at), self._take_collected, self.fail)
        elif injection is None:
            self._jobs.latest(
                "draft",
                partial(injected, drafts.collected, choices, self._services.config),
                partial(self._take_injected, what_if, what_if.injection_key),
                self.fail,
            )
        elif (strategy := self._missing(what_if)) is not None:
            own = strategy is choices.strategy
            corrected = path.beside if own and choices.summarizer == AS_IT_IS else -1
            self._jobs.latest(
                "draft",
                partial(own_draft, session, what_if.plan_of(strategy), choices, injection, corrected),
                partial(self._take_draft, choices.draft_key(strategy, None if own else EXTRACTIVE)),
                self.fail,
            )
        elif path.beside >= 0 and not any(run.choices is None for run in drafts.runs):
            self._jobs.latest(
                "draft", partial(stored_run, session, path.beside), self._take_stored, self.fail
            )
        else:
            self._followed(what_if)

    def _missing(self, what_if: WhatIf) -> Strategy | None:
        """The next strategy whose plan has no draft, the chosen one first."""
        choices = what_if.choices
        for strategy in (choices.strategy, *(one for one in Strategy if one is not choices.strategy)):
            own = strategy is choices.strategy
            # Only the user has a model asked.
            if own and choices.asks:
                continue
            plan = what_if.plan_of(strategy)
            if plan.nothing or plan.settings != choices.settings(strategy):
                continue
            if choices.draft_key(strategy, None if own else EXTRACTIVE) not in what_if.drafts:
                return strategy
        return None

    def _go_on(self) -> None:
        what_if = self._state.what_if
        if what_if is not None:
            self._next(what_if, what_if.choices)

    def _take_collected(self, found: Collected) -> None:
        self._state.drafts.collected = found
        self._go_on()

    def _take_injected(self, what_if: WhatIf, key: tuple[int, frozenset[str]], made: Injection) -> None:
        what_if.keep_injection(key, made)
        self._display.show_plan()
        if self._state.layout.page == "Injected":
            self._display.show_text()
        self._prompt.remake()
        self._end_wait()
        self._go_on()

    def _take_draft(self, key: tuple[object, ...], made: Draft) -> None:
        self.take(key, made)
        self._end_wait()
        self._go_on()

    def _take_stored(self, there: Run) -> None:
        """Takes the stored compaction as the first of the runs."""
        self._state.drafts.runs = (
            there,
            *(run for run in self._state.drafts.runs if run.choices is not None),
        )
        self._view.show_hints()
        self._go_on()

    def _followed(self, what_if: WhatIf) -> None:
        """Ends the work under way."""
        drafts, draft = self._state.drafts, self._state.draft
        drafts.waiting = False
        # A draft that was made beside another strategy's is a run too, once its strategy is chosen.
        if draft is not None and not any(run.choices == what_if.choices for run in drafts.runs):
            self.remember_run(draft, what_if.choices)
        self._display.show_plan()
        self._display.show_text()
        self._view.show_hints()

    def _is_made(self) -> bool:
        what_if = self._state.what_if
        if what_if is None or what_if.plan.nothing or what_if.draft() is not None:
            return True
        return what_if.choices.asks and what_if.injection_key in what_if.injections

    def _end_wait(self) -> None:
        then = self._then
        if then is not None and self._is_made():
            self._give_up()
            if self._view.on_top:
                then()

    def _give_up(self) -> None:
        if self._then is not None:
            self._then, self._state.drafts.awaited = None, ""
            self._view.tell("")

    def fail(self, text: str) -> None:
        """Ends the wait for a draft, and shows why there is none."""
        self._give_up()
        self._state.drafts.waiting = False
        self.say_failed(text)

    def say_failed(self, text: str) -> None:
        """Shows why there is no draft."""
        self._display.show_text()
        self._view.show_hints()
        self._view.tell(text, "bad")

    # --- drafts -------------------------------------------------------------------------------------------------------

    def take(self, key: tuple[object, ...], made: Draft) -> None:
        """Keeps a draft under its key, and shows it."""
        state = self._state
        what_if = state.what_if
        if what_if is None:
            return
        what_if.keep_draft(key, made)
        if key == what_if.choices.draft_key():
            self._tell_focus(made, what_if.choices)
            self.remember_run(made, what_if.choices)
            self._kept.keep(state.session, state.path.at, what_if.choices, made, self._services.clock())
            self._display.show_text()
            self._display.show_turns()
        self._display.show_plan()
        self._display.show_heads()
        self._view.show_hints()

    def _tell_focus(self, made: Draft, choices: Choices) -> None:
        """Shows that a focus changed nothing, where the draft without it is the same."""
        if made.focus:
            plain = replace(choices, focus="")
            same = next((run for run in self._state.drafts.runs if run.choices == plain), None)
            if same is not None and same.text == made.summary.text:
                self._view.tell("the focus changes no line of this summary", "warn")

    def exchange(self, draft: Draft, made: Draft) -> None:
        """Puts a draft in the place of one that has the same text and fewer answers to its exam."""
        state, drafts = self._state, self._state.drafts
        if state.what_if is None:
            return
        for key in [key for key, one in state.what_if.drafts.items() if one is draft]:
            state.what_if.keep_draft(key, made)
        drafts.runs = tuple(replace(run, draft=made) if run.draft is draft else run for run in drafts.runs)
        for run in drafts.runs:
            if run.draft is made and run.choices is not None:
                self._kept.keep(state.session, state.path.at, run.choices, made, self._services.clock())
        self._display.show_text()

    def put_back(self, draft: Draft, choices: Choices) -> None:
        """Keeps a draft of an earlier visit, as a run too."""
        if self._state.what_if is not None:
            self._state.what_if.keep_draft(choices.draft_key(), draft)
            if not any(run.choices == choices for run in self._state.drafts.runs):
                self.remember_run(draft, choices)

    def remember_run(self, draft: Draft, choices: Choices) -> None:
        """Keeps a run for comparison; it replaces one with the same settings."""
        runs = self._state.drafts.runs
        standing = [run for run in runs if run.choices is None]
        others = [run for run in runs if run.choices is not None and run.choices != choices]
        self._state.drafts.runs = (*standing, *others[-(_RUNS - 1) :], run_of(draft, choices))

    def add_pins(self, before: Draft, choices: Choices) -> None:
        """Adds the pins of some choices to a summary that is not written again for them."""
        work = partial(with_pins, before, choices.pins)
        self._state.drafts.amending = True
        self._jobs.latest("amend", work, partial(self._amended, choices.draft_key()), self._not_amended)

    def set_text(self, text: str) -> None:
        """Takes the user's own summary, and counts its survival again."""
        what_if, draft = self._state.what_if, self._state.draft
        if what_if is not None and draft is not None and text.strip("\n") != draft.summary.text.strip("\n"):
            key = what_if.choices.draft_key()
            self._state.drafts.amending = True
            self._jobs.latest(
                "amend", partial(with_text, draft, text), partial(self._amended, key), self._not_amended
            )

    def _amended(self, key: tuple[object, ...], made: Draft) -> None:
        self._state.drafts.amending = False
        self.take(key, made)
        self._end_wait()

    def _not_amended(self, text: str) -> None:
        self._give_up()
        self._state.drafts.amending = False
        self.say_failed(text)


def collected(session: Session, at: int, job: Job) -> Collected:
    """The material of the context injected at an entry. Raises Cancelled, LeafwardError, OSError."""
    found = collect(session, at, stop=job.unwanted)
    if job.unwanted():
        raise Cancelled
    return found


def injected(found: Collected, choices: Choices, config: Config, _job: Job) -> Injection:
    """The context injected at a point whose material was read already."""
    settings = replace(configured_settings(config), budget=choices.budget, off=choices.off)
    return build(found, settings)


def own_draft(
    session: Session, plan: Plan, choices: Choices, injection: Injection, corrected: int, job: Job
) -> Draft:
    """A draft without a model: extractive, or, for a compaction `corrected` other than -1, with its summary.

    Raises Cancelled, LeafwardError, OSError.
    """
    writer = own_summary(session, corrected) if corrected >= 0 else Extractive()
    return draft_of(session, plan, writer, choices, injection, job)


def draft_of(
    session: Session,
    plan: Plan,
    summarizer: Summarizer,
    choices: Choices,
    injection: Injection | None,
    job: Job,
) -> Draft:
    """A draft by a summariser, with the choices. Raises Cancelled, LeafwardError, OSError."""
    return draft(
        session,
        plan,
        summarizer,
        pins=choices.pins,
        focus=choices.focus,
        injection=injection if choices.inject else None,
        stop=job.unwanted,
    )


def with_pins(before: Draft, pins: Iterable[str], _job: Job) -> Draft:
    """A draft with another summary's text and facts pinned into it. Raises LeafwardError."""
    return pinned(before, pins)


def with_text(before: Draft, text: str, _job: Job) -> Draft:
    """A draft with the user's own summary, its survival counted again. Raises LeafwardError."""
    return edited(before, text)


def stored_run(session: Session, compaction: int, _job: Job) -> Run:
    """A stored compaction, as a run for comparison."""
    from leafward.compaction.exam.grade import exam_of

    body = session.body(compaction) or {}
    stored = body.get("summary")
    text = safe(split_enclosed(stored if isinstance(stored, str) else "")[0])
    return Run(
        name=f"#{compaction:,} as it is",
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
    about = f"keep {limit(settings.budget)}" if choices.cut is None else f"cut at #{plan.first_kept:,}"
    if draft.focus:
        about += f", focus: {safe_line(draft.focus, _FOCUS)}"
    if draft.pins:
        about += f", {counted(len(draft.pins), 'pin')}"
    if draft.injection is None:
        about += ", nothing injected"
    elif choices.off:
        about += f", {counted(len(choices.off), 'section')} off"
    # Where there is little room the end is cut, and runs of one session rarely differ in this part.
    about += f", window {limit(settings.window)}"
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
