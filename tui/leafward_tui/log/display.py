"""The widgets of the operation log and their drawing: all that its controllers see of the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.recognition import agent_behind
from leafward.base.safe_text import safe_line
from leafward.base.shown_path import project_name
from leafward.session.headlines.session_title import title_of
from leafward.session.journal.operation_log import OperationKind, redoable
from leafward_tui.log.widgets.log_view import EmptyLog, LogDetails, LogList, columns_of
from leafward_tui.ui.bars.key_bar import Hint
from leafward_tui.ui.bars.price_line import PriceLine
from leafward_tui.ui.bars.title_bar import Fact
from leafward_tui.ui.panes.hairline import RowRule
from leafward_tui.ui.panes.tab_head import TabHead

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.widget import Widget

    from leafward.session.journal.operation_log import Operation
    from leafward_tui.log.state import LogState
    from leafward_tui.ui.screens.screen import BaseScreen
    from leafward_tui.ui.words.operation_text import OperationText


class LogDisplay:
    """The screen as its controllers see it."""

    def __init__(self, screen: BaseScreen[int | None], state: LogState) -> None:
        self._screen, self._state = screen, state
        self._agent = agent_behind(state.session).title
        self.head = TabHead()
        self.log_list = LogList()
        self.details = LogDetails()
        self.note = PriceLine(id="note")
        self.show_hints, self.open_sheet = screen.show_hints, screen.open_sheet
        self.close = screen.dismiss
        """Closes the log; with an entry, the tree goes to it."""
        self.move_by, self.focus_list = self.log_list.move_by, self.log_list.focus
        self.tell = self.note.note

    def widgets(self) -> tuple[Widget, ...]:
        """The list, and below it the details of the operation under the cursor."""
        return (self.head, self.log_list, EmptyLog(), RowRule(), self.details, self.note)

    # --- content ------------------------------------------------------------------------------------------------------

    @property
    def operations(self) -> OperationText | None:
        """The operations on show; None before they were read."""
        return self.log_list.operations

    @property
    def operation(self) -> Operation | None:
        """The operation under the cursor; None where there is none."""
        return self.log_list.operation

    @property
    def cursor(self) -> int:
        """The cursor's place in the list."""
        return self.log_list.cursor

    @property
    def on_top(self) -> bool:
        """Whether no other screen lies over this one."""
        return self._screen.is_active

    # --- showing ------------------------------------------------------------------------------------------------------

    def show_operations(self, operations: OperationText, cursor: int) -> None:
        """Shows other operations, with the cursor on one of them."""
        self._screen.set_class(not len(operations), "-empty")
        self.log_list.show(operations, self._agent, cursor)
        self.show_title()
        self._screen.call_after_refresh(self.show_head)
        self.show_hints()

    def show_details(self) -> None:
        """Shows the details of the operation under the cursor."""
        every, operation = self.operations, self.operation
        if every is not None:
            by = self._agent if operation is not None and operation.agent else "Leafward"
            self.details.show(every, operation, by)
        self.show_hints()

    def show_title(self) -> None:
        """Shows the session, and the numbers of its operations."""
        session, every = self._state.session, self.operations
        title = title_of(session) or session.path.stem
        facts = []
        if every is not None and len(every):
            own = sum(1 for operation in every.log if not operation.agent)
            # As in the rows: an undo that was taken back counts as redone.
            undone = sum(one.undone and one.kind is not OperationKind.UNDO for one in every.log)
            facts = [
                Fact(f"{len(every):,}", "operation" if len(every) == 1 else "operations", keep=3),
                Fact(f"{own:,}", "by Leafward", "", keep=2),
                *([Fact(f"{undone:,}", "undone", keep=1)] if undone else []),
            ]
        self._screen.title_bar.show(
            safe_line(title, 200),
            crumb=project_name(session.cwd, 60),
            note="operations",
            facts=facts,
        )
        self.show_head()

    def show_head(self) -> None:
        """Shows the columns over the list."""
        note, columns, every = "", None, self.operations
        if every is not None and len(every):
            note, columns = "newest last", columns_of(self.log_list.cells, states=every.some_undone)
        self.head.show(tabs=("Operations",), active="Operations", note=note, columns=columns, focused=True)

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        every, operation = self.operations, self.operation
        if every is None or operation is None:
            return (Hint("mode.leave", "back"),)
        back = (Hint("operation.redo"),) if redoable(every.log) is not None else ()
        stands = operation.kind is not OperationKind.UNDO and not every.root(operation).undone
        undo_it = (Hint("operation.undo", "undo this"),) if stands else ()
        return (
            Hint("log.show", "show in tree", "show"),
            *undo_it,
            *back,
            Hint("log.find"),
            Hint("copy.text"),
            Hint("mode.leave", "back"),
        )
