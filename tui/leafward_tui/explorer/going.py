"""Going about in the tree: rows, parents, branches, branch points, marks, jump letters, folds and densities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.explorer.model.graph import Density
from leafward_tui.ui.row_keys import RowKeys

if TYPE_CHECKING:
    from leafward_tui.explorer.parts import ExplorerParts
else:
    # What the screen can do lies in plain classes, which it joins with its parts: Textual takes a quarter of a millisecond
    # for each class of its own, all of them before the first frame.
    ExplorerParts = object


class Going(RowKeys, ExplorerParts):
    """Actions that change where the cursor is or what is folded; nothing here writes."""

    @property
    def in_tree(self) -> bool:
        """Whether keys go to the tree."""
        return self.graph.has_focus

    # --- rows ---------------------------------------------------------------------------------------------------------

    def step_rows(self, by: int) -> None:
        """Moves the cursor."""
        self.graph.move_by(by)

    def rows_seen(self) -> int:
        """Rows on the screen."""
        return self.graph.size.height // self.graph.line_height

    # --- along the tree -----------------------------------------------------------------------------------------------

    def go_to_row(self, row: int) -> None:
        """Puts the cursor on a row, unfolding what hides it."""
        exploration = self.exploration
        if exploration is None or row < 0:
            return
        if exploration.hidden(row):
            exploration.reveal(row)
            self.show_lines(self.graph.row)
        self.graph.move_to_row(row)

    def go_to_entry(self, entry: int) -> None:
        """Puts the cursor on the row of an entry."""
        if self.exploration is not None:
            self.go_to_row(self.exploration.layout.row_of(entry))

    def _go(self, name: str, *arguments: int) -> None:
        if self.exploration is not None and self.graph.row >= 0:
            self.go_to_row(getattr(self.exploration, name)(self.graph.row, *arguments))

    def action_entry_child(self) -> None:
        """The next row of the same branch."""
        self._go("child")

    def action_entry_parent(self) -> None:
        """The row this one follows, also across a branch point."""
        self._go("parent")

    def action_branch_next(self) -> None:
        """The same depth on the next branch."""
        self._go("sibling", 1)

    def action_branch_previous(self) -> None:
        """The same depth on the previous branch."""
        self._go("sibling", -1)

    def action_point_next(self) -> None:
        """The branch point below."""
        self._go("branch_point", 1)

    def action_point_previous(self) -> None:
        """The branch point above."""
        self._go("branch_point", -1)

    def action_leaf_go(self) -> None:
        """The leaf."""
        if self.exploration is not None:
            self.go_to_entry(self.exploration.layout.leaf)

    def action_mark_set(self) -> None:
        """Marks the entry under the cursor, or takes the mark away."""
        exploration = self.exploration
        if exploration is None or self.graph.row < 0:
            return
        entry = exploration.layout.head[self.graph.row]
        exploration.mark = -1 if exploration.mark == entry else entry
        self.graph.set_mark(self.graph.row if exploration.mark >= 0 else -1)

    def action_mark_go(self) -> None:
        """The mark."""
        if self.exploration is not None and self.exploration.mark >= 0:
            self.go_to_entry(self.exploration.mark)

    def action_jump_labels(self) -> None:
        """Letters on every row; the ones typed next go there."""
        self.graph.focus()
        self.graph.start_jump()

    # --- folds and densities ------------------------------------------------------------------------------------------

    def action_fold_toggle(self) -> None:
        """Folds or unfolds where the cursor is."""
        line = self.graph.line
        if self.exploration is not None and line is not None:
            self.show_lines(self.exploration.toggle_fold(line))

    def action_fold_all(self) -> None:
        """Unfolds everything, or folds everything."""
        if self.exploration is not None:
            self.exploration.fold_everything()
            self.show_lines(self.graph.row)

    def action_density_next(self) -> None:
        """Turns, entries, comfortable; the cursor stays on its entry."""
        exploration = self.exploration
        if exploration is None:
            return
        order = list(Density)
        self.relay(density=order[(order.index(exploration.density) + 1) % len(order)])
