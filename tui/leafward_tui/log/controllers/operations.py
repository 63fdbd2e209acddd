"""The operations: read, watched, undone and redone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.recognition import agent_behind
from leafward.base.figures import counted
from leafward.files.restoration.undo_step import (
    StepBack,
    TakenBack,
    as_operations,
    restores_of,
    step_back,
    take_back,
)
from leafward.session.journal.operation_log import OperationKind, operations, redoable
from leafward.session.journal.session_operations import redo
from leafward.session.journal.write import Writing
from leafward_tui.ui.screens.screen_controller import ScreenController
from leafward_tui.ui.words.operation_text import OperationText
from leafward_tui.ui.words.write_words import book_words, remark_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from leafward.files.restoration.record import Record
    from leafward.session.journal.operation_log import Operation
    from leafward.session.session import Session
    from leafward_tui.log.display import LogDisplay
    from leafward_tui.log.state import LogState
    from leafward_tui.ui.jobs import Job
    from leafward_tui.ui.screens.screen_controller import Means


class Operations(ScreenController["LogState", "LogDisplay"]):
    """Reads the operations and owns the keys that change them."""

    def __init__(self, means: Means[LogState, LogDisplay], changed: Callable[[], object]) -> None:
        """`changed` is called when other operations are on show."""
        super().__init__(means)
        self._changed = changed
        self.actions = {
            "operation.undo": self.ask_undo,
            "operation.redo": self.ask_redo,
        }

    # --- reading ------------------------------------------------------------------------------------------------------

    def load(self) -> None:
        """Reads the operations, behind a read under way: a session may grow faster than they are read."""
        self._jobs.after("log", self._load)

    def _load(self) -> None:
        work = partial(read_operations, self._state.session)
        self._jobs.latest("log", work, self._show, lambda why: self._fail(f"cannot read the session: {why}"))

    def _show(self, log: Log) -> None:
        """Shows them, with the cursor on the newest, or where it was."""
        found = OperationText(self._state.session, log.operations, self._services.glyphs, log.restores)
        cursor = len(found) - 1 if self._state.to_newest else self._view.cursor
        self._state.to_newest = False
        self._view.show_operations(found, cursor)
        self._changed()

    def look(self) -> None:
        """Checks whether the file has grown; costs one stat."""
        state = self._state
        if not state.writing and self._view.on_top and state.session.changed_on_disk():
            state.writing = True
            self._jobs.also("write", partial(refresh, state.session), self._refreshed, self._fail)

    def _refreshed(self, _none: None) -> None:
        self._state.writing = False
        self.load()

    def _fail(self, why: str) -> None:
        self._state.writing = False
        self._view.tell(why, "bad")

    # --- taking back --------------------------------------------------------------------------------------------------

    def ask_undo(self) -> None:
        """Shows the write that undoing the operation under the cursor would make, and asks."""
        every, operation = self._view.operations, self._view.operation
        if every is None or operation is None or self._refused(operation):
            return
        root = every.root(operation)
        if root.undone:
            self._view.tell(f"already undone, {every.taken_back(root)}", "warn")
        elif operation.kind is OperationKind.UNDO:
            self._view.tell(f"already redone, {every.taken_back(operation)}", "warn")
        else:
            self._rehearse(root)

    def ask_redo(self) -> None:
        """Shows the write that redoing the last undone operation would make, and asks."""
        every = self._view.operations
        if every is None or self._refused():
            return
        last = redoable(every.log)
        if last is None:
            self._view.tell("nothing to redo", "warn")
        else:
            self._rehearse(last)

    def _refused(self, operation: Operation | None = None) -> bool:
        """Whether nothing can be written now; shows why. Files can be restored whatever the session allows."""
        files_only = operation is not None and operation.kind is OperationKind.RESTORE
        if self._state.session.read_only and not files_only:
            self._view.tell(f"read only: {self._state.session.read_only}", "bad")
        elif self._state.writing:
            self._view.tell("the last change is still being written", "warn")
        else:
            return False
        return True

    def _rehearse(self, operation: Operation) -> None:
        def refused(why: str) -> None:
            self._view.tell(why, "bad")
            self.look()

        work = partial(rehearse, self._state.session, operation)
        self._jobs.latest("rehearsal", work, partial(self._ask, operation), refused)

    def _ask(self, operation: Operation, would: Change) -> None:
        """Asks, with the write and its remarks."""
        from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet
        from leafward_tui.ui.sheets.sheet import SheetLine

        every = self._view.operations
        if every is None or not self._view.on_top:
            return
        again = operation.op != operation.root
        root = every.root(operation)
        outcome, doing = every.outcome(root), every.doing(root)
        choice = Choice(
            "U" if again else "u",
            "Redo it" if again else "Undo it",
            outcome,
            f"append 1 line to {book_words(self._state.session)}"
            if operation.kind is not OperationKind.RESTORE
            else "nothing is appended to the session",
            act=partial(self._write, operation, f"{'redid' if again else 'undid'}: {every.short(root)}"),
        )
        arrow = f" {self._services.glyphs.arrow} " if doing.follow else ""
        about = [SheetLine(f"{doing.verb}  {doing.lead}{arrow}{doing.follow}")]
        about += [SheetLine(remark, "warn") for remark in would.remarks]
        note = operation.op if operation.kind is OperationKind.RESTORE else f"entry #{operation.entry:,}"
        self._view.open_sheet(ChoiceSheet("Redo" if again else "Undo", [choice], about, note=note))

    def _write(self, operation: Operation, done: str) -> None:
        if not self._refused(operation):
            self._state.writing = True
            work = partial(write, self._state.session, operation, self._services.clock)
            self._jobs.also("write", work, partial(self._written, done), self._fail)

    def _written(self, done: str, written: Change) -> None:
        """Shows the effect of a change, and reads the operations again."""
        remarks = list(written.remarks)
        if written.recent:
            remarks.append(f"restart {agent_behind(self._state.session).title} to pick this up")
        self._view.tell("; ".join([done, *remarks]), "warn" if remarks else "leaf")
        self._state.writing = False
        self._state.to_newest = True
        self.load()


class Log(NamedTuple):
    """The operations on a session, the newest last, and the restores among them."""

    operations: list[Operation]
    restores: list[Record]


class Change(NamedTuple):
    """The effect of an undo or redo, planned or written."""

    remarks: list[str]
    recent: bool
    """Whether an agent may be running that does not see it yet."""


def read_operations(session: Session, _job: Job) -> Log:
    """The operations on a session; without restores that belong to a move, unless the move was undone without its restore."""
    log, restores = operations(session), restores_of(session)
    standing, undone = ({one.op for one in log if one.undone is state} for state in (False, True))
    alone = [one for one in restores if one.move not in standing and (one.move not in undone or one.standing)]
    return Log(as_operations(session, log, alone), restores)


def refresh(session: Session, _job: Job) -> None:
    """Reads the lines appended to the file."""
    session.refresh()


def rehearse(session: Session, operation: Operation, _job: Job) -> Change:
    """The effect of an undo or a redo, without writing it. Raises Refused where a restored file has changed since."""
    return _change(session, operation, Writing(dry_run=True))


def write(session: Session, operation: Operation, clock: Callable[[], datetime], _job: Job) -> Change:
    """Undoes an operation, with the files restored with it; redoes an undone one."""
    return _change(session, operation, Writing(now=clock))


def _change(session: Session, operation: Operation, writing: Writing) -> Change:
    if operation.kind is OperationKind.RESTORE:
        restore = next(one for one in restores_of(session) if f"restore {one.number}" == operation.op)
        done = take_back(session, StepBack(None, restore), writing)
    elif operation.op != operation.root:
        done = TakenBack(redo(session, writing), None)
    else:
        done = take_back(session, step_back(session, operation.op), writing)
    files, written = done.files, done.write
    remarks = [remark_words(remark) for remark in written.remarks] if written is not None else []
    if files is not None and not writing.dry_run:
        remarks.insert(0, f"{counted(len(files.paths), 'file')} put back")
    return Change(remarks, recent=written is not None and written.recent)
