"""Carrying over from one branch to the other: what would be appended is worked out and shown before anything is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message
from textual.worker import get_current_worker

from leafward.errors import Cancelled, LeafwardError
from leafward_tui.cells import count, counted
from leafward_tui.screens.compare.exporting import CompareExporting
from leafward_tui.screens.compare.values import Leaving

if TYPE_CHECKING:
    from leafward.carrying import GraftDraft, MergeDraft
    from leafward.diff.sides import Sides
    from leafward.journal import Write, Writing
    from leafward.session import Session

__all__ = ["CompareCarrying"]


@dataclass
class CarryDrafted(Message):
    """What could be carried over; in place of a draft why it cannot."""

    run: int
    merge: MergeDraft | str
    grafts: dict[str, GraftDraft | str]
    """By the key of the side whose turns are grafted."""


class CompareCarrying(CompareExporting):
    """The sheet Carry over."""

    @property
    def refusal(self) -> str:
        """Why nothing can be written to the session; empty where it can."""
        return self.session.read_only or ""

    def action_carry_open(self) -> None:
        """Works out what could be carried over, then asks."""
        if self.overall is None:
            return
        if self.refusal:
            self.tell(self.refusal, "warn")
            return
        self.tell("working out what could be carried over", "faint")
        self._draft_carry(self.run, self.overall.sides)

    @work(thread=True, exclusive=True, group="carry", exit_on_error=False)
    def _draft_carry(self, run: int, sides: Sides) -> None:
        from leafward.carrying import draft_graft, draft_merge

        worker = get_current_worker()
        window = self.shell.config.window

        def stop() -> bool:
            return worker.is_cancelled

        merge: MergeDraft | str
        try:
            merge = draft_merge(sides, stop=stop)
        except Cancelled:
            return
        except (LeafwardError, OSError) as error:
            merge = str(error)
        grafts: dict[str, GraftDraft | str] = {}
        for key, side in (("a", sides.a), ("b", sides.b)):
            try:
                grafts[key] = draft_graft(sides.session, side.entries, window=window, stop=stop)
            except (LeafwardError, OSError) as error:
                grafts[key] = str(error)
        if not worker.is_cancelled:
            self.post_message(CarryDrafted(run, merge, grafts))

    def on_carry_drafted(self, message: CarryDrafted) -> None:
        """Asks what to carry over, each with what it would append."""
        from leafward_tui.widgets.sheet import Choice, ChoiceSheet, SheetLine

        if message.run != self.run or self.app.screen is not self:
            return
        self.tell("")
        merge = message.merge
        if isinstance(merge, str):
            choices = [Choice("m", "Merge both summaries", refused=merge)]
        else:
            conflicts = len(merge.conflicts)
            effect = f"{counted(conflicts, 'conflict')} to decide" if conflicts else "no conflict"
            choices = [Choice("m", "Merge both summaries", effect, "append 1 branch summary below the leaf")]
        about = []
        for key, draft in message.grafts.items():
            title = f"Graft the turns of {key.upper()} onto the leaf"
            if isinstance(draft, str):
                choices.append(Choice(key, title, refused=draft))
                continue
            effect = (
                f"{count(draft.tokens)} tokens: {count(draft.tokens_before)} to {count(draft.tokens_after)}"
            )
            choices.append(
                Choice(
                    key,
                    title,
                    effect,
                    f"append {counted(len(draft.sources), 'entry', 'entries')}; files are not changed",
                )
            )
            about += [SheetLine(misfit.text, "warn") for misfit in draft.misfits[:3]]
            if len(draft.misfits) > 3:
                about.append(SheetLine(f"{len(draft.misfits) - 3:,} more things do not fit there", "warn"))

        def done(key: str | None) -> None:
            if key == "m" and not isinstance(merge, str):
                self._merge(merge)
            elif key is not None and not isinstance(draft := message.grafts[key], str):
                self._graft(draft, key.upper())

        self.app.push_screen(ChoiceSheet("Carry over", choices, about), done)

    def _graft(self, draft: GraftDraft, letter: str) -> None:
        from leafward.carrying import apply_graft

        def change(session: Session, writing: Writing) -> Write:
            return apply_graft(session, draft, writing)

        entries = counted(len(draft.sources), "entry", "entries")
        self.dismiss(Leaving(change=change, done=f"grafted {entries} of {letter}"))

    def _merge(self, draft: MergeDraft) -> None:
        from leafward.carrying import apply_merge
        from leafward_tui.screens.compare.merging import MergeSheet

        def done(text: str | None) -> None:
            if text is None:
                return

            def change(session: Session, writing: Writing) -> Write:
                return apply_merge(session, draft, text, writing)

            self.dismiss(Leaving(change=change, done="appended the merged summary"))

        self.app.push_screen(MergeSheet(draft), done)
