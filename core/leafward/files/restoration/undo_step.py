"""The target of the next undo: an operation on the session, a restore of files, or a move and its restore together.

A restore is not a line of the session, and still appears in its log: its record has the session's last entry at that time,
and the move that it belongs to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.base.errors import LeafwardError, Refused
from leafward.files.restoration.project_folder import ProjectFolder
from leafward.files.restoration.record import records
from leafward.files.restoration.write import undo
from leafward.session.entries import EntryId, EntryIndex
from leafward.session.journal import operation_log, session_operations
from leafward.session.journal.open_file import refuse_unwritable
from leafward.session.journal.operation_log import Operation, OperationId, OperationKind, Subject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.files.restoration.record import Record
    from leafward.files.restoration.write import Undone
    from leafward.session.journal.write import Write, Writing
    from leafward.session.session import Session


@dataclass(frozen=True, slots=True)
class StepBack:
    """The target of the next undo: an operation on the session, a restore, or a move and its restore."""

    operation: Operation | None
    restore: Record | None


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The result of an undo."""

    write: Write | None
    """The appended lines; None where only files were put back."""
    files: Undone | None
    """The files that were put back; None where the operation had none."""


def restores_of(session: Session) -> list[Record]:
    """Restores of a session's files, the oldest first."""
    return [one for one in records() if one.session == session.id]


def step_back(session: Session, op: str | None = None) -> StepBack:
    """The target of an undo: the latest operation or restore, or the operation `op` with its restore."""
    log = operation_log.operations(session)
    standing = [one for one in restores_of(session) if one.standing]
    if op is not None:
        operation = next((one for one in log if one.op == op), None)
        return StepBack(operation, _belonging_to(standing, operation))
    operation = operation_log.undoable(log)
    own = _belonging_to(standing, operation)
    # Where its move was undone alone, the files stayed the same on purpose.
    undone = {one.op for one in log if one.undone}
    last = next((one for one in reversed(standing) if one.move not in undone), None)
    if last is None or last is own:
        return StepBack(operation, own)
    later = operation is None or place_of(session, last) >= operation.entry
    if own is not None:
        later = last.number > own.number
    return StepBack(None, last) if later else StepBack(operation, own)


def take_back(session: Session, step: StepBack, writing: Writing, *, files: bool = True) -> TakenBack:
    """Undoes the result of `step_back`; without `files` the files stay unchanged.

    Raises Refused where a file was changed since: then nothing is put back or appended.
    """
    operation, record = step.operation, step.restore if files else None
    if record is None:
        return TakenBack(session_operations.undo(session, operation.op if operation else None, writing), None)
    with ProjectFolder(Path(record.folder)) as folder:
        undo(folder, record, dry_run=True)
        if operation is None:
            return TakenBack(None, undo(folder, record, dry_run=writing.dry_run))
        if not writing.dry_run:
            refuse_unwritable(session, writing.claim)
        would = session_operations.undo(session, operation.op, replace(writing, dry_run=True))
        done = undo(folder, record, dry_run=writing.dry_run)
        if writing.dry_run:
            return TakenBack(would, done)
        try:
            return TakenBack(session_operations.undo(session, operation.op, writing), done)
        except (LeafwardError, OSError) as error:
            raise Refused(f"the files are put back, but the leaf stays where it is: {error}") from error


def as_operations(session: Session, log: Sequence[Operation], found: Sequence[Record]) -> list[Operation]:
    """The operations on a session with its restores among them, in the order of the file."""
    merged: list[tuple[int, int, Operation]] = [(one.entry, 0, one) for one in log]
    for record in found:
        place = place_of(session, record)
        op = OperationId(f"restore {record.number}")
        made = Operation(
            op,
            OperationKind.RESTORE,
            Subject.FILES,
            EntryIndex(place),
            record.time,
            EntryId(record.entry),
            None,
            None,
            root=op,
            undone=not record.standing,
        )
        merged.append((place, record.number, made))
    return [one for _, _, one in sorted(merged, key=lambda one: one[:2])]


def place_of(session: Session, record: Record) -> int:
    """The session's last entry at a restore; -1 where it is not in the file."""
    place = session.columns.index(record.behind) if record.behind else -1
    return place if place >= 0 else session.columns.index(record.entry)


def _belonging_to(standing: Sequence[Record], operation: Operation | None) -> Record | None:
    if operation is None or operation.subject is not Subject.MOVE:
        return None
    return next((one for one in standing if one.move == operation.op), None)
