"""Carrying over from one branch to the other: what would be appended is worked out and shown before anything is written.

Summaries are merged, turns grafted, all of a side or single ones, and single facts pinned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from textual import work
from textual.message import Message
from textual.worker import get_current_worker

from leafward.base.errors import Cancelled, LeafwardError
from leafward.session.entries import EntryIndex
from leafward_tui.compare.export import CompareExporting
from leafward_tui.compare.model.captions import pinnable
from leafward_tui.compare.values import Leaving
from leafward_tui.ui.cells import count, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.branches.diff.sides import Side, Sides
    from leafward.branches.transfer import GraftDraft, MergeDraft
    from leafward.session.journal import Write, Writing
    from leafward.session.session import Session
    from leafward_tui.compare.model.captions import Overall

__all__ = ["CompareCarrying"]

_SINGLE = {"c": "a", "d": "b"}
"""Keys by which single turns of a side are chosen."""
_PINNABLE = "abcdefghilmnoprstuvwxyz"
"""Letters of the sheet that offers facts; j, k and q are the sheet's own."""


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
        from leafward.branches.transfer import draft_graft, draft_merge
        from leafward.context.model_context import context_at, context_window

        worker = get_current_worker()
        session = sides.session
        window = context_window(session, context_at(session), self.shell.config).tokens

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
        from leafward_tui.ui.sheet import Choice, ChoiceSheet, SheetLine

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
                more = len(draft.misfits) - 3
                told = f"{counted(more, 'more thing')} {'does' if more == 1 else 'do'} not fit there"
                about.append(SheetLine(told, "warn"))

        for key, letter in _SINGLE.items():
            draft = message.grafts[letter]
            # What does not fit as a whole may fit in part; what is on the path already never does.
            on_path = self.session.tree.is_ancestor(self._side(letter).node, self.session.leaf)
            refused = f"{letter.upper()} is on the path already" if on_path and isinstance(draft, str) else ""
            choices.append(
                Choice(
                    key,
                    f"Choose turns of {letter.upper()} to graft",
                    "what fits is said with each choice",
                    "nothing is written yet",
                    refused,
                )
            )

        def done(key: str | None) -> None:
            if key == "m" and not isinstance(merge, str):
                self._merge(merge)
            elif key in _SINGLE:
                self._choose_turns(_SINGLE[key])
            elif key is not None and not isinstance(draft := message.grafts[key], str):
                self._graft(draft, key.upper())

        self.app.push_screen(ChoiceSheet("Carry over", choices, about), done)

    def _side(self, letter: str) -> Side:
        sides = cast("Overall", self.overall).sides
        return sides.a if letter == "a" else sides.b

    def _choose_turns(self, letter: str) -> None:
        from leafward_tui.compare.graft import GraftSheet

        entries = [EntryIndex(at) for at in self._side(letter).entries]
        sheet = GraftSheet(self.session, entries, letter.upper())

        def done(what: str | None) -> None:
            if what is not None and sheet.ready is not None:
                self._graft(sheet.ready, letter.upper())

        self.app.push_screen(sheet, done)

    def action_difference_pin(self) -> None:
        """Offers facts that the other branch lacks, to be pinned below the leaf."""
        from leafward_tui.ui.sheet import Choice, ChoiceSheet, SheetLine

        seen = self.overall
        if seen is None:
            return
        if self.refusal:
            self.tell(self.refusal, "warn")
            return
        facts = pinnable(self.carried, self.summaries, seen.named)
        if not facts:
            working = self.carried is None or self.summaries is None
            self.tell("still looking for facts" if working else "no fact is missing", "sub")
            return
        shown = facts[: max(3, min(len(_PINNABLE), self.app.size.height - 10))]
        operation = "append 1 branch summary below the leaf"
        choices = [
            Choice(letter, fact, "", operation) for letter, fact in zip(_PINNABLE, shown, strict=False)
        ]
        if len(shown) > 1:
            choices.append(Choice("A", f"All {len(shown)} of these", "", operation))
        about = [
            SheetLine(
                f"{len(shown):,} of {counted(len(facts), 'fact')} that one branch has and the other lacks"
            )
        ]

        def done(key: str | None) -> None:
            if key is not None:
                self._pin(seen.sides, shown if key == "A" else (shown[_PINNABLE.index(key)],))

        self.app.push_screen(ChoiceSheet("Pin", choices, about), done)

    def _pin(self, sides: Sides, facts: Sequence[str]) -> None:
        from leafward.branches.transfer import apply_merge, draft_pins

        try:
            draft = draft_pins(sides, facts)
        except LeafwardError as error:
            self.tell(str(error), "bad")
            return
        text = draft.text({})

        def change(session: Session, writing: Writing) -> Write:
            return apply_merge(session, draft, text, writing)

        self.dismiss(Leaving(change=change, done=f"pinned {counted(len(facts), 'fact')}"))

    def _graft(self, draft: GraftDraft, letter: str) -> None:
        from leafward.branches.transfer import apply_graft

        def change(session: Session, writing: Writing) -> Write:
            return apply_graft(session, draft, writing)

        entries = counted(len(draft.sources), "entry", "entries")
        self.dismiss(Leaving(change=change, done=f"grafted {entries} of {letter}"))

    def _merge(self, draft: MergeDraft) -> None:
        from leafward.branches.transfer import apply_merge
        from leafward_tui.compare.summary_merge import MergeSheet

        def done(text: str | None) -> None:
            if text is None:
                return

            def change(session: Session, writing: Writing) -> Write:
                return apply_merge(session, draft, text, writing)

            self.dismiss(Leaving(change=change, done="appended the merged summary"))

        self.app.push_screen(MergeSheet(draft), done)
