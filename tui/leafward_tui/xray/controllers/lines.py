"""The lines of the X-ray: folds and filter, the cursor among them, and the text about its line."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe
from leafward.compaction.xray.alignment import Link
from leafward_tui.ui.screen_results import XRayResult
from leafward_tui.xray.controllers.controller import XRayController, XRayMeans
from leafward_tui.xray.model.about import about
from leafward_tui.xray.model.arrangement import Arrangement, Side
from leafward_tui.xray.model.captions import LINK_WORD

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from leafward.compaction.xray.alignment import XRay
    from leafward_tui.xray.model.arrangement import Piece


class Lines(XRayController):
    """Owns `state.folds`."""

    def __init__(self, means: XRayMeans) -> None:
        super().__init__(means)
        self.rearranged: Callable[[], object] = lambda: None
        """Called when the lines were laid out again."""
        self.actions = {
            "pane.next": self.turn,
            "pane.previous": self.turn,
            "source.go": self.go_to_source,
            "kept.fold": self.fold,
            "only.kept": partial(self.show_only, Link.KEPT),
            "only.replaced": partial(self.show_only, Link.REPLACED),
            "only.prefix": partial(self.show_only, Link.PREFIX),
            "only.injected": partial(self.show_only, Link.INJECTED),
            "only.cut": partial(self.show_only, Link.CUT),
            "copy.text": self.copy,
            "summaries.compare": self.compare,
            "session.reload": lambda: self._view.dismiss(XRayResult(reload=True)),
        }

    # --- layout -------------------------------------------------------------------------------------------------------

    def arrangement(self, xray: XRay) -> Arrangement:
        """The lines under the present folds."""
        folds = self._state.folds
        return Arrangement(xray, folds.opened, folds.only, fold_kept=folds.kept)

    def show_first(self) -> None:
        """Shows the lines for the first time, with the cursor on the first line of the summary or the first edit."""
        loaded = self._state.loaded
        if loaded.xray is None or loaded.teller is None:
            return
        arrangement = self.arrangement(loaded.xray)
        side = Side.BEFORE if loaded.xray.of_edits else Side.AFTER
        first = arrangement.change(side, -1, 1) if len(arrangement) else 0
        self._view.lines.show(arrangement, loaded.teller, max(0, first), side)

    def rearrange(self) -> None:
        """Lays the lines out again, with the cursor on the same row."""
        loaded, lines = self._state.loaded, self._view.lines
        if loaded.xray is None or loaded.teller is None:
            return
        piece, side = lines.piece, lines.side
        arrangement = self.arrangement(loaded.xray)
        at = arrangement.line_of(side, piece.rows[0]) if piece is not None else -1
        if at < 0:
            at = min(max(0, lines.cursor), max(0, len(arrangement) - 1))
        lines.show(arrangement, loaded.teller, at, side)
        self.rearranged()

    def open_folds(self, opened: frozenset[str]) -> None:
        """Opens just these folds."""
        self._state.folds.opened = opened

    # --- keys ---------------------------------------------------------------------------------------------------------

    def turn(self) -> None:
        """Goes to the other side: to a line that belongs to the cursor's, else to the same height."""
        lines = self._view.lines
        if lines.arrangement is not None:
            lit = sorted(lines.lit)
            lines.turn(lines.side.other, lit[0] if lit else lines.cursor)

    def change(self, direction: int) -> None:
        """Goes to the next band of rows that are not simply kept, or to the one before."""
        lines = self._view.lines
        if lines.arrangement is None:
            return
        at = lines.arrangement.change(lines.side, lines.cursor, direction)
        if at == lines.cursor:
            self._view.about.say("no other change " + ("below" if direction > 0 else "above"), "sub")
        elif lines.arrangement.stops(lines.side, at):
            lines.move_to(at)
        else:
            lines.turn(lines.side.other, at)

    def go_to_source(self) -> None:
        """Opens a fold; else goes to the entry of the line, or to the source of a line of the summary."""
        lines, xray = self._view.lines, self._state.loaded.xray
        piece = lines.piece
        if xray is None or piece is None or lines.line is None:
            return
        if piece.fold:
            self.open_folds(self._state.folds.opened ^ {piece.fold})
            self.rearrange()
        elif lines.side is Side.AFTER and piece.cell.line >= 0:
            if not xray.origins.known(piece.cell.line):
                self._view.about.say("still looking for the source of this", "sub")
                return
            source = xray.source(piece.rows[0])
            if source is None:
                self._view.about.say("no source found for this")
                return
            self._view.dismiss(XRayResult(entry=source.entry))
        elif piece.cell.entry >= 0:
            self._view.dismiss(XRayResult(entry=piece.cell.entry))

    def fold(self) -> None:
        """Opens or closes the fold here; elsewhere folds all kept rows, or shows them."""
        piece, folds = self._view.lines.piece, self._state.folds
        if piece is not None and (key := piece.fold or piece.inside):
            self.open_folds(folds.opened ^ {key})
        else:
            folds.kept = not folds.kept
        self.rearrange()

    def show_only(self, link: Link) -> None:
        """Shows one kind of rows, or everything again."""
        xray, folds = self._state.loaded.xray, self._state.folds
        if xray is None:
            return
        if folds.only is not link and not any(band.link is link for band in xray.bands):
            text = "no turn is split here" if link is Link.PREFIX else f"nothing is {LINK_WORD[link]} here"
            self._view.about.say(text, "sub")
            return
        folds.only = None if folds.only is link else link
        self.rearrange()
        lines = self._view.lines
        if folds.only is not None and lines.arrangement is not None:
            band = next(at for at, band in enumerate(xray.bands) if band.link is link)
            at = lines.arrangement.spans[band].start
            lines.turn(lines.side if lines.arrangement.stops(lines.side, at) else lines.side.other, at)

    def copy(self) -> None:
        """Copies the line under the cursor, or all of a summary from its head."""
        lines, loaded = self._view.lines, self._state.loaded
        line, piece, xray = lines.line, lines.piece, loaded.xray
        if loaded.teller is None or line is None or piece is None or line.link is None:
            return
        if xray is not None and lines.side is Side.AFTER and piece.cell.line >= 0:
            self._services.copy(safe(xray.lines[piece.cell.line].text))
        else:
            self._services.copy(safe(loaded.teller.piece(piece, line.link).text))

    def compare(self) -> None:
        """Compares the summary with the one before it."""
        from leafward_tui.xray.summaries import SummariesScreen
        from leafward_tui.xray.summary_pair import other_summaries

        state, xray = self._state, self._state.loaded.xray
        if xray is None:
            return
        if state.plan is not None and state.draft is None:  # all of it would seem to be lost
            self._view.about.say("the summary to compare is not written yet", "sub")
            return
        if not xray.summary.strip():
            self._view.about.say("there is no summary to compare", "sub")
            return
        if not other_summaries(state.session, state.compaction, xray.before_at):
            self._view.about.say("this session has no other summary to compare with", "sub")
            return

        def shown(entry: int | None) -> None:
            if entry is not None:
                self._view.dismiss(XRayResult(entry=entry))

        screen = SummariesScreen(state.session, state.compaction, xray.before_at, xray.summary)
        self._view.open_sheet(screen, shown)

    # --- the cursor's line --------------------------------------------------------------------------------------------

    def show_about(self) -> None:
        """Shows the text about the line under the cursor, and lights the lines that belong to it."""
        lines, loaded = self._view.lines, self._state.loaded
        line, piece = lines.line, lines.piece
        if loaded.teller is None or line is None:
            return
        if line.hidden:
            self._view.about.show(
                [[(f"{line.hidden:,} rows are hidden", "text")], [("the same key again shows them", "faint")]]
            )
            lines.light(frozenset())
            return
        self._view.about.show(about(loaded.teller, piece, lines.side, line.link, loaded.fates))
        lines.light(self._lit(piece))

    def _lit(self, piece: Piece | None) -> frozenset[int]:
        """The lines across that belong to the cursor's."""
        loaded, lines = self._state.loaded, self._view.lines
        xray, arrangement = loaded.xray, lines.arrangement
        if xray is None or arrangement is None or piece is None:
            return frozenset()
        if lines.side is Side.AFTER:
            if piece.cell.line < 0 or not xray.origins.known(piece.cell.line):
                return frozenset()
            entries = {source.entry for source in xray.sources(piece.rows[0])[:3]}
            rows = [row for entry in entries for row in loaded.rows_of.get(entry, ())]
            return arrangement.lines_of(Side.BEFORE, rows)
        entries = {before.entry for row in piece.rows if (before := xray.rows[row].before) is not None}
        return arrangement.lines_of(Side.AFTER, self._summary_rows(xray, entries))

    def _summary_rows(self, xray: XRay, entries: Collection[int]) -> list[int]:
        """The rows of the summary whose first three sources include one of some entries."""
        found = []
        for row in self._state.loaded.line_rows:
            after = xray.rows[row].after
            if after is None or not xray.origins.known(after.line):
                continue
            if any(source.entry in entries for source in xray.sources(row)[:3]):
                found.append(row)
        return found
