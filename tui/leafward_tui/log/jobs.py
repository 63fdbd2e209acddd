"""What the operation log has done beside the screen: functions of values. Each may raise LeafwardError, OSError."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.session.journal import Writing, operations, redo, undo

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from leafward.session.journal import Operation, Write
    from leafward.session.session import Session
    from leafward_tui.ui.services import Job

__all__ = ["read_operations", "refresh", "rehearse", "write"]


def read_operations(session: Session, _job: Job) -> list[Operation]:
    """The operations on a session, the newest last."""
    return operations(session)


def refresh(session: Session, _job: Job) -> None:
    """Takes in what was appended to the file."""
    session.refresh()


def _change(operation: Operation) -> Callable[[Session, Writing], Write]:
    """Takes an operation back; does the one again that was undone."""
    return redo if operation.op != operation.root else partial(_undo, operation.op)


def _undo(op: str, session: Session, writing: Writing) -> Write:
    return undo(session, op, writing)


def rehearse(session: Session, operation: Operation, _job: Job) -> Write:
    """What taking an operation back would append."""
    return _change(operation)(session, Writing(dry_run=True))


def write(session: Session, operation: Operation, clock: Callable[[], datetime], _job: Job) -> Write:
    """Takes it back."""
    return _change(operation)(session, Writing(now=clock))
