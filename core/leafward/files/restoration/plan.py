"""What a restore would do to each file that a session touched: nothing is written here.

A file's content at the entry counts as known only where all that was recorded agrees: the calls of the path, and the calls of
all branches in the order in which they were made. What lies on disk is replaced only where it is what the session left there
last, what git has of it, or what a restore left.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from enum import StrEnum
from threading import Lock
from typing import TYPE_CHECKING

from leafward.base.errors import Refused
from leafward.base.safe_text import safe_line
from leafward.files.file_replay import (
    CONTRADICTIONS,
    KNOWN,
    Certainty,
    FileOperation,
    Outcome,
    Rebuilt,
    Replay,
    steps,
    unfit_name,
)
from leafward.files.opaque_calls import opaque_calls
from leafward.files.restoration.on_disk import NOTHING, OnDisk, Presence, digest
from leafward.files.restoration.permissions import RecordedBits, created

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from leafward.files.file_replay import Bases, Committed, Step
    from leafward.files.opaque_calls import Opaque
    from leafward.files.restoration.on_disk import ProjectFolder
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_ENDS = "whether it ends in a newline is not known", "how its lines end is not known"


class Action(StrEnum):
    """What becomes of a file."""

    WRITE = "write"
    CREATE = "create"
    DELETE = "delete"
    SAME = "same"
    """It already is as it was."""
    LEAVE = "leave"


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a restore."""

    path: str
    """In the project, with `/` between its parts."""
    action: Action
    """What is done without being asked for."""
    certainty: Certainty
    """Of its content at the entry."""
    base: str
    """What that rests on, as `Rebuilt.base` says it."""
    before: OnDisk
    """What lies on disk."""
    after: OnDisk | None
    """What was there at the entry; None where that is not known."""
    why: str
    """Why what lies on disk may be replaced, or why it is left."""
    offered: Action | None = None
    """What is done where it is named and overwriting is asked for; None where nothing can be done."""
    clears: tuple[tuple[str, int], ...] = ()
    """Folders with nothing left in them that make room for it, with their permissions, from the top."""
    remark: str = ""
    """What is not as it was all the same, such as permissions that were not recorded."""


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """All files that a session touched, by path."""

    folder: str
    entry: str
    """Id of the entry."""
    changes: tuple[FileChange, ...]

    def chosen(self, paths: Collection[str] = (), *, overwrite: bool = False) -> tuple[FileChange, ...]:
        """What a restore does: the safe changes, or those named; with `overwrite` also the ones offered among those named."""
        found = []
        for one in self.changes:
            if paths and one.path not in paths:
                continue
            if one.action in (Action.WRITE, Action.CREATE, Action.DELETE):
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
    """What a restore of the files at an entry would do.

    `looked` hears how many of how many files are compared with what lies on disk.

    `left_by_restores` has the SHA-256 of what earlier restores left, `committed` gives what git has of a file,
    `versions` texts that it may have had: where the calls do not show how lines end, the one that is the same in all else tells.
    """
    if at < 0:
        raise Refused("no files are recorded before the first entry")
    known = _Recorded(session, at, stop)
    then = _with_folders({path: known.then(path) for path in sorted(known.paths)})
    changes = []
    for number, (file, doubt) in enumerate(then.values()):
        if stop():
            break
        looked(number, len(then))
        changes.append(_change(known, file, doubt, folder, left_by_restores or {}, committed, versions))
    return RestorePlan(folder.path, str(session.columns.id(at)), tuple(_settled(changes, folder)))


class _Course:
    """The files at an entry, and at the end, by one order of the calls."""

    def __init__(self, session: Session, made: Sequence[Step], at: int, stop: Callable[[], bool]) -> None:
        before = [one for one in made if one.entry <= at]
        self._then = Replay(session, {}, {})
        self._then.go(before, None, stop)
        self._touched = set(self._then.files)
        self._end = self._then.branch()
        later = [one for one in made if one.entry > at]
        self._end.go(later, None, stop)
        self._made, self._later = _by_name(before), _by_name(later)
        self.paths = {*self._then.files, *self._end.files}

    def touches(self, path: str) -> bool:
        """Whether anything was told of the file before the entry."""
        return path in self._touched

    def then(self, path: str) -> Rebuilt:
        """A file at the entry: as it was left by then, or as it was seen later before anything changed it."""
        found = self._then.rebuilt(path)
        if found.certainty in KNOWN:
            return found
        return self._end.original(path) or found if not self.touches(path) else found

    def now(self, path: str) -> Rebuilt:
        """A file as it was left last."""
        return self._end.rebuilt(path)

    def doubted(self, path: str) -> bool:
        """Whether it was found changed by others after the entry, so that it may have been another one there already."""
        changed = min((one.entry for one in self._later.get(path, ()) if one.operation.changes), default=None)
        before = {entry for entry, _ in self._then.rebuilt(path).remarks}
        return any(
            what in CONTRADICTIONS and entry not in before and (changed is None or entry <= changed)
            for entry, what in self._end.rebuilt(path).remarks
        )

    def blind_since(self, file: Rebuilt, opaque: Sequence[Opaque], at: int) -> Opaque | None:
        """A call that may have changed a file behind what tells of its content at the entry."""
        names = {file.path, *file.was}
        telling = (FileOperation.READ, FileOperation.WRITE, FileOperation.DELETE)
        if not self.touches(file.path):
            first = self._first_later(names)
            touched_at = first.entry if first is not None else None
            return next(
                (one for one in opaque if at < one.entry and (touched_at is None or one.entry <= touched_at)),
                None,
            )
        seen = max(
            (
                one.entry
                for name in names
                for one in self._made.get(name, ())
                if one.path == name and one.operation in telling and one.outcome is Outcome.DONE
            ),
            default=-1,
        )
        later = self._first_later(names)
        if later is not None and later.operation is FileOperation.READ and later.outcome is Outcome.DONE:
            # It shows what was known, see `doubted`.
            seen = later.entry
        return next((one for one in opaque if seen <= one.entry <= at), None)

    def _first_later(self, names: Iterable[str]) -> Step | None:
        """The first call behind the entry that is about a file of these names."""
        found = [self._later[name][0] for name in names if name in self._later]
        return min(found, key=lambda one: one.entry, default=None)


def _by_name(made: Iterable[Step]) -> dict[str, list[Step]]:
    """Calls by the files that they name, each list in their order."""
    found: dict[str, list[Step]] = {}
    for one in made:
        for name in {one.path, one.to}:
            if name is not None:
                found.setdefault(name, []).append(one)
    return found


class _Recorded:
    """What the calls of a session tell of its files: in the order of the file, and along the path alone."""

    def __init__(self, session: Session, at: EntryIndex, stop: Callable[[], bool]) -> None:
        every = steps(session, range(len(session)), stop, sweeps=True)
        self._at = at
        self.bits = RecordedBits(session, at)
        self._opaque = opaque_calls(session, range(len(session)))
        self.every = _Course(session, every, at, stop)
        path = session.tree.path(at)
        end = session.leaf
        line = session.tree.path(end) if end >= 0 and session.tree.is_ancestor(at, end) else path
        on_line = set(line)
        self.branched = any(one.entry not in on_line for one in every)
        self.line = (
            _Course(session, steps(session, line, stop, sweeps=True), at, stop)
            if self.branched
            else self.every
        )
        self.leaf = (
            self.line
            if not self.branched or line is not path
            else _Course(session, steps(session, session.tree.path(end), stop, sweeps=True), end, stop)
        )
        self.paths = self.every.paths | self.line.paths

    def then(self, path: str) -> tuple[Rebuilt, str]:
        """A file at the entry, and why that is not certain; empty where it is."""
        found = self.every.then(path)
        on_path = self.line.then(path) if self.branched else found
        if self.branched and not self.line.touches(path) and on_path.certainty not in KNOWN:
            on_path = found
        if on_path.certainty not in KNOWN:
            why = next(
                (remark.value for _, remark in reversed(on_path.remarks)), "not read as a whole by then"
            )
            return on_path, f"{on_path.certainty.value}: {why}"
        if (found.certainty, found.text) != (on_path.certainty, on_path.text):
            return on_path, "another branch left it differently"
        if self.every.doubted(path):
            return on_path, "changed outside the session, and when is not recorded"
        blind = self.every.blind_since(found, self._opaque, self._at)
        if blind is not None:
            return (
                on_path,
                f"`{safe_line(blind.name, 40)}` ran after it was last seen, and may have changed it",
            )
        return on_path, _unsure(on_path)

    def left(self, path: str) -> list[Rebuilt]:
        """What the session left last, as far as that is known."""
        found = (self.every.now(path), self.leaf.now(path))
        return [one for one in found if one.certainty in KNOWN and _unsure(one) in ("", *_ENDS)]


def _with_folders(then: dict[str, tuple[Rebuilt, str]]) -> dict[str, tuple[Rebuilt, str]]:
    """The same with what files say of folders: where a file lies in a folder, no file has the folder's name, and the other way round."""
    there = {path for path, (file, doubt) in then.items() if file.certainty is Certainty.EXACT and not doubt}
    folders = {path[:at] for path in there for at, sign in enumerate(path) if sign == "/"}

    def cannot_be(path: str) -> bool:
        above = (path[:at] for at, sign in enumerate(path) if sign == "/")
        return path in folders or any(one in there for one in above)

    return {
        path: (replace(file, certainty=Certainty.ABSENT, text=None, base=""), "")
        if doubt and cannot_be(path)
        else (file, doubt)
        for path, (file, doubt) in then.items()
    }


def _unsure(file: Rebuilt) -> str:
    """Why the bytes of a known text are not certain; empty where they are."""
    if file.text is None:
        return ""
    if "\ufffd" in file.text and file.base != "write":
        return "it was shown with signs that stand for others"
    try:
        file.text.encode("utf-8")
    except UnicodeEncodeError:
        return "its text is no valid Unicode"
    if not file.newline:
        return _ENDS[0]
    return "" if file.ends else _ENDS[1]


def _content(file: Rebuilt) -> OnDisk | None:
    """A known content as bytes; None where no bytes make that text."""
    if file.text is None:
        return NOTHING
    try:
        return OnDisk(Presence.FILE, file.text.encode("utf-8"))
    except UnicodeEncodeError:
        return None


def _is(file: Rebuilt, disk: OnDisk) -> bool:
    """Whether what lies on disk is a content, as far as that is known."""
    if file.text is None:
        return disk.presence is Presence.ABSENT
    if disk.presence is not Presence.FILE:
        return False
    try:
        return _alike(disk.data.decode("utf-8"), file)
    except UnicodeDecodeError:
        return False


def _alike(text: str, file: Rebuilt) -> bool:
    """Whether a text is that of a file, but for what of the ends of its lines is not known."""
    known = file.text or ""
    if not file.ends:
        text, known = (one.removeprefix("\ufeff").replace("\r\n", "\n") for one in (text, known))
    if not file.newline:
        text, known = text.removesuffix("\n"), known.removesuffix("\n")
    return text == known


def _change(
    known: _Recorded,
    then: Rebuilt,
    doubt: str,
    folder: ProjectFolder,
    restored: Mapping[str, str],
    committed: Callable[[str], Committed | None],
    versions: Bases,
) -> FileChange:
    path = then.path
    unfit = unfit_name(path) or _odd(path)
    if unfit:
        return FileChange(path, Action.LEAVE, then.certainty, then.base, NOTHING, None, unfit)
    disk = folder.look(path)
    after = _content(then) if then.certainty in KNOWN else None
    if after is not None and doubt in _ENDS:
        whole = {one.text for one in versions(path) if _alike(one.text, then)}
        if len(whole) == 1:
            after, doubt = OnDisk(Presence.FILE, whole.pop().encode("utf-8")), ""
    if after is not None and after.presence is Presence.FILE:
        mode = disk.mode if disk.presence is Presence.FILE else 0o666 & ~_umask()
        after = replace(after, mode=mode)
    make = FileChange(path, Action.LEAVE, then.certainty, then.base, disk, after, doubt)
    if after is None:
        return make
    if disk.trouble:
        return replace(make, after=after, why=disk.trouble)
    if after.presence is Presence.ABSENT and disk.presence in (Presence.ABSENT, Presence.FOLDER):
        return replace(make, action=Action.LEAVE if doubt else Action.SAME)
    if after.presence is disk.presence and after.data == disk.data:
        return replace(make, action=Action.LEAVE if doubt else Action.SAME)
    if after.presence is Presence.ABSENT:
        action = Action.DELETE
    else:
        action = Action.CREATE if disk.presence in (Presence.ABSENT, Presence.FOLDER) else Action.WRITE
    if action is Action.CREATE:
        after, remark = created(after, known.bits.of(path), committed(path))
        make = replace(make, after=after, remark=remark)
    if locked := folder.locked(path):
        return replace(make, why=f"{locked} is read-only")
    if doubt:
        return replace(make, offered=action)
    why, safe = _may_go(known, path, disk, restored, committed)
    return replace(make, action=action if safe else Action.LEAVE, why=why, offered=None if safe else action)


def _may_go(
    known: _Recorded,
    path: str,
    disk: OnDisk,
    restored: Mapping[str, str],
    committed: Callable[[str], Committed | None],
) -> tuple[str, bool]:
    """Why what lies on disk may be replaced or must stay, and whether it may."""
    if disk.presence is Presence.LINK:
        return "it is a link", False
    if disk.presence is Presence.FILE and disk.names > 1:
        return "another name is the same file (a hard link)", False
    if disk.presence is Presence.FILE and not disk.mode & 0o200:
        return "it is read-only", False
    left = known.left(path)
    if disk.presence is Presence.FOLDER:
        # Who lies in it decides, see `_settled`.
        return "as the session left it", True
    if any(_is(one, disk) for one in left):
        return "as the session left it", True
    if restored.get(path) == (digest(disk.data) if disk.presence is Presence.FILE else ""):
        return "as a restore left it", True
    if disk.presence is Presence.FILE and (held := committed(path)) and held.data == disk.data:
        return "as git has it", True
    if disk.presence is Presence.ABSENT:
        return ("removed since" if left else "it is gone, and what the session left is not known"), False
    return ("changed since" if left else "what the session left is not known"), False


def _odd(path: str) -> str:
    """Why a name that may be written in an empty folder is left alone in a project; empty where it is not."""
    parts = path.split("/")
    if "\\" in path or any(part in ("", ".", "..") for part in parts):
        return "no file can have this name"
    return ""


def _settled(changes: Iterable[FileChange], folder: ProjectFolder) -> Iterable[FileChange]:
    """The same, where files that are folders now, or lie below what is a file now, are written only if what is there goes."""
    changes = list(changes)
    going = {one.path for one in changes if one.action is Action.DELETE}
    for one in changes:
        if one.action is not Action.CREATE and one.offered is not Action.CREATE:
            yield one
        elif one.before.blocked and one.before.blocked not in going:
            yield replace(one, action=Action.LEAVE, offered=None, why=f"{one.before.blocked} is a file")
        elif one.before.presence is Presence.FOLDER:
            below = folder.below(one.path)
            if below is None or not going.issuperset(below[0]) or not below[0]:
                yield replace(one, action=Action.LEAVE, offered=None, why="a folder has this name")
            else:
                yield replace(one, clears=tuple(below[1]))
        else:
            yield one


def _umask() -> int:
    """The permissions that new files do not get."""
    # There is no way to ask without setting it.
    with _ASKING:
        mask = os.umask(0o077)
        os.umask(mask)
    return mask


_ASKING = Lock()
