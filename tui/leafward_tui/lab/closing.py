"""What the lab asks before it acts, and how it ends: who writes the summary, what is sent, what is appended, leaving."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual import work

from leafward.base.errors import LeafwardError
from leafward.base.safe_text import safe_line
from leafward.summaries.summarizers import tokens_of
from leafward_tui.lab.asking import MANY
from leafward_tui.lab.model.choices import AS_IT_IS, EXTRACTIVE
from leafward_tui.lab.model.paid_summaries import kept_drafts
from leafward_tui.lab.results import Accepted, Reread
from leafward_tui.lab.returning import Returning
from leafward_tui.ui.cells import count, counted, exact, money, percent
from leafward_tui.ui.price_line import KeyHint
from leafward_tui.ui.sheet import Choice, ChoiceSheet, SheetLine, TextSheet
from leafward_tui.ui.write_target import book_words

if TYPE_CHECKING:
    from leafward.compaction.draft import Draft
    from leafward.summaries.summarizers.model import Outgoing
    from leafward_tui.lab.model.fates import LostFact

_OTHER = "o"
_GRAVE = frozenset({"still-too-large", "no-gain", "grows", "over-limit", "shortened", "lost"})
"""Codes of remarks that stand out before a compaction is accepted."""


class Closing(Returning):
    """Sheets, accepting and leaving."""

    # --- who writes ---------------------------------------------------------------------------------------------------

    def action_summarizer_choose(self) -> None:
        """Asks who writes the summary."""
        what_if = self.what_if
        if what_if is None or self._busy():
            return
        now, config = what_if.choices.summarizer, self.shell.config
        choices = [
            Choice(
                "e",
                "Extractive",
                "quotes the span on this machine, costs nothing",
                "nothing is sent anywhere",
                current=now == EXTRACTIVE,
            )
        ]
        if self.beside >= 0:
            choices.append(
                Choice(
                    "k",
                    "The summary as it is",
                    f"that of #{self.beside:,}, word for word, with what you pin",
                    "nothing is sent anywhere",
                    current=now == AS_IT_IS,
                )
            )
        names = dict.fromkeys(
            name for name in (config.model, now) if name and name not in (EXTRACTIVE, AS_IT_IS)
        )
        keys = dict(zip("abcd", names, strict=False))
        for key, name in keys.items():
            effect = "the model of the configuration" if name == config.model else "used before"
            choices.append(
                Choice(
                    key,
                    safe_line(name, 60),
                    effect,
                    "what would be sent is shown first",
                    current=now == name,
                )
            )
        choices.append(
            Choice(
                _OTHER,
                "Another model",
                "any that litellm reaches, by its name",
                "what would be sent is shown first",
            )
        )

        def done(key: str | None) -> None:
            if key == "e":
                self.summarize_by(EXTRACTIVE)
            elif key == "k":
                self.summarize_by(AS_IT_IS)
            elif key == _OTHER:
                self._name_model()
            elif key is not None:
                self.summarize_by(keys[key])

        self.app.push_screen(ChoiceSheet("Who writes the summary", choices), done)

    def _name_model(self) -> None:
        def done(text: str | None) -> None:
            if text is not None and text.strip():
                self.summarize_by(text.strip())

        sheet = TextSheet(
            "Model",
            "",
            [SheetLine("as litellm names it: provider/model; keys come from the environment")],
            placeholder="provider/model",
            commit="choose",
            operation_of=lambda _text: "nothing is sent before it was shown",
        )
        self.app.push_screen(sheet, done)

    def summarize_by(self, name: str) -> None:
        """Another summariser writes from now on."""
        if self.what_if is not None:
            self.choose(replace(self.what_if.choices, summarizer=name))
            if self.what_if.choices.asks:
                self.go_to("text", "Summary")
                self.look_at_prompt()

    def ask(self, sending: Outgoing) -> None:
        """Asks before anything is sent: how much, to whom, for how much, what was taken out."""
        from leafward.summaries.summarizers.addresses import host_of

        what_if = self.what_if
        if what_if is None:
            return
        requests = counted(len(sending.requests), "request")
        price = "price not known" if sending.cost is None else f"at most {money(sending.cost)}"
        secrets = sum(sending.redacted.values())
        about = [SheetLine(f"{exact(sending.tokens)} tokens in {requests}, {price}")]
        if secrets:
            names = ", ".join(safe_line(name, 40) for name in sorted(sending.redacted))
            about.append(SheetLine(f"{counted(secrets, 'secret')} taken out: {names}", "warn"))
        else:
            about.append(SheetLine("no secrets found in it"))
        about += [SheetLine(safe_line(remark, 200), "warn") for remark in sending.remarks[:3]]
        where = host_of(sending.model, sending.base_url)
        name = safe_line(what_if.choices.summarizer, 60)
        choices = [
            Choice(
                "s",
                f"Send it to {name}",
                "streams in, esc cancels",
                f"sends {exact(sending.tokens)} tokens to {safe_line(where, 60)}; nothing is written",
            ),
            Choice("v", "Look at the text first", "every word that would be sent", "nothing is sent"),
        ]

        def done(key: str | None) -> None:
            if key == "s":
                self.start_run()
            elif key == "v":
                self.go_to("text", "Prompt")
                self.show_text()

        self.app.push_screen(ChoiceSheet("Summary by a model", choices, about, note=name), done)

    def ask_how_many(self, facts: list[LostFact]) -> None:
        """Asks whether all of many facts are meant, or those that weigh most."""
        glyphs = self.shell.glyphs

        def effect(some: list[LostFact]) -> str:
            return f"{glyphs.about} {exact(tokens_of(chr(10).join(fact.pin for fact in some)))} tokens"

        choices = [
            Choice("h", f"The {MANY} that weigh most", effect(facts[:MANY]), "pins them into the summary"),
            Choice("a", f"All {len(facts):,}", effect(facts), "pins them; the summary grows by as much"),
        ]

        def done(key: str | None) -> None:
            if key is not None:
                self.pin(facts[:MANY] if key == "h" else facts)

        self.app.push_screen(ChoiceSheet("Pin lost facts", choices), done)

    def action_focus_edit(self) -> None:
        """Asks what the summary should dwell on."""
        what_if = self.what_if
        if what_if is None or self._busy():
            return
        extractive = not what_if.choices.asks
        note = "a model is told so; the extractive summariser goes by words" if extractive else ""

        def done(text: str | None) -> None:
            if text is not None:
                self.choose(replace(what_if.choices, focus=text.strip()))

        sheet = TextSheet(
            "What the summary should dwell on",
            what_if.choices.focus,
            note=note,
            placeholder="empty for nothing in particular",
        )
        self.app.push_screen(sheet, done)

    # --- accepting ----------------------------------------------------------------------------------------------------

    def action_compaction_accept(self) -> None:
        """Shows what would be appended, and asks."""
        what_if, session = self.what_if, self.session
        if what_if is None:
            return
        if self.editor is not None:
            self.end_edit()
            if self.amending:
                self.tell("counting what survives the edit; accept again in a moment")
                return
        draft = self.draft
        if self.refusal:
            self.tell(f"read only: {self.refusal}", "bad")
        elif what_if.plan.nothing:
            self.tell(what_if.plan.diagnostics[0].text, "warn")
        elif self.writing or self.streaming is not None:
            self.tell("the summary is not whole yet", "warn")
        elif draft is None:
            run = self.shell.keymap.label("summary.run")
            waits = self.amending or not what_if.choices.asks
            self.tell("the draft is not ready yet" if waits else f"no summary yet: {run} writes one", "warn")
        elif session.changed_on_disk():
            self.file_grew()
        else:
            self._ask_to_append(draft)

    def _ask_to_append(self, draft: Draft) -> None:
        name = book_words(self.session)
        lines = len(draft.lines(self.shell.clock))
        share = draft.survival.overall()
        kept = f", {percent(share, 1.0)} of the facts survive, by weight" if share is not None else ""
        glyphs = self.shell.glyphs
        sizes = f"{count(draft.tokens_before)} {glyphs.arrow} {count(draft.tokens_after)}"
        about = [
            SheetLine(f"{draft.plan.settings.strategy.value} rules, by {draft.summary.summarizer}{kept}")
        ]
        if draft.place.moves:
            about.append(
                SheetLine(f"the leaf moves to #{draft.place.parent}: what follows now is left", "warn")
            )
        known = {remark.text for remark in draft.plan.diagnostics}
        about += [
            SheetLine(safe_line(remark.text, 200), "warn" if remark.code in _GRAVE else "")
            for remark in draft.diagnostics
            if remark.text not in known and remark.code != "moves-leaf"
        ][:3]
        choices = [
            Choice(
                "a", "Append the compaction", f"context {sizes}", f"append {counted(lines, 'line')} to {name}"
            )
        ]

        def done(key: str | None) -> None:
            if key == "a" and not self.writing:
                self.writing = True
                self._accept(draft)

        note = f"after #{draft.place.parent}" if draft.place.parent >= 0 else "at the beginning"
        self.app.push_screen(ChoiceSheet("Accept", choices, about, note=note), done)

    @work(thread=True, group="write", exit_on_error=False)
    def _accept(self, draft: Draft) -> None:
        from leafward.compaction.run import accept
        from leafward.session.journal import Writing

        try:
            written = accept(self.session, draft, Writing(now=self.shell.clock))
        except (LeafwardError, OSError) as error:
            self.post_message(Accepted(None, str(error)))
        else:
            self.post_message(Accepted(written, ""))

    def on_accepted(self, message: Accepted) -> None:
        """Back to the tree with what was written; or why it was not."""
        self.writing = False
        draft = self.draft
        if draft is not None:
            sizes = (count(size) for size in (draft.tokens_before, draft.tokens_after))
            self.outcome = f"compacted: {f' {self.shell.glyphs.arrow} '.join(sizes)}"
        if message.written is None:
            keys = (KeyHint("session.reload", self.shell.keymap.label("session.reload"), "reads it anew"),)
            self.tell(f"refused: {message.text}", "bad", keys)
        else:
            if draft is not None:
                kept_drafts(self.app).drop(draft)
            self.dismiss(message.written)

    # --- the file -----------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Looks whether the file went on; costs one stat. Nothing is read: plan and draft stay what they are."""
        if not self.writing and not self.grew and self.app.screen is self and self.session.changed_on_disk():
            self.file_grew()

    def file_grew(self) -> None:
        """Says that the file went on, and which key reads it."""
        self.grew = True
        self.show_title()
        label = self.shell.keymap.label("session.reload")
        self.tell(
            "the file went on since it was read: accepting would be refused",
            "warn",
            (KeyHint("session.reload", label, "reads it anew"),),
        )

    def action_session_reload(self) -> None:
        """Reads what was added to the file, and measures anew."""
        if self._busy():
            return
        self.writing = True
        self._reread(self.generation)

    @work(thread=True, group="write", exit_on_error=False)
    def _reread(self, run: int) -> None:
        try:
            self.session.refresh()
        except (LeafwardError, OSError) as error:
            self.post_message(Reread(run, str(error)))
        else:
            self.post_message(Reread(run, ""))

    def on_reread(self, message: Reread) -> None:
        """Everything from the beginning; what is chosen stays."""
        self.writing = False
        if message.text:
            self.tell(message.text, "bad")
            return
        self.grew = False
        self.collected = None
        self.tell("read anew", "leaf")
        self.begin()

    # --- editing ------------------------------------------------------------------------------------------------------

    def action_summary_edit(self) -> None:
        """The summary in a field of its own; leaving it takes the text over."""
        draft = self.draft
        if draft is None or self.editor is not None or self.streaming is not None:
            if self.editor is None:
                self.tell("no summary to edit yet", "warn")
            return
        from textual.widgets import TextArea

        self.go_to("text", "Summary")
        self.editor = TextArea(draft.summary.text, id="edit", soft_wrap=True, show_line_numbers=False)
        self.editor.cursor_blink = False
        self.text_view.display = False
        self.text_pane.mount(self.editor, after=self.state_line)
        self.editor.focus()
        self.show_text()
        self.show_hints()

    def on_text_area_changed(self) -> None:
        """The number over the field follows."""
        if self.editor is not None:
            self.state_line.show(self._state())

    def end_edit(self) -> None:
        """Takes the text of the field over and closes it."""
        editor = self.editor
        if editor is None:
            return
        text = editor.text
        self.editor = None
        editor.remove()
        self.text_view.display = True
        if text.strip():
            self.amend(text)
        else:
            self.tell("an empty summary would lose everything: the one before stays", "warn")
        self.go_to("text", "Summary")
        self.show_text()
        self.show_hints()

    # --- elsewhere ----------------------------------------------------------------------------------------------------

    def action_draft_xray(self) -> None:
        """The context before and after, aligned."""
        raise NotImplementedError

    def action_mode_leave(self) -> None:
        """Leaves one thing at a time: the field, the summary that is being written, the lab; nothing is written."""
        if self.editor is not None:
            self.end_edit()
        elif self.asking:
            self.cancel_run()
        elif not self.writing:
            self.dismiss(None)

    def action_app_back(self) -> None:
        """As leaving."""
        self.action_mode_leave()
