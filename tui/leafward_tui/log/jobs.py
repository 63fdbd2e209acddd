"""What the operation log has done beside the screen: functions of values. Each may raise LeafwardError, OSError."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.files.restoration import (
    StepBack,
    TakenBack,
    as_operations,
    restores_of,
    step_back,
    take_back,
)
from leafward.session.journal import OperationKind, Writing, operations, redo
from leafward_tui.ui.cells import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from leafward.files.restoration import Record
    from leafward.session.journal import Operation
    from leafward.session.session import Session
    from leafward_tui.ui.services import Job

__all__ = ["Change", "Log", "read_operations", "refresh", "rehearse", "write"]


class Log(NamedTuple):
    """The operations on a session, the newest last, and the restores among them."""

    operations: list[Operation]
    restores: list[Record]


class Change(NamedTuple):
    """What taking something back did, or would."""

    remarks: list[str]
    recent: bool
    """An agent may be running that does not see it yet."""


def read_operations(session: Session, _job: Job) -> Log:
    """The operations on a session; a restore that belongs to a move is none by itself, unless the move was undone without it."""
    log, restores = operations(session), restores_of(session)
    standing, undone = ({one.op for one in log if one.undone is state} for state in (False, True))
    alone = [one for one in restores if one.move not in standing and (one.move not in undone or one.standing)]
    return Log(as_operations(session, log, alone), restores)


def refresh(session: Session, _job: Job) -> None:
    """Takes in what was appended to the file."""
    session.refresh()


def rehearse(session: Session, operation: Operation, _job: Job) -> Change:
    """What taking an operation back, or doing it again, would append. Raises Refused where a restored file was changed since."""
    return _change(session, operation, Writing(dry_run=True))


def write(session: Session, operation: Operation, clock: Callable[[], datetime], _job: Job) -> Change:
    """Takes it back, with the files that were restored with it; does the one again that was undone."""
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
    remarks = [remark.text for remark in written.remarks] if written is not None else []
    if files is not None and not writing.dry_run:
        remarks.insert(0, f"{counted(len(files.paths), 'file')} put back")
    return Change(remarks, recent=written is not None and written.recent)
