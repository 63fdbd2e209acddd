"""The operations on a session: what Leafward and the agent did to its tree, and taking any of it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual import work
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from leafward.agents import agent_behind
from leafward.base.errors import LeafwardError
from leafward.base.safe_text import safe_line
from leafward.session.entries import Kind
from leafward.session.headline import headline
from leafward.session.journal import Writing, operations, redo, redoable, undo
from leafward_tui.log.going import LogGoing
from leafward_tui.log.widgets.log_view import LogDetails, LogList, columns_of
from leafward_tui.ui.cells import fit
from leafward_tui.ui.hairline import RowRule
from leafward_tui.ui.intents import bindings_for
from leafward_tui.ui.key_bar import Hint
from leafward_tui.ui.operation_text import OperationText
from leafward_tui.ui.price_line import PriceLine
from leafward_tui.ui.services import services_of
from leafward_tui.ui.sheet import Choice, ChoiceSheet, SheetLine
from leafward_tui.ui.title_bar import Fact
from leafward_tui.ui.tree_head import TreeHead
from leafward_tui.ui.write_target import book_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.session.journal import Operation, Write
    from leafward.session.session import Session
    from leafward_tui.ui.line_scroll import LineList

__all__ = ["LogScreen"]


@dataclass
class Logged(Message):
    """The operations were read."""

    log: list[Operation]


@dataclass
class Considered(Message):
    """What taking an operation back would write; None where it is refused, and the text says why."""

    operation: Operation
    would: Write | None
    text: str


@dataclass
class Written(Message):
    """A change was written, or refused: then `written` is None and the text says why."""

    written: Write | None
    text: str


class _Empty(Widget):
    """The one sentence of an empty log."""

    DEFAULT_CSS = "_Empty { width: 1fr; height: 1fr; display: none; }"

    def render_line(self, y: int) -> Strip:
        ground = services_of(self).styles_now.bg
        width = self.size.width
        if y != min(1, self.size.height - 1):
            return Strip.blank(width, ground.blank)
        said = "No operation yet: nothing was moved, labelled, named or archived, here or in the agent."
        return Strip(
            [Segment("  ", ground.blank), Segment(fit(said, width - 3), ground.nothing)]
        ).adjust_cell_length(width, ground.blank)


class LogScreen(LogGoing):
    """The operation log. Ends with the entry to go to, or with None."""

    NAME: ClassVar[str] = "log"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("log")]

    DEFAULT_CSS = """
    LogScreen {
        #operations { height: 1fr; }
        #details { height: 6; }
        #note { height: 1; }
        &.-tall #details, &.-high #details { height: 9; }
        &.-empty #operations { display: none; }
        &.-empty #details, &.-empty RowRule { display: none; }
        &.-empty _Empty { display: block; }
    }
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.writing = False
        """Whether a write or a look at the file is under way; there is never more than one."""
        self._agent = agent_behind(session).title
        self._to_newest = True

    def compose_content(self) -> ComposeResult:
        """The list, below it what is known of the operation under the cursor."""
        self.head = TreeHead()
        self.list = LogList(id="operations")
        self.empty = _Empty()
        self.details = LogDetails(id="details")
        self.note = PriceLine(id="note")
        yield self.head
        yield self.list
        yield self.empty
        yield RowRule()
        yield self.details
        yield self.note

    def on_mount(self) -> None:
        """Shows the shell, and reads behind it."""
        super().on_mount()
        self.show_title()
        self.list.focus()
        self.load()
        self.set_interval(self.shell.config.follow_interval, self.look)

    # --- reading ------------------------------------------------------------------------------------------------------

    @work(thread=True, exclusive=True, group="log", exit_on_error=False)
    def load(self) -> None:
        """Reads the operations."""
        try:
            log = operations(self.session)
        except (LeafwardError, OSError) as error:
            self.post_message(Written(None, f"cannot read the session: {error}"))
        else:
            self.post_message(Logged(log))

    def on_logged(self, message: Logged) -> None:
        """Shows them, with the cursor on the newest, or where it was."""
        deeds = OperationText(self.session, message.log, self.shell.glyphs)
        cursor = len(deeds) - 1 if self._to_newest else self.list.cursor
        self._to_newest = False
        self.set_class(not len(deeds), "-empty")
        self.list.show(deeds, self._agent, cursor)
        self.hits = deeds.matching(self.searched)
        self.show_title()
        self.call_after_refresh(self.show_head)
        self.show_hints()

    def look(self) -> None:
        """Looks whether the file has grown; costs one stat."""
        if not self.writing and self.app.screen is self and self.session.changed_on_disk():
            self.writing = True
            self._take_in()

    @work(thread=True, exclusive=True, group="write", exit_on_error=False)
    def _take_in(self) -> None:
        try:
            self.session.refresh()
        except (LeafwardError, OSError) as error:
            self.post_message(Written(None, str(error)))
        else:
            self.post_message(Written(None, ""))

    def show_title(self) -> None:
        """The session, and how many operations there are."""
        session = self.session
        deeds = self.list.deeds
        first = session.columns.kind.find(Kind.USER)
        title = session.title or (headline(session, first).text if first >= 0 else session.path.stem)
        facts = []
        if deeds is not None and len(deeds):
            own = sum(1 for operation in deeds.log if not operation.agent)
            undone = sum(1 for operation in deeds.log if operation.undone and operation.root == operation.op)
            facts = [
                Fact(f"{len(deeds):,}", "operation" if len(deeds) == 1 else "operations", keep=3),
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
        empty = self.list.deeds is None or not len(self.list.deeds)
        self.head.show(
            tabs=("Operations",),
            active="Operations",
            note="" if empty else "newest last",
            columns=None if empty else columns_of(self.list.cells),
            focused=True,
        )

    def on_resize(self) -> None:
        """Columns fit the new width."""
        self.call_after_refresh(self.show_head)

    # --- going about --------------------------------------------------------------------------------------------------

    def on_line_list_cursor_moved(self, message: LineList.CursorMoved) -> None:
        """The details follow."""
        message.stop()
        deeds, operation = self.list.deeds, self.list.operation
        if deeds is not None:
            by = self._agent if operation is not None and operation.agent else "Leafward"
            self.details.show(deeds, operation, by)
        self.show_hints()

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        """A double click is enter."""
        message.stop()
        self.action_log_show()

    def action_pane_next(self) -> None:
        """The list is all that keys go to."""
        self.list.focus()

    def action_pane_previous(self) -> None:
        """The list is all that keys go to."""
        self.list.focus()

    def action_log_show(self) -> None:
        """Back to the tree, at the entry that the operation is about."""
        deeds, operation = self.list.deeds, self.list.operation
        if deeds is None or operation is None:
            return
        entry = deeds.shows(operation)
        if entry < 0:
            self.tell("what this operation is about is not in the tree", "warn")
        else:
            self.dismiss(entry)

    def action_copy_text(self) -> None:
        """Copies what is known of the operation under the cursor."""
        deeds, operation = self.list.deeds, self.list.operation
        if deeds is None or operation is None:
            return
        lines = [f"{deeds.title(operation)}  {operation.time or ''}"]
        lines += [f"{name}  {said}  {ident}".rstrip() for name, said, ident in deeds.facts(operation)]
        self.shell.copy("\n".join(lines))

    # --- taking back --------------------------------------------------------------------------------------------------

    def action_operation_undo(self) -> None:
        """Shows what taking the operation under the cursor back would append, and asks."""
        deeds, operation = self.list.deeds, self.list.operation
        if deeds is None or operation is None or self._refused():
            return
        root = deeds.root(operation)
        if root.undone:
            self.tell(f"undone already, {deeds.taken_back(root)}", "warn")
            return
        self._consider(root, lambda session, writing: undo(session, root.op, writing))

    def action_operation_redo(self) -> None:
        """Shows what doing the operation that was undone last again would append, and asks."""
        deeds = self.list.deeds
        if deeds is None or self._refused():
            return
        last = redoable(deeds.log)
        if last is None:
            self.tell("nothing to redo", "warn")
        else:
            self._consider(last, redo)

    @property
    def refusal(self) -> str:
        """Why nothing can be written to the session, by its own statement; empty where it can."""
        return self.session.read_only or ""

    def _refused(self) -> bool:
        """Whether nothing can be written now, and says why."""
        if self.refusal:
            self.tell(f"read only: {self.refusal}", "bad")
        elif self.writing:
            self.tell("still writing the change before", "warn")
        else:
            return False
        return True

    @work(thread=True, exclusive=True, group="consider", exit_on_error=False)
    def _consider(self, operation: Operation, change: Callable[[Session, Writing], Write]) -> None:
        try:
            would = change(self.session, Writing(dry_run=True))
        except (LeafwardError, OSError) as error:
            self.post_message(Considered(operation, None, str(error)))
        else:
            self.post_message(Considered(operation, would, ""))

    def on_considered(self, message: Considered) -> None:
        """Asks, with what would be written and what is odd about it."""
        deeds, operation = self.list.deeds, message.operation
        if message.would is None or deeds is None:
            self.tell(f"refused: {message.text}", "bad")
            self.look()
            return
        again = operation.op != operation.root
        name = book_words(self.session)
        change: Callable[[Session, Writing], Write] = (
            redo if again else lambda session, writing: undo(session, operation.op, writing)
        )
        done = "done again" if again else "undone"
        choice = Choice(
            "U" if again else "u",
            "Do it again" if again else "Take it back",
            deeds.outcome(deeds.root(operation)),
            f"append 1 line to {name}",
        )
        doing = deeds.doing(deeds.root(operation))
        arrow = f" {self.shell.glyphs.arrow} " if doing.follow else ""
        about = [SheetLine(f"{doing.verb}  {doing.lead}{arrow}{doing.follow}")]
        about += [SheetLine(remark.text, "warn") for remark in message.would.remarks]

        def answered(key: str | None) -> None:
            if key is not None and not self.writing:
                self.writing = True
                self._write(change, f"{done}: {deeds.outcome(deeds.root(operation))}")

        title = "Redo" if again else "Undo"
        self.app.push_screen(ChoiceSheet(title, [choice], about, note=f"line #{operation.entry}"), answered)

    @work(thread=True, group="write", exit_on_error=False)
    def _write(self, change: Callable[[Session, Writing], Write], done: str) -> None:
        try:
            written = change(self.session, Writing(now=self.shell.clock))
        except (LeafwardError, OSError) as error:
            self.post_message(Written(None, f"refused: {error}"))
        else:
            self.post_message(Written(written, done))

    def on_written(self, message: Written) -> None:
        """Shows what a change did, or why it was refused; a look at the file that has grown says nothing."""
        self.writing = False
        if message.written is None:
            if message.text:
                self.tell(message.text, "bad")
                return
        else:
            remarks = [remark.text for remark in message.written.remarks]
            if message.written.recent:
                remarks.append("an agent that runs sees it when it reopens the session")
            self.tell("   ".join([message.text, *remarks]), "warn" if remarks else "leaf")
            self._to_newest = True
        self.load()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A fault of ours in a worker is said, not swallowed; the screen goes on."""
        if event.state is WorkerState.ERROR:
            self.writing = False
            self.tell(f"internal error in {event.worker.group}: {event.worker.error!r}", "bad")

    # --- keys ---------------------------------------------------------------------------------------------------------

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        deeds, operation = self.list.deeds, self.list.operation
        if deeds is None or operation is None:
            return (Hint("app.back"),)
        back = (Hint("operation.redo"),) if redoable(deeds.log) is not None else ()
        undo_it = () if deeds.root(operation).undone else (Hint("operation.undo", "undo this"),)
        return (
            Hint("log.show", "show in tree", "show"),
            Hint("app.back"),
            *undo_it,
            *back,
            Hint("row.down"),
            Hint("log.find"),
            Hint("copy.text"),
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What cannot work now does not."""
        if action in ("find_next", "find_previous"):
            return bool(self.hits) or None
        return super().check_action(action, parameters)
