"""Summaries that were paid for or written by hand, and not appended: kept for the next visit, and offered there."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward_tui.lab.controllers.controller import LabController, LabMeans
from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet
from leafward_tui.ui.sheets.sheet import SheetLine
from leafward_tui.ui.text.cells import age, exact, money

if TYPE_CHECKING:
    from leafward_tui.lab.controllers.display import Display
    from leafward_tui.lab.controllers.drafts import DraftMaker
    from leafward_tui.lab.controllers.layout import PaneLayout
    from leafward_tui.lab.controllers.settings import Settings
    from leafward_tui.lab.model.paid_summaries import KeptDraft, KeptDrafts


class KeptSummaries(LabController):
    """Puts drafts of an earlier visit back."""

    def __init__(
        self,
        means: LabMeans,
        display: Display,
        layout: PaneLayout,
        settings: Settings,
        drafts: DraftMaker,
        kept: KeptDrafts,
    ) -> None:
        super().__init__(means)
        self._display = display
        self._layout = layout
        self._settings = settings
        self._drafts = drafts
        self._kept = kept

    def take_up(self, *, offer: bool) -> None:
        """Puts drafts back that were not appended; with `offer`, shows the last one."""
        state, what_if = self._state, self._state.what_if
        found = self._kept.of(state.session, state.path.at)
        if what_if is None or not found:
            return
        for one in found:
            self._drafts.put_back(one.draft, one.choices)
        self._display.show_text()
        self._view.show_hints()
        # A user who comes with facts to pin has another summary in mind.
        if not offer or state.given_pins or not self._view.on_top:
            return
        last = found[-1]
        if last.draft is what_if.draft():
            self._view.tell(f"here again: the summary by {_author(last)}, {self._made(last)}")
        else:
            self._offer(last, len(found))

    def left_words(self) -> str:
        """The drafts that are left here without an append, and what becomes of them; empty for none."""
        found = self._kept.of(self._state.session, self._state.path.at)
        if not found:
            return ""
        spent = sum(one.draft.summary.cost or 0.0 for one in found)
        cost = f" ({money(spent)})" if spent else ""
        name = "the summary" if len(found) == 1 else counted(len(found), "summary", "summaries")
        return f"not appended: {name}{cost}, kept until you quit"

    def _made(self, one: KeptDraft) -> str:
        """The time of the draft in words."""
        ago = age(self._services.clock() - one.made)
        return "made just now" if ago == "now" else f"made {ago} ago"

    def _offer(self, last: KeptDraft, number: int) -> None:
        summary = last.draft.summary
        cost = f", {money(summary.cost)}" if summary.cost else ""
        choices = [
            Choice(
                "t",
                f"Use the summary by {_author(last)}",
                f"{exact(last.draft.summary_tokens)} tokens{cost}, {self._made(last)}",
                "its settings are chosen; nothing is written",
                act=partial(self._take_up, last),
            ),
            Choice("n", "Start over", "it stays among the runs", "nothing is written"),
        ]
        others = f"; {counted(number - 1, 'more')} among the runs" if number > 1 else ""
        about = [SheetLine(f"made here before and not appended{others}")]
        self._view.open_sheet(ChoiceSheet("Unused summary", choices, about))

    def _take_up(self, one: KeptDraft) -> None:
        self._settings.take(one.choices)
        self._layout.go_to("text", "Summary")
        self._display.show_text()


def _author(one: KeptDraft) -> str:
    """The author of the draft."""
    return safe_line(one.draft.summary.summarizer, 60) + (", edited" if one.draft.changed else "")
