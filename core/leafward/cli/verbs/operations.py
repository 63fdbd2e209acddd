"""The verbs `undo`, `redo` and `log`, and operations as text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from leafward.base.errors import Refused
from leafward.base.figures import counted
from leafward.base.safe_text import excerpt_line, safe_line
from leafward.base.times import parse_time
from leafward.cli.output.page import Page, emit_json, local_time, note, page, say, table
from leafward.cli.output.write_report import place_text, remark, short_id, write_json
from leafward.cli.selection import opened
from leafward.session.entries import NO_ENTRY
from leafward.session.journal import operation_log, session_operations
from leafward.session.journal.operation_log import ARCHIVED, SESSION_TARGETS, OperationKind, Subject, edits_in
from leafward.session.journal.write import Writing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.files.restoration.record import Record
    from leafward.session.entries import Body
    from leafward.session.journal.operation_log import Operation
    from leafward.session.journal.write import Write
    from leafward.session.session import Session


_DONE = {OperationKind.UNDO: "undid", OperationKind.REDO: "redid"}


def undo(selector: str, op: str | None, dry_run: bool, as_json: bool) -> int:
    """`leafward undo`."""
    return _take_back(selector, lambda session: _undone(session, op, dry_run), as_json)


def _undone(session: Session, op: str | None, dry_run: bool) -> Write:
    """Undoes an operation. If only a restore of files can be undone, the error names the command for that."""
    from leafward.files.restoration.record import undo_command
    from leafward.files.restoration.undo_step import restores_of

    restored = any(one.standing for one in restores_of(session))
    if op is None and restored and operation_log.undoable(operation_log.operations(session)) is None:
        raise Refused(f"no operation to undo; `{undo_command(session.id)}` puts restored files back")
    return session_operations.undo(session, op, Writing(dry_run=dry_run))


def redo(selector: str, dry_run: bool, as_json: bool) -> int:
    """`leafward redo`."""
    return _take_back(
        selector, lambda session: session_operations.redo(session, Writing(dry_run=dry_run)), as_json
    )


def _take_back(selector: str, act: Callable[[Session], Write], as_json: bool) -> int:
    with opened(selector) as session:
        from leafward.files.restoration.record import undo_command
        from leafward.files.restoration.undo_step import restores_of

        written = act(session)
        log = operation_log.operations(session)
        if as_json:
            emit_json(write_json(session, written) | {"ops": [_operation_json(one) for one in log]})
            return 0
        about = next(one for one in log if one.op == written.undoes)
        done = f"would {written.kind.value}" if written.dry_run else _DONE[written.kind]
        # An undo or redo of an undo is about what was done at first.
        root = next(one for one in log if one.op == about.root)
        what = f"{root.kind.value} {root.op}"
        say(f"{page().style(done, 'ghost')} {what}: {_set_back(session, written, about, log)}")
        remark(session, written)
        if any(one.move == about.root for one in restores_of(session) if one.standing):
            note(f"the files that were restored with it stay; `{undo_command(session.id)}` puts them back")
    return 0


def _set_back(session: Session, written: Write, about: Operation, log: list[Operation]) -> str:
    """Effect of an undo or redo, from the value before it to the one after; the same text for a dry run."""
    if about.subject is Subject.MOVE:
        # The line of a dry run is in no file, so its future parent is shown.
        reached = written.target if written.dry_run else written.leaf
        before, after = (_in_conversation(session, name) for name in (written.from_leaf, reached))
        if before == after:
            return f"the leaf stays at {place_text(session, after)}"
        return f"the leaf goes {short_id(before)} -> {place_text(session, after)}"
    if about.subject is Subject.ARCHIVE:
        what = _archived(session, about)
        return f"{what} is archived again" if about.before == ARCHIVED else f"{what} is unarchived"
    others = (one for one in reversed(log) if one.op != written.op and one.subject is about.subject)
    latest = next(one for one in others if one.target == about.target)
    return _change(session, replace(about, before=latest.after, after=about.before))


def log(selector: str, as_json: bool) -> int:
    """`leafward log`."""
    from leafward.files.restoration.undo_step import restores_of

    with opened(selector) as session:
        found = operation_log.operations(session)
        restored = restores_of(session)
        if as_json:
            emit_json(
                {
                    "ops": [_operation_json(one) for one in found],
                    "restores": [_restore_json(one) for one in restored],
                }
            )
        elif not found and not restored:
            say("no operations yet")
        else:
            if found:
                say(_log_text(session, found, page()))
            if restored:
                say(_restores_text(restored, page()))
    return 0


def _operation_json(operation: Operation) -> Body:
    return {
        "op": operation.op,
        "kind": operation.kind.value,
        "subject": operation.subject.value,
        "time": operation.time,
        "target": operation.target,
        "from": operation.before,
        "to": operation.after,
        "undoes": operation.undoes,
        "undone": operation.undone,
        "agent": operation.agent,
    }


def _operation_text(session: Session, operation: Operation) -> str:
    if operation.kind in (OperationKind.COMPACT, OperationKind.SUMMARY_MOVE):
        return f"{short_id(_in_conversation(session, operation.before))} -> {place_text(session, operation.after)}"
    if operation.subject is Subject.MOVE:
        before, after = (_in_conversation(session, name) for name in (operation.before, operation.after))
        edits = edits_in(session, operation) if operation.kind is OperationKind.EDIT else 0
        several = f"{edits:,} edits, the last " if edits > 1 else ""
        return f"{short_id(before)} -> {several}{place_text(session, after)}"
    if operation.subject is Subject.ARCHIVE:
        return f"{'archived' if operation.after else 'unarchived'} {_archived(session, operation)}"
    return _change(session, operation)


def _archived(session: Session, operation: Operation) -> str:
    """The session or entry of an archive operation."""
    return "the session" if operation.target in SESSION_TARGETS else place_text(session, operation.target)


def _change(session: Session, operation: Operation) -> str:
    """A change of a name or a label, from the old to the new one."""
    change = f"{_quoted(operation.before)} -> {_quoted(operation.after)}"
    return (
        change
        if operation.subject is Subject.NAME
        else f"{change} on {place_text(session, operation.target)}"
    )


def _in_conversation(session: Session, name: str | None) -> str | None:
    """The nearest entry of the conversation: a redo may lead to a note of Leafward, which shows nothing."""
    index = session.columns.index(name) if name is not None else NO_ENTRY
    return name if index < 0 else session.columns.id_at(session.tree.content_at(index))


def _quoted(text: str | None) -> str:
    return "none" if text is None else f'"{excerpt_line(text, 60)}"'


def _clock(time: str | None) -> str:
    """A stored time in the local time zone; empty if it is no time."""
    found = parse_time(time)
    return local_time(found, seconds=True) if found is not None else ""


def _log_text(session: Session, log: list[Operation], page: Page) -> Iterator[str]:
    rows = [
        (safe_line(one.op, 40), one.kind.value, _clock(one.time), one.state, _operation_text(session, one))
        for one in log
    ]
    yield from table(("op", "kind", "time", "", "what"), rows, page, grow=4)


def _restores_text(restored: list[Record], page: Page) -> Iterator[str]:
    rows = [
        (
            str(one.number),
            _clock(one.time),
            "" if one.state.value == "done" else one.state.value,
            f"{counted(len(one.changes), 'file')} as at {safe_line(one.entry, 40)}",
        )
        for one in restored
    ]
    yield from table(("restore", "time", "", "what"), rows, page, grow=3)


def _restore_json(record: Record) -> Body:
    return {
        "restore": record.number,
        "entry": record.entry,
        "time": record.time,
        "state": record.state.value,
        "move": record.move or None,
        "folder": record.folder,
        "files": [one.path for one in record.changes],
    }
