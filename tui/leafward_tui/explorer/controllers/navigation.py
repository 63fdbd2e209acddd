"""Where the cursor is and which rows there are: steps along the tree, marks, jump letters, folds and densities."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.explorer.model.graph import Density
from leafward_tui.explorer.model.rows import RowPainter
from leafward_tui.ui.row_keys import RowSteps

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward_tui.explorer.controllers.cursor_details import CursorDetails
    from leafward_tui.explorer.controllers.row_metrics import RowMetrics
    from leafward_tui.explorer.model.file_markers import Touch
    from leafward_tui.explorer.ports import ExplorerView
    from leafward_tui.explorer.state import ExplorerState
    from leafward_tui.ui.services import AppServices


class Navigation:
    """Shows the rows and moves the cursor; nothing here writes."""

    def __init__(
        self,
        state: ExplorerState,
        view: ExplorerView,
        services: AppServices,
        details: CursorDetails,
        metrics: RowMetrics,
    ) -> None:
        self._state = state
        self._view = view
        self._services = services
        self._details = details
        self._metrics = metrics
        self._touches: tuple[object, object, dict[int, Touch]] = (None, None, {})
        """The touches that were worked out last, behind what they were made of."""
        self.laid_out: Callable[[], object] = lambda: None
        """Called when rows were laid out anew, before they are shown."""
        self.actions: dict[str, Callable[[], object]] = {
            **RowSteps(view.tree.move_by, lambda: view.tree.page_rows).actions,
            "entry.child": partial(self._go, "child"),
            "entry.parent": partial(self._go, "parent"),
            "branch.next": partial(self._go, "sibling", 1),
            "branch.previous": partial(self._go, "sibling", -1),
            "point.next": partial(self._go, "branch_point", 1),
            "point.previous": partial(self._go, "branch_point", -1),
            "leaf.go": self.go_to_leaf,
            "mark.set": self._set_mark,
            "mark.go": self._go_to_mark,
            "jump.labels": self._jump,
            "fold.toggle": self.toggle_fold,
            "fold.all": self._fold_all,
            "density.next": self._next_density,
        }

    def enabled(self, intent_id: str) -> bool:
        """Whether there are rows; a mark can be gone to where there is one."""
        exploration = self._state.exploration
        if exploration is None:
            return False
        return intent_id != "mark.go" or exploration.mark >= 0

    def begin(self, density: Density) -> None:
        """How rows are laid out in the session that is opened."""
        self._state.density = density

    # --- rows ---------------------------------------------------------------------------------------------------------

    def show_rows(self, row: int) -> None:
        """Shows the exploration's lines with the cursor on a row."""
        state, services, tree = self._state, self._services, self._view.tree
        exploration, metrics = state.exploration, state.metrics
        if exploration is None or metrics is None:
            return
        painter = RowPainter(
            exploration.session,
            exploration.lines,
            metrics,
            services.styles_now,
            services.glyphs,
            notes=state.texts.notes,
            lost=state.texts.lost,
        )
        tree.set_mark(exploration.layout.row_of(exploration.mark) if exploration.mark >= 0 else -1)
        tree.set_touches(self._touches_of_rows())
        tree.show(painter, row)
        self._view.show_head()
        self._details.settle()

    def _touches_of_rows(self) -> dict[int, Touch]:
        """What the rows do to the file whose timeline is on show."""
        exploration = self._state.exploration
        if exploration is None or exploration.filter is not Filter.CHOSEN or not exploration.touching:
            return {}
        from leafward_tui.explorer.model.file_markers import touches_by_row

        steps, layout = exploration.touching, exploration.layout
        if self._touches[0] is not steps or self._touches[1] is not layout:
            self._touches = steps, layout, touches_by_row(steps, layout, self._services.glyphs)
        return self._touches[2]

    def lay_out(self, *, density: Density | None = None) -> None:
        """Lays the rows out anew, with the cursor on the same entry."""
        exploration = self._state.exploration
        if exploration is None:
            return
        entry = self.head_here() if self._view.tree.row >= 0 else exploration.layout.leaf
        if density is not None:
            exploration.density = self._state.density = density
        exploration.lay_out()
        self._metrics.laid_out()
        self._view.tree.set_ghost(None)
        self.laid_out()
        self.show_rows(exploration.layout.row_of(entry))

    def head_here(self) -> int:
        """The entry that the row of the cursor begins with; -1 for none."""
        exploration, row = self._state.exploration, self._view.tree.row
        return exploration.layout.head[row] if exploration is not None and row >= 0 else -1

    # --- along the tree -----------------------------------------------------------------------------------------------

    def go_to_row(self, row: int) -> None:
        """Puts the cursor on a row, unfolding what hides it."""
        exploration = self._state.exploration
        if exploration is None or row < 0:
            return
        if exploration.hidden(row):
            exploration.reveal(row)
            self.show_rows(self._view.tree.row)
        self._view.tree.move_to_row(row)

    def go_to_entry(self, entry: int) -> None:
        """Puts the cursor on the row of an entry."""
        if self._state.exploration is not None:
            self.go_to_row(self._state.exploration.layout.row_of(entry))

    def show_entry(self, entry: int) -> None:
        """The same, from another pane or screen: a narrow one shows the tree."""
        self.go_to_entry(entry)
        if not self._view.two_panes:
            self._view.show_tree()

    def _go(self, name: str, *arguments: int) -> None:
        if self._state.exploration is not None and self._view.tree.row >= 0:
            self.go_to_row(getattr(self._state.exploration, name)(self._view.tree.row, *arguments))

    def go_to_leaf(self) -> None:
        """Puts the cursor on the leaf."""
        if self._state.exploration is not None:
            self.go_to_entry(self._state.exploration.layout.leaf)

    def _set_mark(self) -> None:
        """Marks the entry under the cursor, or takes the mark away."""
        exploration, entry = self._state.exploration, self.head_here()
        if exploration is None or entry < 0:
            return
        exploration.mark = -1 if exploration.mark == entry else entry
        self._view.tree.set_mark(self._view.tree.row if exploration.mark >= 0 else -1)

    def _go_to_mark(self) -> None:
        if self._state.exploration is not None and self._state.exploration.mark >= 0:
            self.go_to_entry(self._state.exploration.mark)

    def _jump(self) -> None:
        self._view.tree.focus()
        self._view.tree.start_jump()

    # --- folds and densities ------------------------------------------------------------------------------------------

    def toggle_fold(self) -> None:
        """Folds or unfolds where the cursor is."""
        line = self._view.tree.line
        if self._state.exploration is not None and line is not None:
            self.show_rows(self._state.exploration.toggle_fold(line))

    def _fold_all(self) -> None:
        if self._state.exploration is not None:
            self._state.exploration.fold_everything()
            self.show_rows(self._view.tree.row)

    def _next_density(self) -> None:
        """Turns, entries, comfortable; the cursor stays on its entry."""
        exploration = self._state.exploration
        if exploration is not None:
            order = list(Density)
            self.lay_out(density=order[(order.index(exploration.density) + 1) % len(order)])
