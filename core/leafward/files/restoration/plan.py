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
from leafward.files.file_replay.output_folder import unfit_name
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

    @property
    def is_safe(self) -> bool:
        """Whether the content is certain, and replaces only a state that the session, a restore or git has left."""
        return self.action in (RestoreAction.WRITE, RestoreAction.CREATE, RestoreAction.DELETE)

    @property
    def is_offered(self) -> bool:
        """Whether it is made only where the user names it."""
        return self.action is RestoreAction.LEAVE and self.offered is not None

    @property
    def is_possible(self) -> bool:
        """Whether anything would be written under any option."""
        return self.is_safe or self.is_offered


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
            if one.is_safe:
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
    every, changes = _Changes(known, folder, left_by_restores or {}, committed, versions), []
    for number, (file, doubt) in enumerate(then.values()):
        if stop():
            break
        looked(number, len(then))
        changes.append(every.of(file, doubt))
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


@dataclass(frozen=True, slots=True)
class _Changes:
    """Makes the change of each file; the values are those of `plan_restore`."""

    known: RecordedFiles
    folder: ProjectFolder
    restored: Mapping[str, str]
    committed: Callable[[str], Committed | None]
    versions: Bases

    def of(self, then: Rebuilt, doubt: str) -> RestoredFile:
        """The change of a file to what it was; `doubt` is the reason why that is not certain, empty for none."""
        path = then.path
        if unfit := unfit_name(path) or _odd(path):
            return RestoredFile(path, RestoreAction.LEAVE, then.certainty, then.base, NOTHING, None, unfit)
        disk = self.folder.look(path)
        after, doubt = self._after(then, doubt, disk)
        make = RestoredFile(path, RestoreAction.LEAVE, then.certainty, then.base, disk, after, doubt)
        if after is None:
            return make
        if disk.trouble:
            return replace(make, why=disk.trouble)
        if _is_there(disk, after):
            return _unchanged(make)
        action = _action(disk, after)
        if action is RestoreAction.CREATE:
            after, remark = created(after, self.known.bits.of(path), self.committed(path))
            make = replace(make, after=after, remark=remark)
        if locked := self.folder.locked(path):
            return replace(make, why=f"{locked} is read-only")
        if is_read_only(disk):
            # A user who may write to it anyway, such as root, still respects the read-only mode.
            doubt = "; ".join(filter(None, ("it is read-only", doubt)))
            stays = "it stays read-only after the write" if action is RestoreAction.WRITE else ""
            make = replace(make, why=doubt, remark=stays)
        if doubt:
            return replace(make, offered=action)
        why, safe = self._may_go(path, disk)
        if safe:
            return replace(make, action=action, why=why)
        return replace(make, why=why, offered=action)

    def _after(self, then: Rebuilt, doubt: str, disk: OnDisk) -> tuple[OnDisk | None, str]:
        """The file at the entry, None where it is not known, and the doubt that is left."""
        after = _content(then) if then.certainty in KNOWN else None
        if after is None:
            return None, doubt
        if doubt in UNKNOWN_ENDS:
            whole = {one.text for one in self.versions(then.path) if _alike(one.text, then)}
            if len(whole) == 1:
                after, doubt = OnDisk(FileKind.FILE, whole.pop().encode("utf-8")), ""
        if after.presence is FileKind.FILE:
            mode = disk.mode if disk.presence is FileKind.FILE else 0o666 & ~_umask()
            after = replace(after, mode=mode)
        return after, doubt

    def _may_go(self, path: str, disk: OnDisk) -> tuple[str, bool]:
        """The reason why the file on disk may be replaced or must stay, and whether it may."""
        if disk.presence is FileKind.LINK:
            return "it is a link", False
        if disk.presence is FileKind.FILE and disk.names > 1:
            return "it has a second name (hard link)", False
        left = self.known.left(path)
        if disk.presence is FileKind.FOLDER:
            # The files in it decide, see `_settled`.
            return "as the session left it", True
        if any(_is(one, disk) for one in left):
            return "as the session left it", True
        if self.restored.get(path) == (digest(disk.data) if disk.presence is FileKind.FILE else ""):
            return "as a restore left it", True
        if disk.presence is FileKind.FILE and (held := self.committed(path)) and held.data == disk.data:
            return "as git has it", True
        if disk.presence is FileKind.ABSENT:
            return ("removed since" if left else "gone; its last content is not known"), False
        return ("changed on disk after the session" if left else "what the session left is not known"), False


def _is_there(disk: OnDisk, after: OnDisk) -> bool:
    """Whether the file on disk is as it was already."""
    if after.presence is FileKind.ABSENT and disk.presence is FileKind.FOLDER:
        return True
    return after.presence is disk.presence and after.data == disk.data


def _action(disk: OnDisk, after: OnDisk) -> RestoreAction:
    """The action that makes the file on disk what it was, where both differ."""
    if after.presence is FileKind.ABSENT:
        return RestoreAction.DELETE
    there = disk.presence not in (FileKind.ABSENT, FileKind.FOLDER)
    return RestoreAction.WRITE if there else RestoreAction.CREATE


def _unchanged(change: RestoredFile) -> RestoredFile:
    """A change where the known content is already on disk: nothing could be written, so nothing is offered."""
    if not change.why:
        return replace(change, action=RestoreAction.SAME)
    absent = change.after is not None and change.after.presence is FileKind.ABSENT
    return replace(change, why=f"already {'absent' if absent else 'the same'}, as far as known; {change.why}")


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
