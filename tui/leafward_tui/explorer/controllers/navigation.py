"""The cursor and the rows: steps along the tree, marks, jump letters, folds and densities."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.session.entries import NO_ENTRY
from leafward.session.tree.density import Density
from leafward_tui.explorer.controllers.controller import HIDDEN, ExplorerController, ExplorerMeans
from leafward_tui.explorer.model.exploration import Exploration, Filter
from leafward_tui.explorer.model.folds import LineKind, ShownLine
from leafward_tui.explorer.model.rows import RowPainter
from leafward_tui.ui.row_keys import RowSteps

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward_tui.explorer.controllers.cursor_details import CursorDetails
    from leafward_tui.explorer.controllers.row_metrics import RowMetrics
    from leafward_tui.explorer.model.file_markers import Touch


class Navigation(ExplorerController):
    """Shows the rows and moves the cursor; nothing here writes."""

    def __init__(self, means: ExplorerMeans, details: CursorDetails, metrics: RowMetrics) -> None:
        super().__init__(means)
        self._details = details
        self._metrics = metrics
        self._touches: tuple[object, object, dict[int, Touch]] = (None, None, {})
        """The last computed touches, after the two values they were made from."""
        self.laid_out: Callable[[], object] = lambda: None
        """Called when rows were laid out again, before they are shown."""
        self.actions = {
            **RowSteps(self._view.tree.move_by, lambda: self._view.tree.page_rows).actions,
            "entry.child": partial(self._go, Exploration.child, "nothing follows on this branch"),
            "entry.parent": partial(self._go, Exploration.parent, "this is the first row"),
            "branch.next": partial(self._go, Exploration.sibling, "no other branch here", 1),
            "branch.previous": partial(self._go, Exploration.sibling, "no other branch here", -1),
            "point.next": partial(self._go, Exploration.branch_point, "no branch leaves further down", 1),
            "point.previous": partial(self._go, Exploration.branch_point, "no branch leaves further up", -1),
            "leaf.go": self._go_to_leaf,
            "mark.set": self._set_mark,
            "mark.go": self._go_to_mark,
            "jump.labels": self._jump,
            "fold.toggle": self._toggle_fold,
            "fold.open": self._unfold,
            "fold.close": self._fold,
            "fold.all": self._fold_all,
            "density.next": self._next_density,
        }

    def begin(self, density: Density) -> None:
        """Sets the density of the session that is opened."""
        self._state.density = density

    # --- rows ---------------------------------------------------------------------------------------------------------

    def show_rows(self, row: int) -> None:
        """Shows the exploration's lines with the cursor on a row."""
        state, services, tree = self._state, self._services, self._view.tree
        exploration, metrics = state.exploration, state.metrics
        if exploration is None or metrics is None:
            return
        painter = RowPainter(
            exploration,
            metrics,
            state.texts,
            services.styles_now,
            services.glyphs,
            sub_agents=sorted(map(exploration.session.columns.index, state.sub_agents)),
            own_from=exploration.session.columns.index(state.own_from) if state.own_from else NO_ENTRY,
        )
        tree.set_mark(exploration.layout.row_of(exploration.mark) if exploration.mark >= 0 else -1)
        tree.set_touches(self._touches_of_rows())
        tree.show(painter, row)
        self._view.show_head()
        self._details.settle()

    def _touches_of_rows(self) -> dict[int, Touch]:
        """The operations of the rows on the file whose timeline is on show."""
        exploration = self._state.exploration
        if exploration is None or exploration.filter is not Filter.CHOSEN or not exploration.touching:
            return {}
        from leafward_tui.explorer.model.file_markers import touches_by_row

        steps, layout = exploration.touching, exploration.layout
        if self._touches[0] is not steps or self._touches[1] is not layout:
            self._touches = steps, layout, touches_by_row(steps, layout, self._services.glyphs)
        return self._touches[2]

    def lay_out(self, *, density: Density | None = None) -> None:
        """Lays the rows out again, with the cursor on the same entry."""
        exploration = self._state.exploration
        if exploration is None:
            return
        line, bare = self._view.tree.line, self._state.bare
        entry = self.head_here() if line is not None else exploration.layout.leaf
        if density is not None:
            exploration.density = self._state.density = density
        exploration.lay_out()
        self._metrics.laid_out()
        self._view.tree.set_ghost(None)
        self.laid_out()
        row = exploration.layout.row_of(entry)
        if density is not None and line is not None and line.kind is LineKind.ROW:
            # Runs of rows begin and end elsewhere now: the row that was visible stays visible.
            exploration.reveal(row, whole=True)
        self.show_rows(row)
        if bare and not self._state.bare:
            # The note said that there are no rows.
            self._view.tell("")
        if density is not None:
            # A tree that fits the screen does not scroll: nothing else would show that its rows changed.
            self._metrics.rows_shown()

    def shown_line(self) -> tuple[Exploration, ShownLine] | None:
        """The line of the cursor, with its exploration; None, and a note, where its rows are hidden or there are none."""
        exploration, line = self._state.exploration, self._view.tree.line
        if exploration is None or line is None or line.kind is LineKind.HIDDEN:
            self._view.tell("" if self._state.bare else HIDDEN, "warn")
            return None
        return exploration, line

    def head_here(self) -> int:
        """The entry that the row of the cursor begins with; -1 for none."""
        exploration, row = self._state.exploration, self._view.tree.row
        return exploration.layout.head[row] if exploration is not None and row >= 0 else -1

    # --- along the tree -----------------------------------------------------------------------------------------------

    def go_to_row(self, row: int) -> None:
        """Puts the cursor on a row, unfolding the folds that hide it."""
        exploration = self._state.exploration
        if exploration is None or row < 0:
            return
        if exploration.hidden(row):
            exploration.reveal(row)
            self.show_rows(self._view.tree.row)
        self._view.tree.move_to_row(row)

    def go_to_hit(self, row: int) -> None:
        """Puts the cursor on a row that was found, unfolding also a fold that begins with it."""
        exploration = self._state.exploration
        if exploration is None or row < 0:
            return
        if exploration.reveal(row, whole=True):
            self.show_rows(self._view.tree.row)
        self._view.tree.move_to_row(row)

    def show_found(self, entry: int) -> None:
        """Puts the cursor on the row of an entry.

        Where a row is an entry, one without a row gets it, because the filter is set to show all entries.
        """
        exploration = self._state.exploration
        if exploration is None:
            return
        layout = exploration.layout
        row = layout.row_of(entry)
        if row >= 0 and layout.density is Density.ENTRIES and layout.head[row] != entry:
            exploration.filter = Filter.ALL
            self.lay_out()
            row = exploration.layout.row_of(entry)
        self.go_to_hit(row)

    def go_to_entry(self, entry: int) -> None:
        """Puts the cursor on the row of an entry."""
        if self._state.exploration is not None:
            self.go_to_row(self._state.exploration.layout.row_of(entry))

    def show_entry(self, entry: int) -> None:
        """Puts the cursor on the row of an entry, from another pane or screen: a narrow one shows the tree.

        Where a filter hides the row, the cursor goes to the nearest one on show, and a message says so.
        """
        exploration, before = self._state.exploration, self._view.tree.row
        self.go_to_entry(entry)
        if not self._view.two_panes:
            self._view.show_tree()
        row = exploration.layout.row_of(entry) if exploration is not None else -1
        if exploration is not None and row >= 0 and exploration.hidden(row):
            keys = self._view.key_hints(("mode.leave", "clear filter"))
            text = f"the filter hides #{entry:,}; this is the nearest row on show"
            self._view.tell(text, "warn", keys, stays=self._view.tree.row != before)

    def _go(self, step: Callable[..., int], nowhere: str, *arguments: int) -> None:
        """Goes to the row that a step from the cursor's row gives; `nowhere` is the message where there is none."""
        exploration, row = self._state.exploration, self._view.tree.row
        if exploration is None or row < 0:
            return
        to = step(exploration, row, *arguments)
        self.go_to_row(to)
        if self._view.tree.row == row:
            self._view.tell(nowhere if to == row else "the filter hides that row", "faint")

    def go_to_leaf(self) -> None:
        """Puts the cursor on the leaf."""
        if self._state.exploration is not None:
            self.go_to_entry(self._state.exploration.layout.leaf)

    def _go_to_leaf(self) -> None:
        if self._state.exploration is not None:
            before = self._view.tree.row
            gone = self._go_to_named(self._state.exploration.layout.leaf, "the leaf")
            if gone and self._view.tree.row == before:
                self._view.tell("this is the leaf", "faint")

    def _go_to_named(self, entry: int, name: str) -> bool:
        """Puts the cursor on the row of an entry; where a filter hides it, shows a message instead."""
        exploration = self._state.exploration
        if exploration is None:
            return False
        if not exploration.folds_rows and exploration.hidden(exploration.layout.row_of(entry)):
            keys = self._view.key_hints(("mode.leave", "clear filter"))
            self._view.tell(f"the filter hides {name}", "warn", keys)
            return False
        self.go_to_entry(entry)
        return True

    def _set_mark(self) -> None:
        """Marks the entry under the cursor, or takes the mark away."""
        exploration, entry = self._state.exploration, self.head_here()
        if exploration is None or entry < 0:
            return
        exploration.mark = -1 if exploration.mark == entry else entry
        marked = exploration.mark >= 0
        self._view.tree.set_mark(self._view.tree.row if marked else -1)
        keys = (("compare.open", "compare another row with it"), ("mark.go", "come back"))
        self._view.tell(
            "marked" if marked else "no longer marked", "", self._view.key_hints(*keys) if marked else ()
        )

    def _go_to_mark(self) -> None:
        exploration = self._state.exploration
        if exploration is None:
            return
        if exploration.mark < 0:
            self._view.tell("no row is marked", "faint", self._view.key_hints(("mark.set", "mark this row")))
        elif exploration.mark == self.head_here():
            self._view.tell("this is the mark", "faint")
        else:
            self._go_to_named(exploration.mark, "the marked row")

    def _jump(self) -> None:
        if self._lacks_tree("only rows of the tree have letters"):
            return
        self._view.tree.focus()
        self._view.tree.start_jump()
        if self._view.tree.jumping:
            text, keys = "type the letters beside a row to go there", (("mode.leave", "cancel"),)
            self._view.tell(text, "", self._view.key_hints(*keys))

    # --- folds and densities ------------------------------------------------------------------------------------------

    def _lacks_tree(self, text: str) -> bool:
        """Whether another pane stands in place of the tree; shows a text then, with the key that brings it back."""
        lacks = not (self._view.two_panes or self._view.in_tree)
        if lacks:
            self._view.tell(text, "warn", self._view.key_hints(("mode.leave", "tree")))
        return lacks

    def _toggle_fold(self) -> None:
        """Folds or unfolds the line of the cursor."""
        if self._lacks_tree("only the tree has folds"):
            return
        line = self._view.tree.line
        if line is not None and line.kind.is_fold:
            self._unfold()
        else:
            self._fold()

    def _unfold(self) -> None:
        """Unfolds the line of the cursor, which stays on the first unfolded row."""
        exploration, line = self._state.exploration, self._view.tree.line
        if exploration is None or line is None:
            return
        if exploration.unfold(line):
            self.show_rows(line.row)
        else:
            self._say_no_folds("nothing is folded here")

    def _fold(self) -> None:
        """Folds the rows around the cursor, or its branch, and puts the cursor on the fold."""
        exploration, line = self._state.exploration, self._view.tree.line
        if exploration is None or line is None:
            return
        row = exploration.fold(line)
        if row >= 0:
            self.show_rows(row)
        else:
            self._say_no_folds("this is folded already" if line.kind.is_fold else "nothing to fold here")

    def _fold_all(self) -> None:
        if self._state.exploration is None:
            return
        if self._state.exploration.fold_everything():
            self.show_rows(self._view.tree.row)
        else:
            self._say_no_folds("nothing to fold in this session")

    def _say_no_folds(self, text: str) -> None:
        """Shows why nothing is folded or unfolded."""
        exploration, keys = self._state.exploration, self._view.key_hints()
        if exploration is not None and not exploration.folds_rows:
            text, keys = (
                "nothing folds while a filter is on",
                self._view.key_hints(("mode.leave", "clear filter")),
            )
        self._view.tell(text, "faint", keys)

    def _next_density(self) -> None:
        """Sets the next density of turns, entries and comfortable; the cursor stays on its entry."""
        exploration = self._state.exploration
        if exploration is not None:
            order = list(Density)
            self.lay_out(density=order[(order.index(exploration.density) + 1) % len(order)])
