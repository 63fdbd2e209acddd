"""The pane of the summary: the page on show, the row over it, and the surviving facts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.summaries.summarizers.summary import tokens_of
from leafward_tui.lab.controllers.controller import LabController, LabMeans
from leafward_tui.lab.model.exam_lines import exam_lines
from leafward_tui.lab.model.fates import fate_lines
from leafward_tui.lab.model.texts import (
    injected_lines,
    note_lines,
    prompt_lines,
    request_words,
    summary_lines,
)
from leafward_tui.lab.widgets.state_line import Writing
from leafward_tui.ui.panes.pane_lines import Block

if TYPE_CHECKING:
    from leafward.summaries.fates.report import Survival
    from leafward_tui.lab.controllers.exam import DraftGrader
    from leafward_tui.lab.model.fates import LostFact
    from leafward_tui.lab.model.what_if import WhatIf


class TextPane(LabController):
    """Owns `state.text`."""

    def __init__(self, means: LabMeans, grader: DraftGrader) -> None:
        super().__init__(means)
        self._grader = grader
        self._fates_of: tuple[Survival | None, tuple[LostFact, ...], bool] | None = None
        """The inputs of the lines about facts."""
        self._page_of: tuple[object, ...] | None = None
        """The inputs of the page."""

    def show(self) -> None:
        """Draws the page, the row over it, and the surviving facts."""
        state, panes = self._state, self._view.panes
        what_if = state.what_if
        if what_if is None:
            return
        self.show_state()
        if state.layout.page == "Exam" and (shown := state.shown_draft) is not None:
            self._grader.grade(shown, self.show)
        if not state.edit.open and (made_of := self._made_of(what_if)) != self._page_of:
            self._page_of = made_of
            streams = state.stream.text is not None and state.layout.page == "Summary"
            panes.text.show(self._page_lines, end=streams)
        if (draft := state.draft) is not None:
            state.text.last = draft
        waiting = state.drafts.waiting or state.drafts.amending or state.stream.text is not None
        survival = shown.survival if (shown := state.shown_draft) is not None else None
        pinned, counting = tuple(what_if.pinned), waiting and survival is None
        if (survival, pinned, counting) != self._fates_of:
            # A step of a slider leaves survival unchanged: hundreds of lines are not made again for it.
            self._fates_of = (survival, pinned, counting)
            glyphs, keymap = self._services.glyphs, self._services.keymap
            keys = keymap.label("lost.pin"), keymap.label("lost.pin_all")
            panes.fates.show(
                lambda width, height: fate_lines(
                    survival, pinned, width, height, glyphs, keys=keys, waiting=counting
                )
            )

    def show_state(self) -> None:
        """Draws the row over the text."""
        if (what_if := self._state.what_if) is not None:
            self._view.panes.state_line.show(self._writing(what_if))

    def _made_of(self, what_if: WhatIf) -> tuple[object, ...]:
        """All inputs of the page."""
        state = self._state
        page = state.layout.page
        if page == "Injected":
            return (page, what_if.injections.get(what_if.injection_key), what_if.choices.inject)
        if page == "Prompt":
            return (page, state.prompt.sending, state.prompt.problem, what_if.choices.summarizer)
        shown = state.shown_draft
        if page == "Exam":
            return (page, shown, state.exam.result)
        summary = shown.summary if shown is not None else None
        plan = what_if.plan
        nothing = [remark.text for remark in plan.diagnostics[:1]] if plan.nothing else None
        return (page, state.stream.text, state.stream.stage, summary, nothing, what_if.choices.summarizer)

    def _page_lines(self, width: int, _height: int) -> Block:
        state, glyphs = self._state, self._services.glyphs
        what_if = state.what_if
        if what_if is None:
            return Block()
        if state.layout.page == "Injected":
            injected = what_if.injections.get(what_if.injection_key)
            return injected_lines(injected, width, glyphs, on=what_if.choices.inject)
        if state.layout.page == "Prompt":
            return self._prompt(what_if, width)
        if state.layout.page == "Exam":
            return self._exam(what_if, width)
        if state.stream.text == "":
            return note_lines([(safe_line(request_words(state.stream.stage), 400), "sub")], width, glyphs)
        if state.stream.text is not None:
            return summary_lines(state.stream.text, width, glyphs, writing=True)
        draft = state.shown_draft
        if draft is not None:
            return summary_lines(draft.summary.text, width, glyphs, summary=draft.summary)
        if what_if.plan.nothing:
            return note_lines([(_reason(what_if), "nothing")], width, glyphs)
        if what_if.choices.asks:
            keys = self._keys(
                ("summary.run", "shows what would be sent and asks first"),
                ("summarizer.choose", "chooses another summariser"),
            )
            head = (f"no summary by {what_if.choices.summarizer} yet", "nothing")
            return note_lines([head, ("", "blank"), *keys], width, glyphs)
        return note_lines([("the draft follows in a moment", "nothing")], width, glyphs)

    def _exam(self, what_if: WhatIf, width: int) -> Block:
        from leafward.compaction.exam.sitting import kept_as

        state, glyphs = self._state, self._services.glyphs
        draft = state.shown_draft
        if draft is None:
            # "Yet" would promise a summary that never comes.
            words = _reason(what_if) if what_if.plan.nothing else "no summary to ask about yet"
            return note_lines([(words, "nothing")], width, glyphs)
        if state.exam.result is None:
            return note_lines([("grading", "nothing")], width, glyphs)
        return exam_lines(state.exam.result, tuple(kept_as(draft.exams)), width, glyphs)

    def _prompt(self, what_if: WhatIf, width: int) -> Block:
        glyphs, state = self._services.glyphs, self._state
        outgoing = state.prompt.sending
        if not what_if.choices.asks:
            return note_lines(
                [
                    ("nothing is sent", "strong"),
                    ("", "blank"),
                    ("the extractive summariser extracts text locally", "sub"),
                    *self._keys(("summarizer.choose", "chooses a model")),
                ],
                width,
                glyphs,
            )
        if outgoing is None:
            # Of a plan that compacts nothing no request is made.
            words = state.prompt.problem or "reading what would be sent"
            words = _reason(what_if) if what_if.plan.nothing else safe_line(words, 400)
            return note_lines([(words, "nothing")], width, glyphs)
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

    def _keys(self, *offers: tuple[str, str]) -> list[tuple[str, str]]:
        """A line for each intent that has a key: the key, and what it does."""
        label = self._services.keymap.label
        return [(f"{label(one)} {does}", "sub") for one, does in offers if label(one)]

    def _writing(self, what_if: WhatIf) -> Writing:
        """The row over the text."""
        state, keymap = self._state, self._services.keymap
        leave, stream = keymap.label("mode.leave"), state.stream
        if state.edit.open:
            # With the lists of files that follow it in the stored summary, as before and after.
            made = state.draft
            beside = made.summary_tokens - tokens_of(made.summary.text) if made is not None else 0
            tokens = tokens_of(state.edit.text) + beside
            return Writing("editing", tokens, key=leave, words="keep edit", hue="ghost")
        if stream.text is not None:
            tokens = tokens_of(stream.text)
            seconds = max(0.001, time.monotonic() - stream.since)
            if not tokens:
                return Writing(f"waiting {seconds:.0f} s", 0, 0.0, 0.0, leave, "cancels", "leaf")
            share = min(0.98, tokens / max(1, what_if.plan.settings.summary_tokens))
            return Writing("writing", tokens, tokens / seconds, share, leave, "cancels", "leaf")
        if state.layout.page == "Injected":
            switch, injected = keymap.label("injection.switch"), what_if.injected
            words = "off" if what_if.choices.inject else "on"
            return Writing(
                "injected", injected.tokens if injected is not None else 0, key=switch, words=words
            )
        if state.layout.page == "Prompt":
            sending = state.prompt.sending if what_if.choices.asks else None
            return Writing(what_if.choices.summarizer, sending.tokens if sending is not None else 0)
        draft = state.draft
        if state.layout.page == "Exam":
            return Writing("what can still be answered")
        if draft is None:
            follows = state.shown_draft is not None
            return Writing(
                f"{what_if.choices.summarizer}, drafting" if follows else what_if.choices.summarizer
            )
        verb = draft.summary.summarizer + (", edited" if draft.changed else "")
        short = "edited" if draft.changed else ""
        return Writing(
            verb, draft.summary_tokens, key=keymap.label("summary.edit"), words="edit", short=short
        )


def _reason(what_if: WhatIf) -> str:
    """The reason why there is nothing to compact."""
    return what_if.plan.diagnostics[0].text if what_if.plan.diagnostics else "nothing to compact"
