"""Branches held against each other, from the explorer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.explorer.compacted import COMPARE, Compacted
from leafward_tui.explorer.model.folds import LineKind

if TYPE_CHECKING:
    from leafward.session.session import Session
    from leafward_tui.compare import Leaving


class Comparing(Compacted):
    """Actions that open the Compare screen."""

    def action_compare_open(self) -> None:
        """Compares the row of the cursor with the mark; without a mark, with the leaf."""
        exploration, line = self.exploration, self.graph.line
        if exploration is None or line is None or line.kind is LineKind.HIDDEN:
            self.tell("" if self.bare else "these rows are hidden: go to one that is shown", "warn")
            return
        here = exploration.target(line)
        mark = exploration.mark
        other = self.end_of(mark) if mark >= 0 else exploration.session.place
        if here == other:
            what = "the mark" if mark >= 0 else "the leaf: mark another entry, or go to one"
            self.tell(f"this is {what}; there is nothing to compare it with", "warn")
            return
        self.open_compare(other, here)

    def end_of(self, entry: int) -> int:
        """The last entry of the row that an entry begins, as a move to it would take it."""
        exploration = self.exploration
        if exploration is None:
            return entry
        row = exploration.layout.row_of(entry)
        return exploration.layout.last_entry_of(row) if row >= 0 else entry

    def open_compare(self, a: int, b: int) -> None:
        """Shows two entries compared."""
        self.once_loaded(COMPARE, lambda: self._open_compare(a, b))

    def _open_compare(self, a: int, b: int) -> None:
        from leafward_tui.compare import CompareScreen

        session, exploration = self.session, self.exploration
        if session is None or exploration is None:
            return
        mark = self.end_of(exploration.mark) if exploration.mark >= 0 else -1
        self.app.push_screen(CompareScreen(session, a, b, mark=mark), self.compared)

    def compared(self, leaving: Leaving | None) -> None:
        """Goes on with what was wanted there."""
        session = self.session
        if leaving is None or session is None:
            return
        if leaving.change is not None:
            self.start_write(leaving.done, leaving.change)
        elif leaving.touching:
            self.choose_touching(self.generation, session, leaving.touching)
        elif leaving.entry >= 0:
            self.go_to_entry(leaving.entry)
            if not self.two_panes:
                self.show_tree()

    def choose_touching(self, run: int, session: Session, path: str) -> object:
        """Shows the rows that touch a file."""
        raise NotImplementedError
