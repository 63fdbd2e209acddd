"""Summaries of branches: carried along by a move, or only shown. Made in a worker, given up at any moment without a trace."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from textual import work

from leafward.base.errors import LeafwardError
from leafward_tui.explorer.model.branch_summary import (
    Summing,
    Wanted,
    done_figures,
    progress_words,
    redacted_words,
    span_words,
)
from leafward_tui.explorer.results import Exported, LookedOver, Summarised, SummaryGrew, Wrote
from leafward_tui.explorer.summary_asking import SummaryAsking
from leafward_tui.ui.cells import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from leafward.compaction.branch import Branch, BranchDraft
    from leafward.session.session import Session
    from leafward_tui.ui.price_line import KeyHint
    from leafward_tui.ui.reading_sheet import ReadingSheet

_REFUSAL_SECONDS = 2.5
"""Seconds that a refusal stands before the progress is shown again."""


class Summarising(SummaryAsking):
    """Actions that summarise a branch."""

    _sheet: ReadingSheet | None = None
    """Where a summary that is only shown grows."""
    _refusal_until = 0.0

    # --- waiting -------------------------------------------------------------------------------------------------------

    def refuse_while_summing(self) -> bool:
        """Whether a summary is being made, which everything that writes waits for; says so, and what ends it."""
        if self.summing is None:
            return False
        self._refusal_until = time.monotonic() + _REFUSAL_SECONDS
        self.set_timer(_REFUSAL_SECONDS, self.show_progress)
        self.price_line.note(
            "refused: a summary of this session is still being made",
            "bad",
            self.key_hints(("mode.leave", "cancels")),
        )
        return True

    # --- making -------------------------------------------------------------------------------------------------------

    def start_summary(
        self, wanted: Wanted, then: Callable[[BranchDraft | None], object] | None = None
    ) -> None:
        """Makes a summary as wanted, and hands it to `then`, if there is one.

        Where there is nothing to summarise, what is to follow is done without a question.
        """
        session = self.session
        if session is None or self.refuse_while_summing():
            return
        summing = Summing(wanted, then=then)
        if summing.moves and (self.refuse_to_write() or self.refuse_while_writing()):
            return
        if not wanted.entries:
            self._nothing_to_tell(summing)
            return
        self.summing = summing
        self.show_progress()
        self.show_hints()
        self._look_over(self.generation, self.summing, session)

    def _nothing_to_tell(self, summing: Summing) -> None:
        from leafward.session.journal import move

        wanted = summing.wanted
        if summing.then is not None:
            summing.then(None)
        elif wanted.preview:
            self.tell("nothing to summarise there", "warn")
        else:
            said = f"moved to {self.named(wanted.to)}; there was nothing to summarise"
            self.start_write(said, lambda it, writing: move(it, wanted.to, writing))

    @work(thread=True, group="summary", exit_on_error=False)
    def _look_over(self, run: int, summing: Summing, session: Session) -> None:
        from leafward_tui.explorer.summary_work import branch_of, sent_for

        config = self.shell.config
        try:
            branch = branch_of(session, summing.wanted, config, summing.stop.is_set)
            going = sent_for(branch, summing.wanted.focus, config) if branch is not None else None
        except (LeafwardError, OSError) as error:
            self.post_message(Summarised(run, summing, problem=str(error)))
        else:
            self.post_message(LookedOver(run, summing, branch, going))

    def on_looked_over(self, message: LookedOver) -> None:
        """Goes on with the only summariser there is, or asks which, showing what would be sent."""
        summing, branch = message.summing, message.branch
        if summing is not self.summing:
            return
        if summing.stop.is_set() or message.run != self.generation:
            self.end_summary("cancelled; nothing was written")
        elif branch is None:
            self.end_summary("")
            self._nothing_to_tell(summing)
        elif message.going is None and not summing.asks:
            self.make_summary(summing, branch, "extractive")
        else:
            self.choose_summarizer(summing, branch, message.going)

    def make_summary(self, summing: Summing, branch: Branch, name: str) -> None:
        """Makes the summary by the summariser of a name, in a worker."""
        session = self.session
        if session is None:
            return
        summing.branch = branch
        if summing.wanted.preview:
            self._sheet = self._preview(summing.wanted, running=True)
        self.show_progress()
        self._summarise(self.generation, summing, session, branch, name)

    @work(thread=True, group="summary", exit_on_error=False)
    def _summarise(self, run: int, summing: Summing, session: Session, branch: Branch, name: str) -> None:
        from leafward.compaction.branch import move_with_summary
        from leafward.session.journal import Writing, busy
        from leafward.summaries.summarizers import Cancelled
        from leafward_tui.explorer.summary_work import summarise

        wanted, stop = summing.wanted, summing.stop.is_set
        draft: BranchDraft | None = None
        try:
            with busy(session.path, "a summary") as claim:
                draft = summarise(
                    session,
                    branch,
                    wanted.focus,
                    name,
                    self.shell.config,
                    lambda growth: self.post_message(SummaryGrew(run, summing, growth)),
                    stop,
                )
                if stop():
                    raise Cancelled("cancelled")
                written = (
                    move_with_summary(session, wanted.to, draft, Writing(claim=claim, now=self.shell.clock))
                    if summing.moves
                    else None
                )
        except (LeafwardError, OSError) as error:
            self.post_message(Summarised(run, summing, draft, problem=str(error)))
        else:
            self.post_message(Summarised(run, summing, draft, written))

    def on_summary_grew(self, message: SummaryGrew) -> None:
        """Shows how far it is, where it will stand."""
        if message.summing is not self.summing:
            return
        self.summing.growth = message.growth
        self.show_progress()

    def show_progress(self) -> None:
        """The line that says how far the summary is, and what ends it."""
        summing = self.summing
        if summing is None or not self.is_attached:
            return
        words = progress_words(summing)
        if self._sheet is not None:
            self._sheet.grow(summing.growth.text if summing.growth is not None else "", words)
        if time.monotonic() < self._refusal_until:
            return
        beneath = summing.growth.last_line if summing.growth is not None else ""
        self.price_line.note(words, "", self.key_hints(("mode.leave", "cancels")), beneath)

    def tell(self, text: str, tone: str = "", keys: Sequence[KeyHint] = (), beneath: str = "") -> None:
        """As always; where there is nothing to say, how far a summary is."""
        if not text and self.summing is not None:
            self.show_progress()
        else:
            super().tell(text, tone, keys, beneath)

    def cancel_summary(self) -> None:
        """Gives the summary up; the file stays as it is."""
        if self.summing is not None:
            self.summing.stop.set()
            self._refusal_until = 0.0
            self.show_progress()

    def on_summarised(self, message: Summarised) -> None:
        """Shows what became of it."""
        summing, draft = message.summing, message.draft
        if summing is not self.summing:
            return
        wanted, sheet = summing.wanted, self._sheet
        self._sheet = None
        if summing.stop.is_set() and message.written is None:
            self.end_summary("cancelled; nothing was written")
            return
        self.end_summary("")
        if summing.then is not None:
            if draft is None:
                self.tell(f"no summary: {message.problem}", "bad")
            else:
                summing.then(draft)
        elif message.written is not None and draft is not None:
            said = f"moved to {self.named(wanted.to)} with a summary of {counted(wanted.entries, 'entry', 'entries')}"
            self.post_message(Wrote(message.run, message.written, "; ".join([said, *draft.remarks]), ""))
        elif draft is None:
            if sheet is not None:
                sheet.ended("", message.problem, tone="bad", again=True)
            else:
                self.tell(f"no summary: {message.problem}", "bad")
        else:
            self._show_draft(sheet or self._preview(wanted, running=False), wanted, draft, message.problem)

    def _show_draft(self, sheet: ReadingSheet, wanted: Wanted, draft: BranchDraft, problem: str) -> None:
        """A summary that is whole and not written."""
        self._draft = draft
        who = draft.summary.summarizer
        offline = draft.summary.usage is None
        said = "; ".join([f"{who}, on this machine" if offline else who, *draft.remarks])
        taken_out = redacted_words(draft.summary.redacted)
        said = f"{said}; {taken_out}" if taken_out else said
        refused = "" if wanted.carried else "this branch is not the active one: nothing is moved"
        if self.refusal:
            refused = f"read only: {self.refusal}"
        sheet.ended(
            draft.text,
            f"not written: {problem}" if problem else said,
            figures=done_figures(draft, self.shell.glyphs),
            tone="bad" if problem else "warn" if draft.remarks else "",
            move=f"move to {self.named(wanted.to)} with it",
            refused=refused,
            operation=self.appending(),
            again=True,
        )

    def _preview(self, wanted: Wanted, *, running: bool) -> ReadingSheet:
        """Opens the sheet in which a summary is shown."""
        from leafward_tui.ui.reading_sheet import ReadingSheet

        title = "Summary of what a move leaves" if wanted.carried else "Summary of this branch"
        sheet = ReadingSheet(
            f"{title}: {wanted.focus}" if wanted.focus else title,
            note=span_words(wanted, self.shell.glyphs),
            running=running,
            cancel=self.cancel_summary,
            save=self.save_summary,
        )

        def done(chosen: str | None) -> None:
            self._sheet = None
            draft = self._draft
            if chosen == "move" and draft is not None:
                self._move_with(wanted, draft)
            elif chosen == "again":
                self._ask_again(wanted)
            else:
                self.settle()

        self.app.push_screen(sheet, done)
        return sheet

    _draft: BranchDraft | None = None
    """The summary on show."""

    def _move_with(self, wanted: Wanted, draft: BranchDraft) -> None:
        from leafward.compaction.branch import move_with_summary

        said = f"moved to {self.named(wanted.to)} with a summary of {counted(wanted.entries, 'entry', 'entries')}"
        self.start_write(said, lambda it, writing: move_with_summary(it, wanted.to, draft, writing))

    def _ask_again(self, wanted: Wanted) -> None:
        session = self.session
        if session is None or self.refuse_while_summing():
            return
        self.summing = Summing(wanted, asks=True)
        self.show_progress()
        self._look_over(self.generation, self.summing, session)

    def end_summary(self, said: str) -> None:
        """No summary is under way any more."""
        self.summing = None
        self._refusal_until = 0.0
        self.tell(said, "warn" if said else "")
        self.show_hints()

    # --- files --------------------------------------------------------------------------------------------------------

    def save_summary(self, text: str) -> None:
        """Writes a summary to a file in the current folder."""
        from pathlib import Path

        session = self.session
        if session is not None:
            self._save_summary(Path.cwd(), f"{session.id[:8]}-summary", text)

    @work(thread=True, exclusive=True, group="export", exit_on_error=False)
    def _save_summary(self, folder: Path, stem: str, text: str) -> None:
        from leafward.export.markdown import harmless
        from leafward.export.output_file import write_new_document

        number = 1
        while os.path.lexists(path := folder / (f"{stem}.md" if number == 1 else f"{stem}-{number}.md")):
            number += 1
        try:
            write_new_document(path, harmless(text.rstrip("\n")) + "\n")
        except OSError as error:
            self.post_message(Exported(f"not exported: {error}", problem=True))
        else:
            self.post_message(Exported(f"exported to {path}"))
