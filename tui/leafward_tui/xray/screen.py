"""The X-ray: what the model saw before a compaction beside what it sees after it, with a ledger that adds up."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from leafward.base.safe_text import safe, safe_line
from leafward.compaction.xray import Link
from leafward_tui.ui.cells import counted
from leafward_tui.ui.intents import bindings_for
from leafward_tui.ui.key_bar import Hint
from leafward_tui.ui.row_keys import RowKeys
from leafward_tui.ui.sheet import Choice, ChoiceSheet, SheetLine
from leafward_tui.xray.model.arrangement import Side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.binding import BindingType

    from leafward.summaries.survival import Fate

from leafward_tui.xray.parts import Leaving, XRayParts

__all__ = ["XRayScreen"]

_PINNABLE = "abcdefghilmnoprstuvwxyz"
"""Letters of the sheet that offers lost facts; j, k and q are the sheet's own."""


class XRayScreen(RowKeys, XRayParts):
    """One compaction, before beside after. Ends with what is wanted next, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("xray")]

    # --- going about --------------------------------------------------------------------------------------------------

    def step_rows(self, by: int) -> None:
        """Moves the cursor."""
        self.view.move_by(by)

    def rows_seen(self) -> int:
        """Lines on the screen."""
        return self.view.size.height

    def action_pane_next(self) -> None:
        """The other side: at what the line comes from or led to, else at the same height."""
        view = self.view
        if view.arrangement is None:
            return
        lit = sorted(view.lit)
        view.turn(view.side.other, lit[0] if lit else view.cursor)

    def action_pane_previous(self) -> None:
        """The other side."""
        self.action_pane_next()

    def _change(self, direction: int) -> None:
        view = self.view
        if view.arrangement is None or (self.searched and self.step_hit(direction)):
            return
        at = view.arrangement.change(view.side, view.cursor, direction)
        if at == view.cursor:
            self.about.say("no other change " + ("below" if direction > 0 else "above"), "sub")
        elif view.arrangement.stops(view.side, at):
            view.move_to(at)
        else:
            view.turn(view.side.other, at)

    def action_change_next(self) -> None:
        """The next hit; while nothing is searched, the next band of what did not simply stay."""
        self._change(1)

    def action_change_previous(self) -> None:
        """The hit before; while nothing is searched, the band before."""
        self._change(-1)

    def action_source_go(self) -> None:
        """Opens a fold; else goes to the entry of the line, or to the source of a line of the summary."""
        piece, line = self.view.piece, self.view.line
        xray = self.xray
        if xray is None or piece is None or line is None:
            return
        if piece.fold:
            self.opened ^= {piece.fold}
            self.rearrange()
            return
        if self.view.side is Side.AFTER and piece.cell.line >= 0:
            if not xray.origins.known(piece.cell.line):
                self.about.say("still looking for where this comes from", "sub")
                return
            source = xray.source(piece.rows[0])
            if source is None:
                self.about.say("nothing was found that this comes from")
                return
            self.dismiss(Leaving(entry=source.entry))
            return
        if piece.cell.entry >= 0:
            self.dismiss(Leaving(entry=piece.cell.entry))

    def action_kept_fold(self) -> None:
        """Opens or closes the fold here; elsewhere folds everything that is kept, or shows it."""
        piece = self.view.piece
        if piece is not None and (key := piece.fold or piece.inside):
            self.opened ^= {key}
        else:
            self.fold_kept = not self.fold_kept
        self.rearrange()

    def _show_only(self, link: Link) -> None:
        if self.xray is None:
            return
        if self.only is not link and not any(band.link is link for band in self.xray.bands):
            self.about.say(f"nothing is {link.value} here", "sub")
            return
        self.only = None if self.only is link else link
        self.rearrange()
        view = self.view
        if self.only is not None and view.arrangement is not None:
            band = next(at for at, band in enumerate(self.xray.bands) if band.link is link)
            at = view.arrangement.spans[band].start
            side = view.side if view.arrangement.stops(view.side, at) else view.side.other
            view.turn(side, at)

    def action_only_kept(self) -> None:
        """Only what stays, or everything again."""
        self._show_only(Link.KEPT)

    def action_only_replaced(self) -> None:
        """Only what is summarised, or everything again."""
        self._show_only(Link.REPLACED)

    def action_only_prefix(self) -> None:
        """Only the beginning of the split turn, or everything again."""
        self._show_only(Link.PREFIX)

    def action_only_injected(self) -> None:
        """Only what is injected, or everything again."""
        self._show_only(Link.INJECTED)

    def action_only_cut(self) -> None:
        """Only what is cut, or everything again."""
        self._show_only(Link.CUT)

    # --- pins ---------------------------------------------------------------------------------------------------------

    def action_edits_undo(self) -> None:
        """Takes the context edits back, where they are the last operation."""
        if self.xray is None or not self.xray.of_edits:
            self.about.say("only context edits are undone here; a compaction by u in the tree", "sub")
        elif not self.undo_op:
            self.about.say("other operations came later: the log of the tree takes back a single one")
        else:
            self.dismiss(Leaving(undo=self.undo_op))

    def action_fact_pin(self) -> None:
        """Offers the lost facts of what is under the cursor, or the heaviest of all, to be pinned."""
        xray, fates = self.xray, self.fates
        if xray is None:
            return
        if xray.of_edits:
            self.about.say("nothing is lost: the entries stay, and the edits can be undone", "sub")
            return
        if fates is None:
            planned = self.plan is not None and self.draft is None
            self.about.say(
                "no summary yet: nothing is lost" if planned else "still counting what was lost", "sub"
            )
            return
        piece = self.view.piece
        entries = []
        if piece is not None and self.view.side is Side.BEFORE:
            entries = [before.entry for row in piece.rows if (before := xray.rows[row].before) is not None]
        here = fates.lost_at(entries)
        offered = here or list(fates.lost)
        if not offered:
            self.about.say("no fact was lost", "leaf")
            return
        self._offer(offered, len(fates.lost), here=bool(here))

    def _offer(self, offered: Sequence[Fate], lost: int, *, here: bool) -> None:
        room = max(3, min(len(_PINNABLE), self.app.size.height - 10))
        shown = list(offered[:room])
        operation = "pins it into a corrected compaction at the same parent; nothing is written yet"
        if self.plan is not None:
            operation = "pins it into the planned compaction"
        choices = [
            Choice(
                letter, safe_line(fate.fact.text, 200), f"{fate.fact.kind}  #{fate.fact.entry:,}", operation
            )
            for letter, fate in zip(_PINNABLE, shown, strict=False)
        ]
        if len(shown) > 1:
            choices.append(Choice("A", f"All {len(shown)} of these", "", operation))
        where = "Lost from here" if here else "Lost, the heaviest first"
        about = [SheetLine(f"{counted(len(shown), 'fact')} of {lost:,} that were lost")]

        def chosen(key: str | None) -> None:
            if key is None:
                return
            picked = shown if key == "A" else [shown[_PINNABLE.index(key)]]
            pins = tuple(dict.fromkeys(safe_line(fate.fact.text, 400) for fate in picked))
            self.dismiss(Leaving(pins=pins, compaction=self.compaction))

        self.app.push_screen(ChoiceSheet("Pin", choices, about, note=where), chosen)

    # --- the rest -----------------------------------------------------------------------------------------------------

    def action_summaries_compare(self) -> None:
        """Compares the summary with the one before it."""
        from leafward_tui.xray.summaries import SummariesScreen

        xray = self.xray
        if xray is None:
            return
        if not xray.summary.strip():
            self.about.say("there is no summary to compare", "sub")
            return

        def done(entry: int | None) -> None:
            if entry is not None:
                self.dismiss(Leaving(entry=entry))

        self.app.push_screen(
            SummariesScreen(self.session, self.compaction, xray.before_at, xray.summary), done
        )

    def action_copy_text(self) -> None:
        """Copies the line under the cursor, or all of a summary from its head."""
        view, teller = self.view, self.teller
        if teller is None or view.line is None or view.piece is None or view.line.link is None:
            return
        cell = view.piece.cell
        xray = self.xray
        if xray is not None and view.side is Side.AFTER and cell.line >= 0:
            self.shell.copy(safe(xray.lines[cell.line].text))
            return
        self.shell.copy(safe(teller.piece(view.piece, view.line.link).text))

    def action_mode_leave(self) -> None:
        """Ends the search, then shows everything again; then back."""
        if self.only is not None and not self.searched:
            self._show_only(self.only)
        else:
            super().action_mode_leave()

    def _leaves(self) -> str:
        return "end search" if self.searched else "all again" if self.only is not None else "back"

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        if self.xray is None:
            return (Hint("app.back"),)
        piece = self.view.piece
        enter = "open fold" if piece is not None and piece.fold else "go to source"
        if piece is not None and piece.cell.line < 0 and not piece.fold:
            enter = "show entry"
        pin = (Hint("fact.pin"),) if self.fates is not None and self.fates.lost else ()
        return (
            Hint(("row.down", "row.up"), "line"),
            Hint("pane.next", "other side", "side"),
            Hint("source.go", enter, enter.rpartition(" ")[2]),
            Hint(
                ("change.next", "change.previous"),
                *(("hit",) if self.searched else ("next change", "change")),
            ),
            *pin,
            *((Hint("edits.undo"),) if self.undo_op else ()),
            Hint("mode.leave", self._leaves()),
            Hint("xray.find"),
            Hint("kept.fold", "fold kept", "fold"),
            Hint("summaries.compare", "diff"),
            Hint(("only.kept", "only.cut"), "only kept, replaced", "only"),
        )
