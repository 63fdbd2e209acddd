"""The acceptance of a draft: the append is shown, confirmed and written."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.base.figures import counted, percent
from leafward.base.safe_text import safe_line
from leafward.session.journal.open_file import why_unwritable
from leafward_tui.lab.controllers.controller import LabController, LabMeans
from leafward_tui.lab.model.choices import EXTRACTIVE
from leafward_tui.lab.model.fates import invented_words, unseen_facts
from leafward_tui.ui.bars.price_line import KeyHint
from leafward_tui.ui.screen_results import LabResult
from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet
from leafward_tui.ui.sheets.sheet import SheetLine
from leafward_tui.ui.text.cells import count
from leafward_tui.ui.words.write_words import book_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from leafward.compaction.draft.draft import Draft
    from leafward.session.journal.write import Write
    from leafward.session.session import Session
    from leafward_tui.lab.controllers.edit import SummaryEdit
    from leafward_tui.lab.controllers.file import SessionFile
    from leafward_tui.lab.controllers.pins import Pins
    from leafward_tui.lab.model.fates import LostFact
    from leafward_tui.lab.model.paid_summaries import KeptDrafts
    from leafward_tui.ui.jobs import Job

_GRAVE = frozenset({"still-too-large", "no-gain", "grows", "over-limit", "shortened", "lost"})
"""Codes of remarks that stand out before a compaction is accepted."""
_LISTED = 6
"""Facts that are listed before a compaction is accepted without them."""
_SENTENCE = 4
"""Lines of one such fact on a narrow screen."""


class Acceptance(LabController):
    """Owns `state.append`."""

    def __init__(
        self, means: LabMeans, edit: SummaryEdit, file: SessionFile, kept: KeptDrafts, pins: Pins
    ) -> None:
        super().__init__(means)
        self._edit = edit
        self._file = file
        self._kept = kept
        self._pins = pins
        self.actions = {"compaction.accept": self.accept}

    def accept(self) -> None:
        """Shows the append, and asks for confirmation."""
        state, what_if, tell = self._state, self._state.what_if, self._view.tell
        if what_if is None:
            return
        if state.edit.open:
            self._edit.end()
            if state.drafts.amending:
                tell("counting what survives the edit; accept again in a moment")
                return
        draft = state.draft
        # Checked again: permissions may have changed since the lab was opened.
        if shut := why_unwritable(state.session):
            tell(shut, "bad")
        elif what_if.plan.nothing:
            tell(what_if.plan.diagnostics[0].text, "warn")
        elif state.busy:
            tell(state.busy, "warn")
        elif draft is None:
            if state.drafts.amending or not what_if.choices.asks:
                tell("the draft is not ready yet", "warn")
            else:
                run = KeyHint("summary.run", self._services.keymap.label("summary.run"), "writes one")
                tell("no summary yet", "warn", (run,))
        elif state.session.changed_on_disk():
            self._file.watch.say_changed()
        elif grows := self._state.larger(draft):
            tell(grows, "warn")
        elif unseen := unseen_facts(draft.survival):
            self._ask_for_unseen(draft, unseen)
        else:
            self._ask(draft)

    def _ask_for_unseen(self, draft: Draft, unseen: list[LostFact]) -> None:
        """Lists the rules and unfinished steps that the model would lose, and asks whether to pin them or go on without."""
        rules = sum(fact.rule for fact in unseen)
        counts = ((rules, "rule"), (len(unseen) - rules, "unfinished step"))
        facts = " and ".join(counted(count, word) for count, word in counts if count)
        sign = self._services.glyphs.error
        about = [SheetLine(f"{sign} {fact.text}", "warn", _SENTENCE) for fact in unseen[:_LISTED]]
        if len(unseen) > _LISTED:
            about.append(SheetLine(f"and {len(unseen) - _LISTED:,} more, listed as lost"))
        them, pin = ("it", "Pin it") if len(unseen) == 1 else ("them", "Pin all of them")
        choices = [
            Choice(
                "p",
                pin,
                f"the summary then has {them} word for word",
                "writes nothing yet",
                act=partial(self._pins.toggle, unseen),
            ),
            Choice(
                "a",
                f"Go on without {them}",
                f"the model will not see {them}",
                "asks before it appends",
                act=partial(self._ask, draft),
            ),
        ]
        self._view.open_sheet(ChoiceSheet("Accept", choices, about, note=f"{facts} would be lost"))

    def _ask(self, draft: Draft) -> None:
        name = book_words(self._state.session)
        lines = len(draft.lines(self._services.clock))
        share = draft.survival.overall()
        kept = f", {percent(share, 1.0)} of the facts survive, by weight" if share is not None else ""
        sizes = f" {self._services.glyphs.arrow} ".join(_sizes(draft))
        about = [SheetLine(f"{draft.plan.settings.strategy.value} rules, {_author(draft)}{kept}")]
        if not self._state.session.is_native:
            about.append(
                SheetLine("only in Leafward: the agent goes on with its own context; a fork makes it real")
            )
        if invented := invented_words(draft.survival):
            about.append(SheetLine(invented, "warn"))
        if draft.place.moves:
            about.append(
                SheetLine(
                    f"the leaf moves to #{draft.place.parent:,}: the entries below it become a branch", "warn"
                )
            )
        known = {remark.text for remark in draft.plan.diagnostics}
        about += [
            SheetLine(safe_line(remark.text, 200), "warn" if remark.code in _GRAVE else "")
            for remark in draft.diagnostics
            if remark.text not in known and remark.code != "moves-leaf"
        ][:3]
        operation = f"append {counted(lines, 'line')} to {name}"
        append = partial(self._append, draft)
        choice = Choice("a", "Append the compaction", f"context {sizes}", operation, act=append)
        # The same name as in the lab's title: Leafward's notes after the entry are skipped.
        after = self._state.session.tree.content_at(draft.place.parent)
        note = f"after #{after:,}" if after >= 0 else "at the beginning"
        self._view.open_sheet(ChoiceSheet("Accept", [choice], about, note=note))

    def _append(self, draft: Draft) -> None:
        if self._state.busy:
            return
        self._state.append.running = True
        self._jobs.also(
            "append",
            partial(appended, self._state.session, draft, self._services.clock),
            partial(self._appended, draft),
            self._refused,
        )

    def _appended(self, draft: Draft, written: Write) -> None:
        """Closes the lab with the write."""
        self._state.append.running = False
        self._kept.drop(draft)
        sizes = f" {self._services.glyphs.arrow} ".join(_sizes(draft))
        self._view.dismiss(LabResult(written, f"compacted: {sizes}"))

    def _refused(self, text: str) -> None:
        self._state.append.running = False
        label = self._services.keymap.label("session.reload")
        self._view.tell(f"not appended: {text}", "bad", (KeyHint("session.reload", label, "reload"),))


def appended(session: Session, accepted: Draft, now: Callable[[], datetime], _job: Job) -> Write:
    """Appends a draft to the session. Raises LeafwardError, OSError."""
    from leafward.compaction.draft.draft import accept
    from leafward.session.journal.write import Writing

    return accept(session, accepted, Writing(now=now))


def _sizes(draft: Draft) -> tuple[str, str]:
    """The sizes of the context before and after; estimates carry `~`."""
    tokens = draft.plan.tokens
    return f"{tokens.before_sign}{count(tokens.counted_before)}", f"~{count(draft.counted_after)}"


def _author(draft: Draft) -> str:
    """The author of a draft's summary, as words in a sentence."""
    name = safe_line(draft.summary.summarizer, 60)
    author = "extractive summary" if name == EXTRACTIVE else f"summary by {name}"
    return f"{author}, edited" if draft.changed else author
