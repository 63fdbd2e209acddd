"""The changes of a restore for each file that a session touched: nothing is written here.

The recorded calls tell the content of a file at the entry (`recorded_files`). A file on disk is replaced only where it has
the content that the session left last, that git has of it, or that a restore left.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from enum import StrEnum
from threading import Lock
from typing import TYPE_CHECKING

from leafward.base.errors import Refused
from leafward.files.file_replay.knowledge import KNOWN, Certainty
from leafward.files.file_replay.storage import unfit_name
from leafward.files.restoration.permissions import created
from leafward.files.restoration.project_folder import NOTHING, FileKind, OnDisk, digest
from leafward.files.restoration.recorded_files import UNKNOWN_ENDS, RecordedFiles, with_folders

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from leafward.files.file_replay.bases import Bases, Committed
    from leafward.files.file_replay.replay import Rebuilt
    from leafward.files.restoration.project_folder import ProjectFolder
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session


class RestoreAction(StrEnum):
    """The action for a file."""

    WRITE = "write"
    CREATE = "create"
    DELETE = "delete"
    SAME = "same"
    """The file already has its old state."""
    LEAVE = "leave"


@dataclass(frozen=True, slots=True)
class RestoredFile:
    """One file of a restore."""

    path: str
    """The path in the project, with `/` between its parts."""
    action: RestoreAction
    """The default action."""
    certainty: Certainty
    """The certainty of its content at the entry."""
    base: str
    """The source of that content, as in `Rebuilt.base`."""
    before: OnDisk
    after: OnDisk | None
    """The file at the entry; None where it is not known."""
    why: str
    """The reason why the file on disk may be replaced, or is left."""
    offered: RestoreAction | None = None
    """The action where the file is named and overwriting is asked for; None where there is none."""
    clears: tuple[tuple[str, int], ...] = ()
    """Folders without remaining files that make room for it, with their permissions, from the top."""
    remark: str = ""
    """A difference that remains, such as permissions that were not recorded."""


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """All files that a session touched, by path."""

    folder: str
    entry: str
    """Id of the entry."""
    changes: tuple[RestoredFile, ...]

    def chosen(self, paths: Collection[str] = (), *, overwrite: bool = False) -> tuple[RestoredFile, ...]:
        """The changes of a restore: the safe ones, or those named; `overwrite` adds the offered ones among those named."""
        found = []
        for one in self.changes:
            if paths and one.path not in paths:
                continue
            if one.action in (RestoreAction.WRITE, RestoreAction.CREATE, RestoreAction.DELETE):
                found.append(one)
            elif one.offered is not None and one.path in paths and overwrite:
                found.append(replace(one, action=one.offered))
        return tuple(found)


def plan_restore(
    session: Session,
    at: EntryIndex,
    folder: ProjectFolder,
    left_by_restores: Mapping[str, str] | None = None,
    committed: Callable[[str], Committed | None] = lambda _: None,
    versions: Bases = lambda _: (),
    stop: Callable[[], bool] = lambda: False,
    looked: Callable[[int, int], object] = lambda _at, _of: None,
) -> RestorePlan:
    """The plan for restoring the files at an entry.

    `looked` receives the number of files compared with the disk, and of all files.

    `left_by_restores` has the SHA-256 of files that earlier restores left, `committed` gives git's file, `versions` earlier
    texts: where the calls do not show the line ends, the text that is otherwise equal does.
    """
    if at < 0:
        raise Refused("no files are recorded before the first entry")
    known = RecordedFiles(session, at, stop)
    then = with_folders({path: known.then(path) for path in sorted(known.paths)})
    changes = []
    for number, (file, doubt) in enumerate(then.values()):
        if stop():
            break
        looked(number, len(then))
        changes.append(_change(known, file, doubt, folder, left_by_restores or {}, committed, versions))
    return RestorePlan(folder.path, str(session.columns.id(at)), tuple(_settled(changes, folder)))


def _content(file: Rebuilt) -> OnDisk | None:
    """A known content as bytes; None where no bytes have that text."""
    if file.text is None:
        return NOTHING
    try:
        return OnDisk(FileKind.FILE, file.text.encode("utf-8"))
    except UnicodeEncodeError:
        return None


def _is(file: Rebuilt, disk: OnDisk) -> bool:
    """Whether the file on disk has a content, as far as that is known."""
    if file.text is None:
        return disk.presence is FileKind.ABSENT
    if disk.presence is not FileKind.FILE:
        return False
    try:
        return _alike(disk.data.decode("utf-8"), file)
    except UnicodeDecodeError:
        return False


def _alike(text: str, file: Rebuilt) -> bool:
    """Whether a text equals that of a file, apart from line ends that are not known."""
    known = file.text or ""
    if not file.ends:
        text, known = (one.removeprefix("\ufeff").replace("\r\n", "\n") for one in (text, known))
    if not file.newline:
        text, known = text.removesuffix("\n"), known.removesuffix("\n")
    return text == known


def _change(
    known: RecordedFiles,
    then: Rebuilt,
    doubt: str,
    folder: ProjectFolder,
    restored: Mapping[str, str],
    committed: Callable[[str], Committed | None],
    versions: Bases,
) -> RestoredFile:
    path = then.path
    unfit = unfit_name(path) or _odd(path)
    if unfit:
        return RestoredFile(path, RestoreAction.LEAVE, then.certainty, then.base, NOTHING, None, unfit)
    disk = folder.look(path)
    after = _content(then) if then.certainty in KNOWN else None
    if after is not None and doubt in UNKNOWN_ENDS:
        whole = {one.text for one in versions(path) if _alike(one.text, then)}
        if len(whole) == 1:
            after, doubt = OnDisk(FileKind.FILE, whole.pop().encode("utf-8")), ""
    if after is not None and after.presence is FileKind.FILE:
        mode = disk.mode if disk.presence is FileKind.FILE else 0o666 & ~_umask()
        after = replace(after, mode=mode)
    make = RestoredFile(path, RestoreAction.LEAVE, then.certainty, then.base, disk, after, doubt)
    if after is None:
        return make
    if disk.trouble:
        return replace(make, after=after, why=disk.trouble)
    if after.presence is FileKind.ABSENT and disk.presence in (FileKind.ABSENT, FileKind.FOLDER):
        return _unchanged(make)
    if after.presence is disk.presence and after.data == disk.data:
        return _unchanged(make)
    if after.presence is FileKind.ABSENT:
        action = RestoreAction.DELETE
    else:
        action = (
            RestoreAction.CREATE
            if disk.presence in (FileKind.ABSENT, FileKind.FOLDER)
            else RestoreAction.WRITE
        )
    if action is RestoreAction.CREATE:
        after, remark = created(after, known.bits.of(path), committed(path))
        make = replace(make, after=after, remark=remark)
    if locked := folder.locked(path):
        return replace(make, why=f"{locked} is read-only")
    if is_read_only(disk):
        # A user who may write to it anyway, such as root, still respects the read-only mode.
        doubt = "; ".join(filter(None, ("it is read-only", doubt)))
        make = replace(
            make,
            why=doubt,
            remark="it stays read-only after the write" if action is RestoreAction.WRITE else "",
        )
    if doubt:
        return replace(make, offered=action)
    why, safe = _may_go(known, path, disk, restored, committed)
    return replace(
        make, action=action if safe else RestoreAction.LEAVE, why=why, offered=None if safe else action
    )


def _unchanged(change: RestoredFile) -> RestoredFile:
    """A change where the known content is already on disk: nothing could be written, so nothing is offered."""
    if not change.why:
        return replace(change, action=RestoreAction.SAME)
    absent = change.after is not None and change.after.presence is FileKind.ABSENT
    return replace(change, why=f"already {'absent' if absent else 'the same'}, as far as known; {change.why}")


def _may_go(
    known: RecordedFiles,
    path: str,
    disk: OnDisk,
    restored: Mapping[str, str],
    committed: Callable[[str], Committed | None],
) -> tuple[str, bool]:
    """The reason why the file on disk may be replaced or must stay, and whether it may."""
    if disk.presence is FileKind.LINK:
        return "it is a link", False
    if disk.presence is FileKind.FILE and disk.names > 1:
        return "it has a second name (hard link)", False
    left = known.left(path)
    if disk.presence is FileKind.FOLDER:
        # The files in it decide, see `_settled`.
        return "as the session left it", True
    if any(_is(one, disk) for one in left):
        return "as the session left it", True
    if restored.get(path) == (digest(disk.data) if disk.presence is FileKind.FILE else ""):
        return "as a restore left it", True
    if disk.presence is FileKind.FILE and (held := committed(path)) and held.data == disk.data:
        return "as git has it", True
    if disk.presence is FileKind.ABSENT:
        return ("removed since" if left else "gone; its last content is not known"), False
    return ("changed on disk after the session" if left else "what the session left is not known"), False


def is_read_only(disk: OnDisk) -> bool:
    """Whether the permissions of a file forbid its owner to write."""
    return disk.presence is FileKind.FILE and not disk.mode & 0o200


def _odd(path: str) -> str:
    """The reason why a name that is fine in an empty folder is left alone in a project; empty for none."""
    parts = path.split("/")
    if "\\" in path or any(part in ("", ".", "..") for part in parts):
        return "no file can have this name"
    return ""


def _settled(changes: Iterable[RestoredFile], folder: ProjectFolder) -> Iterable[RestoredFile]:
    """The changes, except that a file in the place of a folder or below a file is written only if that one goes."""
    changes = list(changes)
    going = {one.path for one in changes if one.action is RestoreAction.DELETE}
    for one in changes:
        if one.action is not RestoreAction.CREATE and one.offered is not RestoreAction.CREATE:
            yield one
        elif one.before.blocked and one.before.blocked not in going:
            yield replace(
                one, action=RestoreAction.LEAVE, offered=None, why=f"{one.before.blocked} is a file"
            )
        elif one.before.presence is FileKind.FOLDER:
            below = folder.below(one.path)
            if below is None or not going.issuperset(below[0]) or not below[0]:
                yield replace(one, action=RestoreAction.LEAVE, offered=None, why="a folder has this name")
            else:
                yield replace(one, clears=tuple(below[1]))
        else:
            yield one


def _umask() -> int:
    """The permissions that new files do not get."""
    # Reading it is only possible by setting it.
    with _ASKING:
        mask = os.umask(0o077)
        os.umask(mask)
    return mask


_ASKING = Lock()
