"""Coming back to the lab: a summary that was paid for, or written by hand, and not appended is still there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.summaries.survival import Status
from leafward_tui.lab.asking import Asking
from leafward_tui.lab.model.fates import LostFact
from leafward_tui.lab.model.paid_summaries import kept_drafts
from leafward_tui.ui.cells import age, counted, exact, money
from leafward_tui.ui.sheet import Choice, ChoiceSheet, SheetLine

if TYPE_CHECKING:
    from leafward_tui.lab.model.paid_summaries import KeptDraft


class Returning(Asking):
    """What is offered when the lab is opened."""

    def take_up_kept(self, *, offer: bool) -> None:
        """Puts drafts back that were made here before and not appended; offers the last one."""
        what_if = self.what_if
        found = kept_drafts(self.app).of(self.session, self.at)
        if what_if is None or not found:
            return
        for one in found:
            what_if.keep_draft(one.choices.draft_key(), one.draft)
            if not any(run.choices == one.choices for run in self.runs):
                self.remember_run(one.draft, one.choices)
        self.show_text()
        self.show_hints()
        # Whoever comes with facts to pin has another summary in mind.
        if not offer or self.given_pins or self.app.screen is not self:
            return
        if found[-1].draft is what_if.draft():
            self.tell(
                f"the summary by {_author(found[-1])}, {self._made(found[-1])}, is here: it was not appended"
            )
        else:
            self._offer_kept(found[-1], len(found))

    def _made(self, one: KeptDraft) -> str:
        """When it was made."""
        ago = age(self.shell.clock() - one.made)
        return "made just now" if ago == "now" else f"made {ago} ago"

    def _offer_kept(self, last: KeptDraft, number: int) -> None:
        summary = last.draft.summary
        cost = f", {money(summary.cost)}" if summary.cost else ""
        choices = [
            Choice(
                "t",
                f"Take up the summary by {_author(last)}",
                f"{exact(summary.tokens)} tokens{cost}, {self._made(last)}",
                "its settings are chosen; nothing is written",
            ),
            Choice("n", "Begin anew", "it stays among the runs", "nothing is written"),
        ]
        others = f"; {counted(number - 1, 'more')} among the runs" if number > 1 else ""
        about = [SheetLine(f"made here before and not appended{others}")]

        def done(key: str | None) -> None:
            if key == "t":
                self._take_up(last)

        self.app.push_screen(ChoiceSheet("Kept summary", choices, about), done)

    def _take_up(self, one: KeptDraft) -> None:
        what_if = self.what_if
        if what_if is None:
            return
        known = {fact.pin for fact in what_if.pinned}
        what_if.pinned += [
            LostFact(pin, -1, Status.LOST, pin, pinned=True) for pin in one.choices.pins if pin not in known
        ]
        self.choose(one.choices)
        self.go_to("text", "Summary")
        self.show_text()


def _author(one: KeptDraft) -> str:
    """Who wrote it."""
    return safe_line(one.draft.summary.summarizer, 60) + (", edited" if one.draft.changed else "")
