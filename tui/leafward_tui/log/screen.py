"""The operations on a session: what Leafward and the agent did to its tree, and taking any of it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from leafward.agents import agent_behind
from leafward.base.safe_text import safe_line
from leafward.session.entries import Kind
from leafward.session.headline import headline
from leafward.session.journal import redoable
from leafward_tui.log.controllers.cursor import Cursor
from leafward_tui.log.controllers.operations import Operations
from leafward_tui.log.state import LogState
from leafward_tui.log.widgets.empty_log import EmptyLog
from leafward_tui.log.widgets.log_view import LogDetails, LogList, columns_of
from leafward_tui.ui.hairline import RowRule
from leafward_tui.ui.intents import intent_bindings
from leafward_tui.ui.key_bar import Hint
from leafward_tui.ui.price_line import PriceLine
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.screen import BaseScreen
from leafward_tui.ui.tab_head import TabHead
from leafward_tui.ui.title_bar import Fact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.session.journal import Operation
    from leafward.session.session import Session
    from leafward_tui.ui.line_scroll import LineList
    from leafward_tui.ui.operation_text import OperationText
    from leafward_tui.ui.price_line import KeyHint

__all__ = ["LogScreen"]


class LogScreen(BaseScreen["int | None"]):
    """The operation log. Ends with the entry to go to, or with None."""

    NAME: ClassVar[str] = "log"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("log")]

    DEFAULT_CSS = """
    LogScreen {
        #operations { height: 1fr; }
        #details { height: 6; }
        #note { height: 1; }
        &.-tall #details, &.-high #details { height: 9; }
        &.-empty #operations { display: none; }
        &.-empty #details, &.-empty RowRule { display: none; }
        &.-empty EmptyLog { display: block; }
    }
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.state = LogState(session)
        self._agent = agent_behind(session).title

    def compose_content(self) -> ComposeResult:
        """The list, below it what is known of the operation under the cursor."""
        self.head = TabHead()
        self.list = LogList(id="operations")
        self.details = LogDetails(id="details")
        self.note = PriceLine(id="note")
        yield self.head
        yield self.list
        yield EmptyLog()
        yield RowRule()
        yield self.details
        yield self.note
        self._cursor = Cursor(self, self.shell)
        self._operations = Operations(self.state, self, self.shell, self.shell.jobs(self))
        rows = RowSteps(self._cursor.step, lambda: self.list.size.height)
        self.route(rows, self._cursor, self._operations)

    def mounted(self) -> None:
        """Shows the shell, and reads behind it."""
        self.show_title()
        self.list.focus()
        self._operations.load()
        self.set_interval(self.shell.config.follow_interval, self._operations.look)

    # --- what the controllers see -------------------------------------------------------------------------------------

    @property
    def refusal(self) -> str:
        """Why nothing can be written to the session, by its own statement; empty where it can."""
        return self.state.session.read_only or ""

    @property
    def operations(self) -> OperationText | None:
        """The operations on show; None before they were read."""
        return self.list.deeds

    @property
    def operation(self) -> Operation | None:
        """The operation under the cursor."""
        return self.list.operation

    @property
    def cursor(self) -> int:
        """Its place in the list."""
        return self.list.cursor

    @property
    def on_top(self) -> bool:
        """Whether no other screen lies over this one."""
        return self.app.screen is self

    def show_operations(self, operations: OperationText, cursor: int) -> None:
        """Shows other operations, with the cursor on one of them."""
        self.set_class(not len(operations), "-empty")
        self.list.show(operations, self._agent, cursor)
        self._cursor.operations_changed()
        self.show_title()
        self.call_after_refresh(self.show_head)
        self.show_hints()

    def move_by(self, step: int) -> None:
        """Moves the cursor down, or up."""
        self.list.move_by(step)

    def focus_list(self) -> None:
        """The list is all that keys go to."""
        self.list.focus()

    def tell(self, text: str, tone: str = "", keys: Sequence[KeyHint] = ()) -> None:
        """Says something in the line over the keys."""
        self.note.note(text or None, tone, keys)

    def close(self, entry: int | None = None) -> None:
        """Closes the log; an entry is gone to in the tree."""
        self.dismiss(entry)

    # --- what is shown ------------------------------------------------------------------------------------------------

    def show_title(self) -> None:
        """The session, and how many operations there are."""
        session, every = self.state.session, self.operations
        first = session.columns.kind.find(Kind.USER)
        title = session.title or (headline(session, first).text if first >= 0 else session.path.stem)
        facts = []
        if every is not None and len(every):
            own = sum(1 for operation in every.log if not operation.agent)
            undone = sum(1 for operation in every.log if operation.undone and operation.root == operation.op)
            facts = [
                Fact(f"{len(every):,}", "operation" if len(every) == 1 else "operations", keep=3),
                Fact(f"{own:,}", "by Leafward", "", keep=2),
                Fact(f"{undone:,}", "undone", keep=1),
            ]
        self.title_bar.show(
            safe_line(title, 200),
            crumb=safe_line(session.cwd.rstrip("/").rpartition("/")[2], 60),
            note="operations",
            facts=facts,
        )
        self.show_head()

    def show_head(self) -> None:
        """The columns over the list."""
        some = bool(self.operations is not None and len(self.operations))
        self.head.show(
            tabs=("Operations",),
            active="Operations",
            note="newest last" if some else "",
            columns=columns_of(self.list.cells) if some else None,
            focused=True,
        )

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        every, operation = self.operations, self.operation
        if every is None or operation is None:
            return (Hint("app.back"),)
        back = (Hint("operation.redo"),) if redoable(every.log) is not None else ()
        undo_it = () if every.root(operation).undone else (Hint("operation.undo", "undo this"),)
        return (
            Hint("log.show", "show in tree", "show"),
            Hint("app.back"),
            *undo_it,
            *back,
            Hint("row.down"),
            Hint("log.find"),
            Hint("copy.text"),
        )

    # --- what the widgets say -----------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Columns fit the new width."""
        self.call_after_refresh(self.show_head)

    def on_line_list_cursor_moved(self, message: LineList.CursorMoved) -> None:
        """The details follow."""
        message.stop()
        if self.operations is not None:
            by = self._agent if self.operation is not None and self.operation.agent else "Leafward"
            self.details.show(self.operations, self.operation, by)
        self.show_hints()

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        """A double click is enter."""
        message.stop()
        self.action_intent("log.show")
