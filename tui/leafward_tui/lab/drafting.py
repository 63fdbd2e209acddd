"""Drafts that follow the settings, and the right pane that shows them with what survives."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from textual import work
from textual.worker import get_current_worker

from leafward.base.errors import LeafwardError
from leafward.compaction import Strategy
from leafward.summaries.summarizers import Cancelled, tokens_of
from leafward_tui.lab.model.choices import AS_IT_IS, EXTRACTIVE
from leafward_tui.lab.model.fates import fate_lines
from leafward_tui.lab.model.paid_summaries import kept_drafts
from leafward_tui.lab.model.texts import injected_lines, note_lines, prompt_lines, summary_lines
from leafward_tui.lab.planning import Planning
from leafward_tui.lab.results import DraftMade, Failed, Followed, InjectedMade, Stood
from leafward_tui.lab.widgets.state_line import Writing
from leafward_tui.ui.pane_lines import Block

if TYPE_CHECKING:
    from leafward.base.config import Config
    from leafward.compaction.draft import Draft
    from leafward.summaries.survival import Survival
    from leafward_tui.lab.model.choices import Choices
    from leafward_tui.lab.model.fates import LostFact
    from leafward_tui.lab.model.what_if import WhatIf

REST = 0.25
"""Seconds that settings rest before a draft is made of them."""


class Drafting(Planning):
    """What is made behind while the settings rest."""

    _fates_of: tuple[Survival | None, tuple[LostFact, ...], bool] | None = None
    """What the lines of the facts were made of."""
    _text_of: tuple[object, ...] | None = None
    """What the page was made of."""

    # --- drafts that follow the settings ------------------------------------------------------------------------------

    def rest(self) -> None:
        """Starts the wait for the settings to rest."""
        if self.resting is not None:
            self.resting.stop()
        self.resting = self.set_timer(REST, self.follow)

    def follow(self) -> None:
        """Makes what the present choices lack and nobody has to be asked for: injected text, draft, other strategies."""
        what_if = self.what_if
        if what_if is None or self.asking or self.editor is not None:
            return
        self.waiting = not what_if.plan.nothing
        looked, self.sending = self.sending is not None, None
        self._follow(self.generation, what_if, what_if.choices, self.shell.config)
        if looked or self.page == "Prompt":
            self.look_at_prompt()

    @work(thread=True, exclusive=True, group="draft", exit_on_error=False)
    def _follow(self, run: int, what_if: WhatIf, choices: Choices, config: Config) -> None:
        from leafward.compaction.injection import collect
        from leafward.compaction.repair import own_summary
        from leafward.summaries.summarizers.extractive import Extractive
        from leafward_tui.lab.work import drafted, injected, stood

        resting = self.shell.keys_first.stop(get_current_worker())

        def stopped() -> bool:
            return resting() or run != self.generation

        try:
            found = self.collected or collect(self.session, self.at, stop=stopped)
            if stopped():
                return
            self.collected = found
            key = (choices.budget, choices.off)
            made = what_if.injections.get(key)
            if made is None:
                made = injected(found, choices, config)
                self.post_message(InjectedMade(run, key, made))
            order = [choices.strategy, *(one for one in Strategy if one is not choices.strategy)]
            for strategy in order:
                own = strategy is choices.strategy
                draft_key = choices.draft_key(strategy, None if own else EXTRACTIVE)
                if stopped():
                    return
                # A model is asked by the user only.
                if draft_key in what_if.drafts or (own and choices.asks):
                    continue
                plan = what_if.plan_of(strategy)
                if plan.nothing or plan.settings != choices.settings(strategy):
                    continue
                corrects = own and choices.summarizer == AS_IT_IS
                writer = own_summary(self.session, self.beside) if corrects else Extractive()
                draft = drafted(self.session, plan, writer, choices, made, lambda _text: None, stopped)
                self.post_message(DraftMade(run, draft_key, draft, own))
            if self.beside >= 0 and not any(known.choices is None for known in self.runs) and not stopped():
                self.post_message(Stood(run, stood(self.session, self.beside)))
            self.post_message(Followed(run))
        except Cancelled:
            return
        except (LeafwardError, OSError) as error:
            self.post_message(Failed(run, str(error), summary=True))

    def on_injected_made(self, message: InjectedMade) -> None:
        """Shows what would be injected."""
        if self.what_if is not None:
            self.what_if.keep_injection(message.key, message.made)
            if message.run == self.generation:
                self.show_plan()
                if self.page == "Injected":
                    self.show_text()

    def on_draft_made(self, message: DraftMade) -> None:
        """Keeps a draft and shows what it says, unless the settings went on."""
        what_if = self.what_if
        if what_if is None:
            return
        what_if.keep_draft(message.key, message.draft)
        if message.run != self.generation:
            return
        if message.own:
            self.amending = self.asking = False
            self.streaming = None
            self.remember_run(message.draft, what_if.choices)
            kept = kept_drafts(self.app)
            kept.keep(self.session, self.at, what_if.choices, message.draft, self.shell.clock())
            self.show_text()
            self.show_cut()
        self.show_plan()
        self.show_heads()
        self.show_hints()

    def on_followed(self, message: Followed) -> None:
        """Nothing is under way any more."""
        what_if, draft = self.what_if, self.draft
        if message.run == self.generation and what_if is not None:
            self.waiting = False
            # A draft that was made beside another strategy's is a run too, once its strategy is the chosen one.
            if draft is not None and not any(run.choices == what_if.choices for run in self.runs):
                self.remember_run(draft, what_if.choices)
            self.show_plan()
            self.show_text()
            self.show_hints()

    def on_stood(self, message: Stood) -> None:
        """The compaction in the session is the first of the runs."""
        self.runs = [message.there, *(known for known in self.runs if known.choices is not None)]
        self.show_hints()

    def remember_run(self, draft: Draft, choices: Choices) -> None:
        """Keeps a run to hold others against; one with the same settings takes its place."""
        from leafward_tui.lab.work import run_of

        run = run_of(draft, choices)
        others = [known for known in self.runs if known.choices is None or known.choices != choices]
        standing = [known for known in others if known.choices is None]
        made = [known for known in others if known.choices is not None]
        self.runs = [*standing, *made[-(_RUNS - 1) :], run]

    def on_failed(self, message: Failed) -> None:
        """Says what went wrong; without a path, that is all there is."""
        if message.summary:
            if self.asking and message.run != self.generation:
                return
            self.streaming, self.asking = None, False
            self.waiting = self.amending = False
            self.show_text()
            self.show_hints()
        elif message.run != self.generation:
            return
        if message.fatal:
            self.trouble = message.text
            self.show_hints()
        self.tell(message.text, "bad")

    def look_at_prompt(self) -> None:
        """Works out what a model would be sent, without sending it."""
        raise NotImplementedError

    # --- the right pane -----------------------------------------------------------------------------------------------

    def show_text(self) -> None:
        """The page of the right pane, the line over it, and what survives."""
        what_if = self.what_if
        if what_if is None:
            return
        self.state_line.show(self._state())
        if self.editor is None and (made_of_text := self._page_of()) != self._text_of:
            self._text_of = made_of_text
            self.text_view.show(self._page_lines, end=self.streaming is not None and self.page == "Summary")
        draft = self.draft
        if draft is not None:
            self.last = draft
        waiting = self.waiting or self.amending or self.streaming is not None
        survival = shown.survival if (shown := self.shown_draft) is not None else None
        made_of = (survival, tuple(what_if.pinned), waiting and survival is None)
        if made_of != self._fates_of:
            # A step of a slider leaves what survives as it is: hundreds of lines are not made again for it.
            self._fates_of = made_of
            self.fates_view.show(
                lambda width, height: fate_lines(
                    survival, made_of[1], width, height, self.shell.glyphs, waiting=made_of[2]
                )
            )

    @property
    def shown_draft(self) -> Draft | None:
        """The draft of the present choices; while it is being made, the one before."""
        what_if, draft = self.what_if, self.draft
        if draft is not None or what_if is None or what_if.plan.nothing or self.streaming is not None:
            return draft
        return self.last if not what_if.choices.asks or self.amending else None

    def _page_of(self) -> tuple[object, ...]:
        """All that the page depends on."""
        what_if = self.what_if
        if what_if is None:
            return ()
        if self.page == "Injected":
            return (self.page, what_if.injections.get(what_if.injection_key), what_if.choices.inject)
        if self.page == "Prompt":
            return (self.page, self.sending, what_if.choices.summarizer)
        shown = self.shown_draft
        summary = shown.summary if shown is not None else None
        plan = what_if.plan
        nothing = [remark.text for remark in plan.diagnostics[:1]] if plan.nothing else None
        return (self.page, self.streaming, summary, nothing, what_if.choices.summarizer)

    def _page_lines(self, width: int, _height: int) -> Block:
        what_if, glyphs = self.what_if, self.shell.glyphs
        if what_if is None:
            return Block()
        if self.page == "Injected":
            injected = what_if.injections.get(what_if.injection_key)
            return injected_lines(injected, width, glyphs, on=what_if.choices.inject)
        if self.page == "Prompt":
            return self._prompt(what_if, width)
        if self.streaming is not None:
            return summary_lines(self.streaming, width, glyphs, writing=True)
        draft = self.shown_draft
        if draft is not None:
            return summary_lines(draft.summary.text, width, glyphs, summary=draft.summary)
        if what_if.plan.nothing:
            said = what_if.plan.diagnostics[0].text if what_if.plan.diagnostics else "nothing to compact"
            return note_lines([(said, "nothing")], width, glyphs)
        if what_if.choices.asks:
            run, choose = self.shell.keymap.label("summary.run"), self.shell.keymap.label("summarizer.choose")
            return note_lines(
                [
                    (f"no summary by {what_if.choices.summarizer} yet", "nothing"),
                    ("", "blank"),
                    (f"{run} shows what would be sent and asks first", "sub"),
                    (f"{choose} chooses another summariser", "sub"),
                ],
                width,
                glyphs,
            )
        return note_lines([("the draft follows once the settings rest", "nothing")], width, glyphs)

    def _prompt(self, what_if: WhatIf, width: int) -> Block:
        glyphs = self.shell.glyphs
        if not what_if.choices.asks:
            choose = self.shell.keymap.label("summarizer.choose")
            return note_lines(
                [
                    ("nothing is sent", "strong"),
                    ("", "blank"),
                    ("the extractive summariser quotes the span on this machine", "sub"),
                    (f"{choose} chooses a model", "sub"),
                ],
                width,
                glyphs,
            )
        outgoing = self.sending
        if outgoing is None:
            return note_lines([("reading what would be sent", "nothing")], width, glyphs)
        requests = [
            (
                request.title,
                request.system,
                "written from the answers to the others" if request.later else request.prompt,
                request.tokens,
            )
            for request in outgoing.requests
        ]
        return prompt_lines(
            requests, outgoing.tokens, outgoing.cost, outgoing.redacted, outgoing.remarks, width, glyphs
        )

    def _state(self) -> Writing:
        """What stands over the text."""
        what_if = self.what_if
        if what_if is None:
            return Writing("")
        leave = self.shell.keymap.label("mode.leave")
        if self.editor is not None:
            return Writing("editing", tokens_of(self.editor.text), key=leave, words="done", hue="ghost")
        if self.streaming is not None:
            tokens = tokens_of(self.streaming)
            seconds = max(0.001, time.monotonic() - self.streaming_since)
            share = min(0.98, tokens / max(1, what_if.plan.settings.summary_tokens))
            return Writing("writing", tokens, tokens / seconds, share, leave, "cancels", "leaf")
        draft = self.draft
        if draft is None:
            follows = self.shown_draft is not None
            return Writing(
                f"{what_if.choices.summarizer}, drafting" if follows else what_if.choices.summarizer
            )
        verb = draft.summary.summarizer + (", edited" if draft.changed else "")
        run = self.shell.keymap.label("summary.edit")
        short = "edited" if draft.changed else ""
        return Writing(verb, draft.summary.tokens, key=run, words="edit", short=short)


_RUNS = 12
"""Runs kept to be held against each other."""
