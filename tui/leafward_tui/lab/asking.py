"""Summaries that the user asks for: by a model, after what is sent was shown; facts pinned into them, and edited ones."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import work
from textual.worker import get_current_worker

from leafward.base.errors import LeafwardError
from leafward.summaries.summarizers import Cancelled
from leafward.summaries.survival import Status
from leafward_tui.lab.drafting import Drafting
from leafward_tui.lab.model.fates import LostFact, lost_facts
from leafward_tui.lab.results import DraftMade, Failed, Shown, Streamed

if TYPE_CHECKING:
    from leafward.base.config import Config
    from leafward.compaction.draft import Draft
    from leafward.summaries.summarizers.model import Outgoing
    from leafward_tui.lab.model.choices import Choices
    from leafward_tui.lab.model.what_if import WhatIf

MANY = 12
"""Facts that are pinned together without a question."""


class Asking(Drafting):
    """Actions that write a summary, or change one."""

    # --- asking a model -----------------------------------------------------------------------------------------------

    def action_summary_run(self) -> None:
        """Writes the summary: at once where nobody is asked, else after showing what would be sent."""
        what_if = self.what_if
        if what_if is None or self._busy():
            return
        if what_if.plan.nothing:
            self.tell(what_if.plan.diagnostics[0].text, "warn")
        elif not what_if.choices.asks:
            self.go_to("text", "Summary")
            key = what_if.choices.draft_key()
            what_if.drafts.pop(key, None)
            self.follow()
            self.show_text()
        elif self.sending is not None:
            self.ask(self.sending)
        else:
            self.tell(f"reading what would be sent to {what_if.choices.summarizer}")
            self._look(self.generation, what_if, what_if.choices, self.shell.config, asking=True)

    def _busy(self) -> bool:
        if self.asking or self.writing:
            self.tell("a summary is being written: esc cancels it", "warn")
            return True
        return False

    def look_at_prompt(self) -> None:
        """Works out what a model would be sent, without sending it."""
        what_if = self.what_if
        if what_if is not None and what_if.choices.asks and not what_if.plan.nothing:
            self._look(self.generation, what_if, what_if.choices, self.shell.config, asking=False)

    @work(thread=True, exclusive=True, group="look", exit_on_error=False)
    def _look(self, run: int, what_if: WhatIf, choices: Choices, config: Config, *, asking: bool) -> None:
        from leafward.summaries.summarizers.choice import model_settings
        from leafward.summaries.summarizers.model import Model
        from leafward_tui.lab.work import sending

        try:
            model = Model(model_settings(choices.summarizer, config))
            injection = what_if.injections.get((choices.budget, choices.off))
            found = sending(self.session, what_if.plan, model, choices, injection)
        except (LeafwardError, OSError) as error:
            self.post_message(Failed(run, str(error)))
        else:
            self.post_message(Shown(run, found, asking))

    def on_shown(self, message: Shown) -> None:
        """Shows what would be sent; asks where the user wants to send it."""
        what_if = self.what_if
        if message.run != self.generation or what_if is None:
            return
        self.sending = message.sending
        what_if.costs[what_if.choices.summarizer] = message.sending.cost
        self.show_plan()
        if self.page == "Prompt":
            self.show_text()
        if message.asking:
            self.tell("")
            self.ask(message.sending)

    def ask(self, sending: Outgoing) -> None:
        """Asks before anything is sent: how much, to whom, for how much, what was taken out."""
        raise NotImplementedError

    def start_run(self) -> None:
        """Sends what was shown; the summary comes in where it will stand."""
        what_if = self.what_if
        if what_if is None:
            return
        self.asking, self.streaming, self.streaming_since = True, "", time.monotonic()
        self.tell("")
        self.go_to("text", "Summary")
        self._run(self.generation, what_if, what_if.choices, self.shell.config)
        self.show_text()
        self.show_hints()

    @work(thread=True, exclusive=True, group="run", exit_on_error=False)
    def _run(self, run: int, what_if: WhatIf, choices: Choices, config: Config) -> None:
        from leafward.session.journal.lock import busy
        from leafward.summaries.summarizers.choice import summarizer
        from leafward_tui.lab.work import drafted

        stop = self.shell.keys_first.stop(get_current_worker())
        try:
            with busy(self.session.path, "a compaction"):
                injection = what_if.injections.get((choices.budget, choices.off))
                draft = drafted(
                    self.session,
                    what_if.plan,
                    summarizer(choices.summarizer, config),
                    choices,
                    injection,
                    lambda text: self.post_message(Streamed(run, text)),
                    stop,
                )
        except Cancelled:
            return
        except (LeafwardError, OSError) as error:
            self.post_message(Failed(run, str(error), summary=True))
        else:
            self.post_message(Streamed(run, draft.summary.text))
            self.post_message(DraftMade(run, choices.draft_key(), draft, own=True))

    def on_streamed(self, message: Streamed) -> None:
        """More of the summary came in."""
        if self.asking and message.run == self.generation:
            self.streaming = message.text
            self.show_text()

    def cancel_run(self) -> None:
        """Gives the running summary up."""
        self.workers.cancel_group(self, "run")
        self.asking, self.streaming = False, None
        self.tell("cancelled: nothing was written", "warn")
        self.show_text()
        self.show_hints()

    # --- pins ---------------------------------------------------------------------------------------------------------

    def lost(self) -> list[LostFact]:
        """The lost facts as they are listed, pinned ones among them."""
        draft, what_if = self.shown_draft, self.what_if
        return lost_facts(draft.survival, what_if.pinned) if draft is not None and what_if is not None else []

    def action_lost_pin(self) -> None:
        """Pins the lost fact under the cursor into the summary, or takes the pin out."""
        area, _, number = self.fates_view.key.partition(":")
        facts = self.lost()
        if area != "lost" or int(number) >= len(facts):
            self.tell("no lost fact is chosen", "warn")
            return
        self.pin([facts[int(number)]])
        self.fates_view.move_by(1)

    def action_lost_pin_all(self) -> None:
        """Pins all facts that are lost; where that would be many, asks which."""
        facts = [fact for fact in self.lost() if not fact.pinned]
        if len(facts) <= MANY:
            self.pin(facts)
        else:
            self.ask_how_many(facts)

    def ask_how_many(self, facts: list[LostFact]) -> None:
        """Asks whether all of many facts are meant, or those that weigh most."""
        raise NotImplementedError

    def pin_texts(self, texts: tuple[str, ...]) -> None:
        """Pins lost facts by their texts."""
        wanted = set(texts)
        known = [
            fact for fact in self.lost() if not fact.pinned and (fact.text in wanted or fact.pin in wanted)
        ]
        rest = wanted - {fact.text for fact in known} - {fact.pin for fact in known}
        self.pin([*known, *(LostFact(text, -1, Status.LOST, text) for text in texts if text in rest)])

    def pin(self, facts: list[LostFact]) -> None:
        """Pins facts, or takes the pin of one out; the summary follows."""
        what_if = self.what_if
        if what_if is None or not facts or self._busy():
            return
        choices = what_if.choices
        before, made = self.draft, choices
        for fact in facts:
            made = made.pinned(fact.pin)
            if fact.pinned:
                what_if.pinned = [known for known in what_if.pinned if known.pin != fact.pin]
            else:
                what_if.pinned.append(replace(fact, pinned=True))
        self.choose(made)
        if before is not None and (before.changed or before.summary.usage is not None):
            # What a model wrote, or the user, is not written anew for a pin.
            self.amending = True
            self._amend(self.generation, made.draft_key(), before, made.pins, None)

    @work(thread=True, exclusive=True, group="amend", exit_on_error=False)
    def _amend(
        self, run: int, key: tuple[object, ...], before: Draft, pins: tuple[str, ...], text: str | None
    ) -> None:
        from leafward.compaction.run import edited
        from leafward_tui.lab.work import with_pins

        try:
            draft = with_pins(before, pins) if text is None else edited(before, text)
        except LeafwardError as error:
            self.post_message(Failed(run, str(error), summary=True))
        else:
            self.post_message(DraftMade(run, key, draft, own=True))

    def amend(self, text: str) -> None:
        """Takes the user's own summary over; what survives is counted anew."""
        what_if, draft = self.what_if, self.draft
        if what_if is not None and draft is not None and text.strip("\n") != draft.summary.text.strip("\n"):
            self.amending = True
            self._amend(self.generation, what_if.choices.draft_key(), draft, draft.pins, text)
