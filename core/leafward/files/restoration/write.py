"""Writing the planned changes to a project's files, alone or together with a move, and undoing them.

First every file that changes is copied (`record`), then each file is replaced (`project_folder`): it has its old or its new
content at any moment. An error puts all of them back.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.base.errors import LeafwardError, Refused
from leafward.base.figures import first_few
from leafward.base.shown_path import no_project_folder
from leafward.base.times import iso_stamp
from leafward.files.restoration.plan import RestoreAction
from leafward.files.restoration.project_folder import NOTHING, FileKind, OnDisk, ProjectFolder
from leafward.files.restoration.record import (
    Record,
    RestoreState,
    begin,
    belonging,
    exclusive,
    halfway_words,
    interrupted,
    store,
    undo_command,
)
from leafward.session.entries import EntryIndex
from leafward.session.journal import session_operations
from leafward.session.journal.lines import utc_now
from leafward.session.journal.open_file import refuse_unwritable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from leafward.files.restoration.plan import RestoredFile, RestorePlan
    from leafward.files.restoration.record import RecordedChange
    from leafward.session.journal.write import Write, Writing
    from leafward.session.session import Session


@dataclass(frozen=True, slots=True)
class Undone:
    """The files that an undo put back."""

    record: Record
    paths: tuple[str, ...]
    """Files that were put back; the others were already as before."""


def project_of(session: Session, folder: str | None = None) -> ProjectFolder:
    """The folder that a session worked in, or `folder`, where the project is now. Raises Refused where it is missing."""
    if folder is not None and not folder.strip():
        # Not the current folder: an empty shell variable is not a choice.
        raise Refused("no folder is named")
    path = session.cwd if folder is None else os.path.abspath(os.path.expanduser(folder))
    if not os.path.isabs(path) or not os.path.isdir(path):
        raise Refused(no_project_folder(path))
    return ProjectFolder(Path(path))


def move_with_files(
    session: Session,
    to: int,
    plan: RestorePlan,
    changes: Sequence[RestoredFile],
    writing: Writing,
    progress: Callable[[int], object] = lambda _: None,
) -> Write:
    """Makes chosen changes of a plan, then moves the leaf: both or neither.

    `progress` as in `restore`. Raises Refused, OSError; then the files are as before and nothing is appended, or the error
    tells which are not.
    """
    if not writing.dry_run:
        refuse_unwritable(session, writing.claim)
    session_operations.move(session, to, replace(writing, dry_run=True))
    if not changes:
        return session_operations.move(session, to, writing)
    with project_of(session, plan.folder) as folder:
        record = restore(folder, session.id, plan.entry, changes, last_entry(session), progress)
        try:
            written = session_operations.move(session, to, writing)
        except (LeafwardError, OSError) as error:
            undo(folder, record)
            raise Refused(f"{error}; the files are as they were") from error
    if written.op is not None:
        with suppress(OSError, Refused):
            # Without it the restore is an operation of its own in the log.
            belonging(record, written.op)
    return written


def restore(
    folder: ProjectFolder,
    session: str,
    entry: str,
    changes: Sequence[RestoredFile],
    behind: str = "",
    progress: Callable[[int], object] = lambda _: None,
) -> Record:
    """Makes chosen changes of a plan. Raises Refused, also where a write failed and all was put back.

    `behind` is the id of the session's last entry. `progress` receives the number of copied files, and may raise while no
    file is written: then none is.
    """
    _complete(changes)
    with exclusive() as home:
        halfway = interrupted(folder.path)
        if halfway is not None:
            raise Refused(halfway_words(halfway))
        for one in changes:
            if not folder.look(one.path).same(one.before):
                raise Refused(f"{one.path} was changed meanwhile; nothing was written")
        record = begin(
            home,
            folder.path,
            session,
            entry,
            iso_stamp(utc_now()),
            changes,
            _folders(folder, changes),
            behind,
            progress,
        )
        try:
            _write(folder, record, changes)
            _clear_drafts(folder, record)
            record = replace(record, state=RestoreState.DONE)
            with _named(str(record.place)):
                store(record)
        except Refused as error:
            raise _failed(folder, record, error) from error
    return record


def last_entry(session: Session) -> str:
    """The id of a session's last entry; empty where it has none."""
    return str(session.columns.id(EntryIndex(len(session) - 1))) if len(session) else ""


def undo(folder: ProjectFolder, record: Record, *, dry_run: bool = False) -> Undone:
    """Restores the state before a restore. Raises Refused where a file was changed since: then nothing is written."""
    if record.state is RestoreState.UNDONE:
        raise Refused(f"restore {record.number} is undone already")
    if dry_run:
        return Undone(record, _outstanding(folder, record))
    with exclusive():
        return _put_back(folder, record)


def _complete(changes: Sequence[RestoredFile]) -> None:
    """Raises Refused where the other changes do not make room for a file to be written."""
    going = {one.path for one in changes if one.action is RestoreAction.DELETE}
    for one in changes:
        if one.before.blocked and one.before.blocked not in going:
            raise Refused(f"{one.path} cannot be written while {one.before.blocked} is a file: name both")
        if one.before.presence is FileKind.FOLDER and not one.clears:
            raise Refused(f"{one.path} is a folder")


def _folders(folder: ProjectFolder, changes: Sequence[RestoredFile]) -> list[str]:
    """Missing folders, from the top."""
    writes = [one.path for one in changes if one.action is not RestoreAction.DELETE]
    found = {above for path in writes for above in folder.missing_folders(path)}
    return sorted(found, key=lambda one: (one.count("/"), one))


def _write(folder: ProjectFolder, record: Record, changes: Sequence[RestoredFile]) -> None:
    drafts = {one.path: one.draft for one in record.changes}
    for one in changes:
        if one.action is RestoreAction.DELETE:
            with _named(one.path):
                folder.replace(one.path, one.before, NOTHING, drafts[one.path])
    for one in changes:
        for name, _ in reversed(one.clears):
            with _named(name):
                folder.remove_folder(name)
    for name in record.made:
        with _named(name):
            folder.make_folder(name)
    for one in changes:
        if one.action is not RestoreAction.DELETE and one.after is not None:
            before = NOTHING if one.before.presence in (FileKind.ABSENT, FileKind.FOLDER) else one.before
            with _named(one.path):
                folder.replace(one.path, before, one.after, drafts[one.path])


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Adds the name of the file to an error."""
    try:
        yield
    except OSError as error:
        raise Refused(f"{path}: {error.strerror or error}") from error


def _failed(folder: ProjectFolder, record: Record, error: Refused) -> Refused:
    """Puts all files back if possible, and returns the error that reports a stopped restore."""
    try:
        _put_back(folder, replace(record, state=RestoreState.WRITING))
    except (OSError, Refused):
        return Refused(f"the restore stopped: {error}; `{undo_command(record.session)}` puts the files back")
    return Refused(f"the restore stopped: {error}; all files are as they were")


def _outstanding(folder: ProjectFolder, record: Record) -> tuple[str, ...]:
    """Files that differ from their state before a restore.

    Raises Refused where one has neither that state nor the one that the restore left.
    """
    paths, changed = [], []
    created = {one.path for one in record.changes if one.after.presence is not FileKind.ABSENT}
    for one in record.changes:
        disk = folder.look(one.path)
        if one.is_before(disk):
            continue
        if one.is_after(disk) or _halfway(folder, record, one, disk, created):
            paths.append(one.path)
        else:
            changed.append(one.path)
    if changed:
        raise Refused(f"changed since the restore: {first_few(changed, 3)}; nothing was written")
    return tuple(paths)


def _halfway(
    folder: ProjectFolder, record: Record, change: RecordedChange, disk: OnDisk, created: set[str]
) -> bool:
    """Whether a folder is in the place of a file and holds only files of the restore, or a folder is missing."""
    if change.before.presence is FileKind.FOLDER:
        return disk.presence is FileKind.ABSENT
    if disk.presence is not FileKind.FOLDER or change.path not in record.made:
        return False
    below = folder.below(change.path)
    drafts = {f"{one.path.rpartition('/')[0]}/{one.draft}" for one in record.changes}
    return (
        below is not None
        and created.union(drafts).issuperset(below[0])
        and set(record.made).issuperset(name for name, _ in below[1])
    )


def _clear_drafts(folder: ProjectFolder, record: Record) -> None:
    for one in record.changes:
        above = one.path.rpartition("/")[0]
        folder.discard(f"{above}/{one.draft}" if above else one.draft)


def _put_back(folder: ProjectFolder, record: Record) -> Undone:
    _clear_drafts(folder, record)
    paths = set(_outstanding(folder, record))
    contents = {one.path: record.bytes_before(one) for one in record.changes if one.path in paths}
    record = replace(record, state=RestoreState.UNDOING)
    try:
        store(record)
    except OSError as error:
        raise Refused(f"{record.place}: {error.strerror or error}; nothing was written") from error
    try:
        _put_each_back(folder, record, paths, contents)
        _clear_drafts(folder, record)
        record = replace(record, state=RestoreState.UNDONE)
        with _named(str(record.place)):
            store(record)
    except Refused as error:
        again = f"`{undo_command(record.session)}` goes on with it"
        raise Refused(f"the undo stopped: {error}; {again}") from error
    return Undone(record, tuple(sorted(paths)))


def _put_each_back(
    folder: ProjectFolder, record: Record, paths: set[str], contents: Mapping[str, bytes]
) -> None:
    was_file = (FileKind.FILE, FileKind.LINK)
    for one in record.changes:
        disk = folder.look(one.path)
        if one.path in paths and one.before.presence not in was_file and one.is_after(disk):
            with _named(one.path):
                folder.replace(one.path, disk, NOTHING, one.draft)
    for name in reversed(record.made):
        with suppress(OSError):
            # Another program may have put a file into it.
            folder.remove_folder(name)
    for one in record.changes:
        for name, mode in one.clears:
            with _named(name):
                folder.make_folder(name, mode)
    for one in record.changes:
        if one.path in paths and one.before.presence in was_file:
            before = OnDisk(one.before.presence, contents[one.path], one.before.mode)
            disk = folder.look(one.path)
            if not one.is_after(disk):
                raise Refused(f"{one.path} was changed meanwhile")
            with _named(one.path):
                folder.replace(one.path, disk, before, one.draft)
