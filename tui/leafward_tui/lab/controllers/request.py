"""The summary by a model: confirmed after the request was shown, streamed in, cancelled."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.compaction.plan.growth import planned_growth
from leafward_tui.lab.controllers.controller import LabController, LabMeans
from leafward_tui.lab.controllers.drafts import draft_of
from leafward_tui.lab.state import Mode, reading_words
from leafward_tui.ui.bars.price_line import KeyHint
from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet
from leafward_tui.ui.sheets.sheet import SheetLine
from leafward_tui.ui.text.cells import estimated_price, exact

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.base.config import Config
    from leafward.compaction.draft.draft import Draft
    from leafward.compaction.injection.values import Injection
    from leafward.compaction.plan.plan import Plan
    from leafward.session.session import Session
    from leafward.summaries.summarizers.model.requests import Outgoing
    from leafward.summaries.summarizers.model.summarizer import SummaryProgress
    from leafward_tui.lab.controllers.display import Display
    from leafward_tui.lab.controllers.drafts import DraftMaker
    from leafward_tui.lab.controllers.layout import PaneLayout
    from leafward_tui.lab.controllers.prompt import PromptReader
    from leafward_tui.lab.model.choices import Choices
    from leafward_tui.ui.jobs import Job

_SECOND = 1.0


class SummaryRequest(LabController):
    """Owns `state.stream`."""

    def __init__(
        self, means: LabMeans, display: Display, layout: PaneLayout, prompt: PromptReader, drafts: DraftMaker
    ) -> None:
        super().__init__(means)
        self._display = display
        self._layout = layout
        self._prompt = prompt
        self._drafts = drafts
        self.actions = {"summary.run": self.run}

    def run(self) -> None:
        """Writes the summary: at once where no model is asked, else after showing the request."""
        what_if, state = self._state.what_if, self._state
        if what_if is None:
            return
        if state.busy:
            self._view.tell(state.busy, "warn")
        elif self._jobs.running("measure"):
            self._view.tell("the context is being measured again", "warn")
        elif what_if.plan.nothing:
            self._view.tell(what_if.plan.diagnostics[0].text, "warn")
        elif not what_if.choices.asks:
            if state.draft is not None and state.draft.changed:
                self._ask_again()
            else:
                self._redo()
        else:
            # A model's draft has what is injected beside it.
            self._drafts.when_made(self._ask_to_send, reading_words(what_if.choices.summarizer))

    def _ask_to_send(self) -> None:
        if self._state.prompt.sending is not None:
            self.ask(self._state.prompt.sending)
        else:
            self._prompt.read(self.ask)
            self._view.tell("")

    def _ask_again(self) -> None:
        """Asks before another summary takes the place of the user's own words, which are kept nowhere else."""
        again = Choice("r", "Write it again", "your edits are lost", "writes nothing yet", act=self._redo)
        self._view.open_sheet(ChoiceSheet("You edited this summary", [again]))

    def _redo(self) -> None:
        self._layout.go_to("text", "Summary")
        self._drafts.redo()
        label = self._services.keymap.label("summarizer.choose")
        self._view.tell(
            "the summary is made again, locally",
            keys=(KeyHint("summarizer.choose", label, "choose a model"),),
        )

    def ask(self, sending: Outgoing) -> None:
        """Asks before anything is sent: tokens, address, price, redacted secrets."""
        from leafward.summaries.summarizers.model.addresses import host_of

        what_if = self._state.what_if
        if what_if is None:
            return
        requests = counted(len(sending.requests), "request")
        price = "price not known" if sending.cost is None else estimated_price(sending.cost)
        secrets = sum(sending.redacted.values())
        about = [SheetLine(f"~{exact(sending.tokens)} tokens in {requests}, {price}")]
        if secrets:
            names = ", ".join(safe_line(name, 40) for name in sorted(sending.redacted))
            about.append(SheetLine(f"{counted(secrets, 'secret')} redacted: {names}", "warn"))
        else:
            about.append(SheetLine("no secrets found"))
        about += [SheetLine(safe_line(remark, 200), "warn") for remark in sending.remarks[:3]]
        where = host_of(sending.model, sending.base_url)
        name = safe_line(what_if.choices.summarizer, 60)
        grows, cancel = planned_growth(what_if.plan.diagnostics), self._services.keymap.label("mode.leave")
        choices = [
            Choice(
                "s",
                f"Send it to {name}",
                f"streams in, {cancel} cancels" if cancel else "streams in",
                f"sends ~{exact(sending.tokens)} tokens to {safe_line(where, 60)}; nothing is written",
                refused=grows,
                act=self.start,
            ),
            Choice(
                "v",
                "Read what would be sent",
                "every word, before you decide",
                "nothing is sent",
                act=self._show_prompt,
            ),
        ]
        self._view.open_sheet(ChoiceSheet("Summary by a model", choices, about, note=name))

    def _show_prompt(self) -> None:
        self._layout.go_to("text", "Prompt")
        self._display.show_text()

    def start(self) -> None:
        """Sends the request that was shown; the summary streams in at its place."""
        what_if, stream = self._state.what_if, self._state.stream
        if what_if is None or self._state.mode is not Mode.CHOICE or self._jobs.running("measure"):
            return
        stream.text, stream.stage, stream.since = "", what_if.choices.summarizer, time.monotonic()
        self._view.tell("")
        self._layout.go_to("text", "Summary")
        choices = what_if.choices
        injection = what_if.injections.get(what_if.injection_key)
        self._jobs.latest(
            "stream",
            partial(
                model_draft,
                self._state.session,
                what_if.plan,
                choices,
                injection,
                self._services.config,
                self._grew,
            ),
            partial(self._done, choices.draft_key()),
            self._failed,
        )
        self._display.show_text()
        self._view.show_hints()
        self._view.set_timer(_SECOND, self._tick)

    def _grew(self, now: SummaryProgress) -> None:
        self._state.stream.text, self._state.stream.stage = now.text, now.stage
        self._display.show_text()

    def _tick(self) -> None:
        """Updates the seconds while no text comes."""
        if self._state.mode is Mode.STREAM:
            self._display.show_state()
            self._view.set_timer(_SECOND, self._tick)

    def _done(self, key: tuple[object, ...], made: Draft) -> None:
        self._state.stream.text = None
        self._drafts.take(key, made)

    def _failed(self, text: str) -> None:
        self._state.stream.text = None
        self._drafts.say_failed(text)

    def cancel(self) -> None:
        """Cancels the running summary."""
        self._jobs.cancel("stream")
        self._state.stream.text = None
        self._view.tell("cancelled; nothing was written", "warn")
        self._display.show_text()
        self._view.show_hints()


def model_draft(
    session: Session,
    plan: Plan,
    choices: Choices,
    injection: Injection | None,
    config: Config,
    tell: Callable[[SummaryProgress], object],
    job: Job,
) -> Draft:
    """A draft by a model; `tell` gets its progress. Raises Cancelled, LeafwardError, OSError."""
    from leafward.session.journal.lock import busy
    from leafward.summaries.summarizers.choice import model_settings
    from leafward.summaries.summarizers.model.summarizer import Model

    growing = _Growing(tell, job)
    with busy(session.path, "a compaction"):
        writer = Model(model_settings(choices.summarizer, config), growing.grew)
        return draft_of(session, plan, writer, choices, injection, job)


class _Growing:
    """Progress that comes faster than it is shown: only the last one is shown."""

    def __init__(self, tell: Callable[[SummaryProgress], object], job: Job) -> None:
        self._tell = tell
        self._job = job
        self._last: SummaryProgress | None = None
        self._shown = True

    def grew(self, now: SummaryProgress) -> None:
        """Takes the progress; called in the thread of the job."""
        self._last = now
        if self._shown:
            self._shown = False
            self._job.report(self._show)

    def _show(self) -> None:
        self._shown = True
        if self._last is not None:
            self._tell(self._last)
