"""Panes and tabs, and the key that leaves one thing after the other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.explorer.model.key_hints import Situation, hints
from leafward_tui.explorer.state import Mode
from leafward_tui.ui.inspector_tab import Tab

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward_tui.explorer.controllers.branch_summary import BranchSummary
    from leafward_tui.explorer.controllers.navigation import Navigation
    from leafward_tui.explorer.controllers.row_filter import RowFilter
    from leafward_tui.explorer.controllers.search import Search
    from leafward_tui.explorer.ports import ExplorerView
    from leafward_tui.explorer.state import ExplorerState
    from leafward_tui.ui.key_bar import Hint


class Modes:
    """What the screen shows and what its keys are for."""

    def __init__(
        self,
        state: ExplorerState,
        view: ExplorerView,
        summary: BranchSummary,
        search: Search,
        row_filter: RowFilter,
        navigation: Navigation,
    ) -> None:
        self._state = state
        self._view = view
        self._summary = summary
        self._search = search
        self._filter = row_filter
        self._navigation = navigation
        self.actions: dict[str, Callable[[], object]] = {
            "mode.leave": self._leave,
            "pane.next": partial(view.step_pane, 1),
            "pane.previous": partial(view.step_pane, -1),
            "tab.entry": partial(view.show_tab, Tab.ENTRY),
            "tab.context": partial(view.show_tab, Tab.CONTEXT),
            "tab.compaction": partial(view.show_tab, Tab.COMPACTION),
            "tab.files": partial(view.show_tab, Tab.FILES),
            "tab.raw": partial(view.show_tab, Tab.RAW),
        }

    def enabled(self, intent_id: str) -> bool:
        """Whether there is something to show; leaving works always."""
        return intent_id == "mode.leave" or self._state.exploration is not None

    def _leave(self) -> None:
        """Leaves, one at a time: a summary, jump letters, the inspector, the search, the filter; then goes back to the leaf."""
        view, mode = self._view, self._state.mode
        if mode is Mode.SUMMARISING:
            self._summary.cancel()
        elif view.tree.jumping:
            view.tree.end_jump()
        elif not view.in_tree:
            view.show_tree()
        elif mode is Mode.SEARCHING:
            self._search.clear()
        elif mode is Mode.FILTERING:
            self._filter.set(Filter.CONVERSATION)
        else:
            view.tell("")
            self._navigation.go_to_leaf()

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        state, view = self._state, self._view
        exploration, line = state.exploration, view.tree.line
        return hints(
            Situation(
                failed=state.mode is Mode.FAILED,
                summarising=state.mode is Mode.SUMMARISING,
                in_tree=view.in_tree,
                tab=view.inspector.tab,
                bare=state.bare,
                hidden=bool(state.session is not None and len(state.session)),
                damaged=bool(state.session is not None and state.session.columns.damaged),
                proposed=state.price is not None,
                on_path=exploration is not None and exploration.on_path(line),
                on_fold=line is not None and line.kind.is_fold,
                on_compaction=exploration is not None and exploration.on_compaction(line),
            )
        )
