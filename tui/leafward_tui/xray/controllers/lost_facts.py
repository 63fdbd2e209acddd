"""Lost facts of a compaction, offered to be pinned; the undo of context edits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward_tui.ui.screen_results import XRayResult
from leafward_tui.ui.sheets.choice_sheet import LETTERS, Choice, ChoiceSheet
from leafward_tui.ui.sheets.sheet import SheetLine
from leafward_tui.xray.controllers.controller import XRayController, XRayMeans
from leafward_tui.xray.model.arrangement import Side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.summaries.fates.report import Fate


class LostFacts(XRayController):
    """Reads the state and writes none of it: its effects follow after the screen is closed."""

    def __init__(self, means: XRayMeans) -> None:
        super().__init__(means)
        self.actions = {
            "fact.pin": self.pin,
            "edits.undo": self.undo_edits,
        }

    def undo_edits(self) -> None:
        """Undoes the context edits, where they are the last operation."""
        loaded = self._state.loaded
        if loaded.xray is None or not loaded.xray.of_edits:
            self._view.about.say("only context edits are undone here; undo the compaction in the tree", "sub")
        elif not loaded.undo_op:
            self._view.about.say("other operations came later: undo a single one in the log")
        else:
            self._view.dismiss(XRayResult(undo=loaded.undo_op))

    def pin(self) -> None:
        """Offers the lost facts of the cursor's line, or the heaviest of all."""
        state, about, lines = self._state, self._view.about, self._view.lines
        xray, fates = state.loaded.xray, state.loaded.fates
        if xray is None:
            return
        if xray.of_edits:
            about.say("nothing is lost: the entries stay, and the edits can be undone", "sub")
            return
        if fates is None:
            planned = state.plan is not None and state.draft is None
            about.say("no summary yet: nothing is lost" if planned else "still counting what was lost", "sub")
            return
        piece = lines.piece
        entries = []
        if piece is not None and lines.side is Side.BEFORE:
            entries = [before.entry for row in piece.rows if (before := xray.rows[row].before) is not None]
        here = fates.lost_at(entries)
        offered = here or list(fates.lost)
        if offered:
            self._offer(offered, len(fates.lost), here=bool(here))
        else:
            about.say("no fact was lost", "leaf")

    def _offer(self, offered: Sequence[Fate], lost: int, *, here: bool) -> None:
        shown = list(offered[: max(3, min(len(LETTERS), self._view.sheet_rows))])
        operation = "opens the lab with the compaction corrected by it; nothing is written yet"
        if self._state.plan is not None:
            operation = "pins it into the planned compaction"
        choices = [
            Choice(
                letter,
                safe_line(fate.fact.text, 200),
                f"{fate.fact.kind}  #{fate.fact.entry:,}",
                operation,
                act=partial(self._pin, [fate]),
            )
            for letter, fate in zip(LETTERS, shown, strict=False)
        ]
        if len(shown) > 1:
            pin = partial(self._pin, shown)
            choices.append(Choice("A", f"All {len(shown)} of these", "", operation, act=pin))
        where = "Lost from here" if here else "Lost, the heaviest first"
        about = [SheetLine(f"{counted(len(shown), 'fact')} of {lost:,} that were lost")]
        self._view.open_sheet(ChoiceSheet("Pin", choices, about, note=where))

    def _pin(self, fates: Sequence[Fate]) -> None:
        from leafward.compaction.draft.gate import pin_text

        pins = tuple(dict.fromkeys(pin_text(fate.fact) for fate in fates))
        self._view.dismiss(XRayResult(pins=pins, compaction=self._state.compaction))
