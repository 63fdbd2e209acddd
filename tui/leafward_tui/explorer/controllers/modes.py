"""Panes and tabs, and the key that leaves one mode after the other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.explorer.controllers.sub_agents import sub_agents_at
from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.explorer.model.title import origin_of
from leafward_tui.explorer.state import Mode
from leafward_tui.inspector.tab import Tab
from leafward_tui.ui.bars.key_bar import Hint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward_tui.explorer.controllers.branch_summary import BranchSummary
    from leafward_tui.explorer.controllers.navigation import Navigation
    from leafward_tui.explorer.controllers.row_filter import RowFilter
    from leafward_tui.explorer.controllers.search import Search
    from leafward_tui.inspector.page import Page


class Modes(ExplorerController):
    """The panes on show, and the keys that matter."""

    def __init__(
        self,
        means: ExplorerMeans,
        summary: BranchSummary,
        search: Search,
        row_filter: RowFilter,
        navigation: Navigation,
    ) -> None:
        super().__init__(means)
        self._summary = summary
        self._search = search
        self._filter = row_filter
        self._navigation = navigation
        self.actions = {
            "mode.leave": self._leave,
            "pane.next": partial(self._view.step_pane, 1),
            "pane.previous": partial(self._view.step_pane, -1),
            "tab.entry": partial(self._view.show_tab, Tab.ENTRY),
            "tab.context": partial(self._view.show_tab, Tab.CONTEXT),
            "tab.compaction": partial(self._view.show_tab, Tab.COMPACTION),
            "tab.files": partial(self._view.show_tab, Tab.FILES),
            "tab.raw": partial(self._view.show_tab, Tab.RAW),
        }

    def enabled(self, intent_id: str) -> bool:
        """Whether there is something to show; leaving always works."""
        return intent_id == "mode.leave" or self._state.exploration is not None

    def _leave(self) -> None:
        """Leaves one mode: a summary, jump letters, the inspector, the search, the filter; else goes to the leaf."""
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
                opens=view.in_tree or _has_target(view.inspector.page),
                two_panes=view.two_panes,
                tab=view.inspector.tab,
                bare=state.bare,
                hidden=bool(state.session is not None and len(state.session)),
                healable=state.healable,
                delegates=bool(sub_agents_at(state, line)),
                descended=state.session is not None and bool(origin_of(state.session)),
                proposed=state.price is not None,
                on_path=exploration is not None and exploration.on_path(line),
                on_fold=line is not None and line.kind.is_fold,
                on_compaction=exploration is not None and exploration.on_compaction(line),
            )
        )


class Situation(NamedTuple):
    """The facts that decide which keys matter."""

    failed: bool = False
    """Whether there is no session to show."""
    summarising: bool = False
    in_tree: bool = True
    opens: bool = True
    """Whether a line of the page of the pane leads somewhere."""
    two_panes: bool = False
    """Whether tree and pane are side by side: the key for the next pane then leaves the pane, not the tab."""
    tab: Tab = Tab.ENTRY
    bare: bool = False
    """Whether there are no rows."""
    hidden: bool = False
    """Whether a session without rows has entries."""
    proposed: bool = False
    """Whether a move is proposed and has its price."""
    on_path: bool = False
    """Whether the cursor is on the path to the leaf."""
    on_fold: bool = False
    """Whether the cursor is on rows that are folded."""
    healable: bool = False
    """Whether lines are damaged and healing would change something."""
    delegates: bool = False
    """Whether a call of the row under the cursor made a sub-agent."""
    descended: bool = False
    """Whether the session came from another one: a sub-agent's, a fork, a copy."""
    on_compaction: bool = False
    """Whether the cursor is on a compaction or a context edit."""


def _has_target(page: Page | None) -> bool:
    return page is None or any(line.is_target for line in page.lines)


def _other_tabs(shown: Tab) -> Iterator[Hint]:
    return (Hint(f"tab.{tab.value.lower()}") for tab in Tab if tab is not shown)


def _inspector_hints(now: Situation) -> Sequence[Hint]:
    return (
        *((Hint("move.here", "open", key_only=True),) if now.opens else ()),
        Hint("mode.leave", "tree"),
        *(_other_tabs(now.tab) if now.two_panes else (Hint("pane.next", "next tab", "next"),)),
        *((Hint("file.timeline"),) if now.tab is Tab.FILES else ()),
        Hint("copy.text"),
    )


def hints(now: Situation) -> Sequence[Hint]:
    """The keys, the most important first."""
    if now.failed:
        return (Hint("app.back"),)
    if now.summarising:
        return (Hint("mode.leave", "cancel summary"), Hint("tab.context"), Hint("compare.open"))
    if not now.in_tree:
        return _inspector_hints(now)
    if now.bare:
        return (*((Hint("filter.choose", "show all"),) if now.hidden else ()), Hint("app.back"))
    through = (Hint("xray.open"),) if now.on_compaction else ()
    compact = (Hint("lab.open"),) if now.on_path else ()
    heal = (Hint("session.heal"),) if now.healable else ()
    parent = (Hint("session.parent"),) if now.descended else ()
    child = (Hint("session.child"),) if now.delegates else ()
    common = (
        *through,
        *heal,
        *parent,
        *child,
        Hint("tab.context"),
        Hint("compare.open"),
        Hint("session.fork"),
        *compact,
    )
    if now.on_fold:
        return (
            Hint("move.here", "unfold", key_only=True),
            Hint("mode.leave", "back to leaf", "leaf"),
            Hint("compare.open"),
            Hint("session.fork"),
            Hint("find.open"),
            Hint("fold.all"),
            Hint(("branch.previous", "branch.next")),
        )
    if now.proposed:
        leave = Hint("mode.leave", "back to leaf", "leaf")
        return (Hint("move.here"), leave, *common, Hint("mark.set"))
    return (
        *common,
        Hint("find.open"),
        Hint("fold.toggle"),
        Hint("filter.choose"),
        Hint(("branch.previous", "branch.next")),
        Hint("label.edit"),
        Hint("density.next"),
        Hint("log.open"),
    )
