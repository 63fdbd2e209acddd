"""Carrying over from one branch to the other: the append is drafted and shown before anything is written.

Summaries are merged, all or single turns of a side grafted, and single facts pinned.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Cancelled, LeafwardError
from leafward.base.figures import counted
from leafward.session.entries import EntryIndex
from leafward_tui.compare.controllers.controller import CompareController, CompareMeans
from leafward_tui.compare.graft_choice import graft_draft
from leafward_tui.compare.model.carried_summary import lacking, pinnable
from leafward_tui.ui.screen_results import CompareResult
from leafward_tui.ui.text.cells import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leafward.base.config import Config
    from leafward.branches.diff.sides import Sides
    from leafward.branches.transfer.graft import GraftDraft
    from leafward.branches.transfer.summary_merge import MergeDraft
    from leafward.session.journal.write import Write, Writing
    from leafward.session.session import Session
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.jobs import Job
    from leafward_tui.ui.sheets.choice_sheet import Choice
    from leafward_tui.ui.sheets.sheet import SheetLine

_SINGLE = {"c": "a", "d": "b"}
"""Keys by which single turns of a side are chosen."""
_APPENDED = "append 1 branch summary below the leaf"


def _merge_choice(merge: MergeDraft | str, act: Callable[[MergeDraft], object]) -> Choice:
    from leafward_tui.ui.sheets.choice_sheet import Choice

    if isinstance(merge, str):
        return Choice("m", "Merge both summaries", refused=merge)
    conflicts = len(merge.conflicts)
    effect = f"{counted(conflicts, 'conflict')} to decide" if conflicts else "no conflict"
    return Choice("m", "Merge both summaries", effect, _APPENDED, act=partial(act, merge))


def _graft_choice(
    letter: str, draft: GraftDraft | str, glyphs: Glyphs, act: Callable[[GraftDraft, str], object]
) -> Choice:
    from leafward_tui.ui.sheets.choice_sheet import Choice

    title = f"Graft the turns of {letter.upper()} onto the leaf"
    if isinstance(draft, str):
        return Choice(letter, title, refused=draft)
    return Choice(
        letter,
        title,
        f"adds ~{count(draft.tokens)} tokens: {count(draft.tokens_before)} {glyphs.arrow} ~{count(draft.tokens_after)}",
        f"append {counted(len(draft.sources), 'entry', 'entries')}; files are not changed",
        act=partial(act, draft, letter.upper()),
    )


def _misfits(letter: str, draft: GraftDraft | str) -> list[SheetLine]:
    """Remarks on turns of a side that do not fit their destination; a merge does not depend on them."""
    from leafward_tui.ui.sheets.sheet import SheetLine

    if isinstance(draft, str):
        return []
    remarks = [misfit.text for misfit in draft.misfits[:3]]
    if (more := len(draft.misfits) - 3) > 0:
        remarks.append(f"{more:,} more")
    return [SheetLine(f"graft of {letter.upper()}: {text}", "warn") for text in remarks]


class Transfer(CompareController):
    """Reads the state and writes none of it: the explorer appends the result that this screen closes with."""

    def __init__(self, means: CompareMeans) -> None:
        super().__init__(means)
        self.actions = {
            "carry.open": self.ask,
            "difference.pin": self.ask_facts,
        }

    def _refused(self) -> bool:
        if self._view.refusal:
            self._view.tell(self._view.refusal, "warn")
        return bool(self._view.refusal)

    # --- turns and summaries ------------------------------------------------------------------------------------------

    def ask(self) -> None:
        """Drafts all ways to carry over, then asks."""
        seen = self._state.read.overall
        if seen is None or self._refused():
            return
        self._view.tell("working out what could be carried over", "faint")
        self._jobs.latest(
            "carry",
            partial(carry_drafts, seen.sides, self._services.config),
            partial(self._drafted, seen.sides),
            lambda text: self._view.tell(text, "bad"),
        )

    def _drafted(self, sides: Sides, drafts: CarryDrafts) -> None:
        """Asks what to carry over; each choice shows its append."""
        from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet

        self._view.tell("")
        if not self._view.on_top:
            return
        merge, grafts = drafts
        if self._on_path(sides, "a") and self._on_path(sides, "b"):
            merge = "both are on the path already"
        choices, glyphs = [_merge_choice(merge, self._merge)], self._services.glyphs
        for letter, draft in grafts.items():
            why = f"{self._on_path(sides, letter)}: choose turns of another branch"
            refused = isinstance(draft, str) and self._on_path(sides, letter)
            choices.append(_graft_choice(letter, why if refused else draft, glyphs, self._graft))
        choices += [self._single(sides, key, grafts[letter]) for key, letter in _SINGLE.items()]
        about = [line for letter, draft in grafts.items() for line in _misfits(letter, draft)]
        self._view.open_sheet(ChoiceSheet("Carry over", choices, about))

    def _single(self, sides: Sides, key: str, draft: GraftDraft | str) -> Choice:
        """The choice of single turns of a side."""
        from leafward_tui.ui.sheets.choice_sheet import Choice

        letter = _SINGLE[key]
        # A branch that does not fit as a whole may fit in part; one on the path already never does.
        return Choice(
            key,
            f"Choose turns of {letter.upper()} to graft",
            f"opens the list of {letter.upper()}'s turns",
            "nothing is written yet",
            self._on_path(sides, letter) if isinstance(draft, str) else "",
            act=partial(self._choose_turns, sides, letter),
        )

    def _on_path(self, sides: Sides, letter: str) -> str:
        """The message that a side is on the path to the leaf; empty where it is not."""
        side, session = sides.a if letter == "a" else sides.b, self._state.session
        return (
            f"{letter.upper()} is on the path already"
            if session.tree.is_ancestor(side.entry, session.leaf)
            else ""
        )

    def _choose_turns(self, sides: Sides, letter: str) -> None:
        from leafward_tui.compare.graft_sheet import GraftSheet

        side = sides.a if letter == "a" else sides.b
        entries = [EntryIndex(at) for at in side.entries]
        sheet = GraftSheet(self._state.session, entries, letter.upper())

        def done(what: str | None) -> None:
            if what is not None and sheet.choice.ready is not None:
                self._graft(sheet.choice.ready, letter.upper())

        self._view.open_sheet(sheet, done)

    def _graft(self, draft: GraftDraft, letter: str) -> None:
        from leafward.branches.transfer.graft import apply_graft

        def change(session: Session, writing: Writing) -> Write:
            return apply_graft(session, draft, writing)

        entries = counted(len(draft.sources), "entry", "entries")
        self._view.dismiss(CompareResult(change=change, done=f"grafted {entries} of {letter}"))

    def _merge(self, draft: MergeDraft) -> None:
        from leafward_tui.compare.merge_sheet import MergeSheet

        def done(text: str | None) -> None:
            if text is not None:
                self._append(draft, text, "appended the merged summary")

        self._view.open_sheet(MergeSheet(draft), done)

    def _append(self, draft: MergeDraft, text: str, done: str) -> None:
        """Closes with a branch summary to be appended."""
        from leafward.branches.transfer.summary_merge import apply_merge

        def change(session: Session, writing: Writing) -> Write:
            return apply_merge(session, draft, text, writing)

        self._view.dismiss(CompareResult(change=change, done=done))

    # --- facts --------------------------------------------------------------------------------------------------------

    def ask_facts(self) -> None:
        """Offers facts that the other branch lacks, to be pinned below the leaf."""
        from leafward_tui.ui.sheets.choice_sheet import LETTERS, Choice, ChoiceSheet
        from leafward_tui.ui.sheets.sheet import SheetLine

        read = self._state.read
        seen = read.overall
        if seen is None or self._refused():
            return
        facts = pinnable(read.carried, read.summaries, seen.named)
        if not facts:
            working = read.carried is None or read.summaries is None
            self._view.tell("still looking for facts" if working else "no fact is missing", "sub")
            return
        shown = facts[: max(3, min(len(LETTERS), self._view.size.height - 10))]
        pin = partial(self._pin, seen.sides)
        choices = [
            Choice(letter, fact, "", _APPENDED, act=partial(pin, [fact]))
            for letter, fact in zip(LETTERS, shown, strict=False)
        ]
        if len(shown) > 1:
            choices.append(Choice("A", f"All {len(shown)} of these", "", _APPENDED, act=partial(pin, shown)))
        some = f"{len(shown):,} of " if len(shown) < len(facts) else ""
        caption = f"{some}{counted(len(facts), 'fact')} {lacking(read.carried, seen.named)}"

        self._view.open_sheet(ChoiceSheet("Pin", choices, [SheetLine(caption)]))

    def _pin(self, sides: Sides, facts: Sequence[str]) -> None:
        self._view.tell("looking up the sentences to pin")
        self._jobs.latest(
            "carry",
            partial(pins_draft, sides, facts),
            lambda draft: self._append(draft, draft.text({}), f"pinned {counted(len(facts), 'fact')}"),
            lambda text: self._view.tell(text, "bad"),
        )


class CarryDrafts(NamedTuple):
    """The possible ways to carry over; a refused one is the reason as text."""

    merge: MergeDraft | str
    grafts: Mapping[str, GraftDraft | str]
    """The grafts by the letter of their side, in lower case."""


# --- carrying over ----------------------------------------------------------------------------------------------------


def carry_drafts(both: Sides, config: Config, job: Job) -> CarryDrafts:
    """The possible ways to carry over to the leaf. Raises Cancelled."""
    from leafward.branches.transfer.summary_merge import draft_merge

    merge: MergeDraft | str
    try:
        merge = draft_merge(both, stop=job.unwanted)
    except Cancelled:
        raise
    except (LeafwardError, OSError) as error:
        merge = str(error)
    grafts: dict[str, GraftDraft | str] = {}
    for letter, side in (("a", both.a), ("b", both.b)):
        try:
            grafts[letter] = graft_draft(both.session, side.entries, config, job)
        except Cancelled:
            raise
        except (LeafwardError, OSError) as error:
            grafts[letter] = str(error)
    return CarryDrafts(merge, grafts)


def pins_draft(sides: Sides, facts: Sequence[str], job: Job) -> MergeDraft:
    """A branch summary of some facts. Raises Refused, Cancelled, OSError."""
    from leafward.branches.transfer.fact_pins import draft_pins

    return draft_pins(sides, facts, job.unwanted)
