"""Stored compactions and the next one: X-ray and lab, and their results."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.session.entries import EntryIndex, Kind
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.ui.bars.price_line import KeyHint

if TYPE_CHECKING:
    from leafward_tui.explorer.controllers.followed_file import FollowedFile
    from leafward_tui.explorer.controllers.navigation import Navigation
    from leafward_tui.explorer.controllers.operations import Operations
    from leafward_tui.explorer.controllers.write import SessionWrite
    from leafward_tui.explorer.model.exploration import Exploration
    from leafward_tui.explorer.model.folds import ShownLine
    from leafward_tui.ui.screen_results import LabResult, XRayResult


class Compactions(ExplorerController):
    """Opens the X-ray and the lab."""

    def __init__(
        self,
        means: ExplorerMeans,
        followed: FollowedFile,
        navigation: Navigation,
        write: SessionWrite,
        operations: Operations,
    ) -> None:
        super().__init__(means)
        self._followed = followed
        self._navigation = navigation
        self._write = write
        self._operations = operations
        self.actions = {
            "xray.open": self._see_through,
            "lab.open": self._compact_here,
        }

    # --- X-ray --------------------------------------------------------------------------------------------------------

    def _see_through(self) -> None:
        """Shows the compaction here before and after; on a context edit, or without a compaction, the context edits."""
        exploration, line = self._state.exploration, self._view.tree.line
        if exploration is None or line is None or line.kind is LineKind.HIDDEN:
            compaction = edit = EntryIndex(-1)
        else:
            compaction = compaction_at(exploration, line)
            edit = edit_at(exploration, line, above=compaction < 0)
        if compaction < 0 and edit < 0:
            self._view.tell("nothing was compacted or edited on the path to here", "warn")
            return
        self.open_xray(edit if edit >= 0 else compaction)

    def open_xray(self, compaction: int) -> None:
        """Shows a compaction before and after."""
        session = self._state.session
        if session is not None:
            self._services.screens.xray(session, compaction, partial(self._go_on, compaction))

    def _go_on(self, compaction: int, result: XRayResult | None) -> None:
        """Acts on the result of the X-ray: an undo, a new compaction with pinned facts, an entry to go to, the same again."""
        if result is None:
            return
        if result.reload:
            self._followed.reread((compaction,), lambda found: self.open_xray(*found))
        elif result.undo:
            self._operations.undo(result.undo)
        elif result.pins:
            self.open_lab(result.compaction, result.pins)
        elif result.entry >= 0:
            self._navigation.show_entry(result.entry)

    # --- the lab ------------------------------------------------------------------------------------------------------

    def _compact_here(self) -> None:
        """Opens the compaction lab at the line of the cursor; on a compaction, beside it."""
        shown = self._navigation.shown_line()
        if shown is None:
            return
        exploration, line = shown
        head = exploration.layout.head[line.row]
        compaction = exploration.layout.tree.kind[head] == Kind.COMPACTION and line.kind is LineKind.ROW
        self.open_lab(head if compaction else exploration.target(line))

    def open_lab(self, entry: int, pins: tuple[str, ...] = ()) -> None:
        """Opens the compaction lab at an entry, or beside a compaction, with pins."""
        visit = None if self._write.waits_for_write() else self._followed.visit()
        if visit is None:
            return

        def done(result: LabResult | None) -> None:
            # A file of an old version was replaced by one of today's.
            if not self._followed.is_same(visit, partial(self._show_written, result)):
                return
            if result is None or result.write is None:
                self._followed.show_grown(visit)
            self._show_written(result)

        self._services.screens.lab(visit.session, entry, pins, done)

    def _show_written(self, result: LabResult | None) -> None:
        """Shows the compaction of the lab in the session on show, or the summary that it leaves."""
        if result is None or self._state.session is None:
            return
        if result.write is not None:
            self._write.show(self._state.session, result.write, result.outcome)
        else:
            label = self._services.keymap.label("lab.open")
            self._view.tell(result.outcome, keys=(KeyHint("lab.open", label, "shows it again"),))


def compaction_at(exploration: Exploration, line: ShownLine) -> EntryIndex:
    """The compaction of a line, or the one that applies there; -1 where there is none."""
    from leafward.context.projection import latest

    head = exploration.layout.head[line.row]
    if exploration.layout.tree.kind[head] == Kind.COMPACTION and line.kind is LineKind.ROW:
        return EntryIndex(head)
    return latest(exploration.session, exploration.target(line), frozenset({Kind.COMPACTION}))


def edit_at(exploration: Exploration, line: ShownLine, *, above: bool) -> EntryIndex:
    """The context edit of a line; with `above` also the last one on the path, even below the line.

    -1 where there is none.
    """
    from leafward.context.projection import latest

    if line.kind is LineKind.ROW:
        kinds = exploration.layout.tree.kind
        for span in exploration.layout.entries_of(line.row):
            found = kinds.rfind(Kind.CONTEXT_EDIT, span.start, span.stop)
            if found >= 0:
                return EntryIndex(found)
    if not above:
        return EntryIndex(-1)
    # An edit stands below the entries that it changes.
    session = exploration.session
    at = session.leaf if exploration.on_path(line) else exploration.target(line)
    return latest(session, at, frozenset({Kind.CONTEXT_EDIT}))
