"""Going about in the catalogue: the cursor, the order, the groups and which of them are folded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from leafward.catalog import Sort
from leafward_tui.catalogue.model.listing import Grouping, LineKind
from leafward_tui.catalogue.work import SessionsWork
from leafward_tui.ui.row_keys import RowKeys

if TYPE_CHECKING:
    from leafward_tui.catalogue.widgets.list_head import ListHead
    from leafward_tui.catalogue.widgets.preview import Preview
    from leafward_tui.catalogue.widgets.session_list import SessionList

__all__ = ["GROUPINGS", "SORTS", "SessionsGoing"]

SORTS = tuple(Sort)
GROUPINGS = tuple(Grouping)


class SessionsGoing(RowKeys, SessionsWork):
    """The keys that move and arrange; a subclass has the widgets."""

    sessions: SessionList
    preview: Preview

    def relight(self) -> None:
        """The order or the grouping is another: what stands around the list shows it."""
        raise NotImplementedError

    def step_rows(self, by: int) -> None:
        """Moves the cursor, or the preview where it has the keys."""
        if self._side and self.preview.display:
            self.preview.scroll_by(by)
        else:
            self.sessions.move(by)

    def rows_seen(self) -> int:
        """Lines of the list on the screen."""
        return self.sessions.size.height

    def action_find_next(self) -> None:
        """The next session that matches."""
        self.sessions.move_to_session(1)

    def action_find_previous(self) -> None:
        """The one before."""
        self.sessions.move_to_session(-1)

    def action_sort_next(self) -> None:
        """When, name, size, turns, tokens."""
        self._sort_by(SORTS[(SORTS.index(self._view.sort) + 1) % len(SORTS)])

    def on_list_head_sort_pressed(self, message: ListHead.SortPressed) -> None:
        """A heading was clicked."""
        message.stop()
        self._sort_by(message.sort)

    def _sort_by(self, sort: Sort) -> None:
        self._view = replace(self._view, sort=sort)
        self._keep_view()

    def action_group_next(self) -> None:
        """By project, family, day, by agent where there are several, not at all."""
        at = GROUPINGS.index(self._view.grouping) + 1
        grouping = GROUPINGS[at % len(GROUPINGS)]
        if grouping is Grouping.AGENT and len(self._stock.agents) < 2:
            grouping = Grouping.NONE
        self._view = replace(self._view, grouping=grouping, folded=frozenset())
        self._folded_hits = frozenset()
        self._keep_view()

    def _keep_view(self) -> None:
        self.shell.remember("catalogue", {"sort": self._view.sort.value, "group": self._view.grouping.value})
        self.relight()
        self.list_again()

    @property
    def _folded(self) -> frozenset[str]:
        return self._folded_hits if self._view.text else self._view.folded

    def _fold(self, folded: frozenset[str]) -> None:
        if self._view.text:
            self._folded_hits = folded
        else:
            self._view = replace(self._view, folded=folded)
        self.list_again()

    def action_project_fold(self) -> None:
        """The group of the cursor, closed or open."""
        line = self.sessions.line
        if line is not None:
            self._fold(self._folded ^ {line.group})

    def action_project_close(self) -> None:
        """Closes it."""
        line = self.sessions.line
        if line is not None and line.group not in self._folded:
            self._fold(self._folded | {line.group})

    def action_project_open(self) -> None:
        """Opens it."""
        line = self.sessions.line
        if line is not None and line.group in self._folded:
            self._fold(self._folded - {line.group})

    def action_project_fold_all(self) -> None:
        """All groups closed, or open when any is closed."""
        groups = {line.group for line in self.sessions.listing.lines if line.kind is LineKind.GROUP}
        self._fold(frozenset() if self._folded & groups else frozenset(groups))

    def on_session_list_group_toggled(self, message: SessionList.GroupToggled) -> None:
        """A group was clicked."""
        message.stop()
        self._fold(self._folded ^ {message.group})
