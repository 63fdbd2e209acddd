"""The record of a restore in the state folder: its changes, with a copy of every file from before.

Each has a folder, in the order of their numbers. The manifest is written once all copies are whole and durable, and no file
of the project is touched before.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from leafward.base.durable import discarded_on_failure, draft_name, sync_folder, write_new
from leafward.base.errors import Refused
from leafward.base.paths import draft_ending, make_private, state_dir
from leafward.base.regular_files import read_regular
from leafward.base.safe_text import shell_word
from leafward.files.restoration.project_folder import FileKind, OnDisk, digest
from leafward.session.journal.lock import locked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from leafward.files.restoration.plan import RestoredFile

_MANIFEST = "manifest.json"
_VERSION = 1


class RestoreState(StrEnum):
    """The progress of a restore, or of its undo."""

    WRITING = "writing"
    """Begun; where no process is working on it, it stopped halfway."""
    DONE = "done"
    UNDOING = "undoing"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """One file that a restore changes."""

    path: str
    before: OnDisk
    """The old state without its bytes, which are in the copy."""
    before_digest: str
    after: OnDisk
    """The new state without its bytes."""
    after_digest: str
    copy: str
    """The name of the file with the old bytes; empty where there were none."""
    draft: str
    """The name of the new file while it is written."""
    clears: tuple[tuple[str, int], ...] = ()
    """Folders that were removed to make room for it, with their permissions."""

    def is_before(self, disk: OnDisk) -> bool:
        """Whether a file on disk is in its state from before the restore."""
        return (disk.presence, disk.digest, disk.mode) == (
            self.before.presence,
            self.before_digest,
            self.before.mode,
        )

    def is_after(self, disk: OnDisk) -> bool:
        """Whether a file on disk is in the state that the restore left."""
        return (disk.presence, disk.digest, disk.mode) == (
            self.after.presence,
            self.after_digest,
            self.after.mode,
        )


@dataclass(frozen=True, slots=True)
class Record:
    """One restore."""

    place: Path
    """Its folder in the state folder."""
    folder: str
    """The project's folder."""
    session: str
    """The id of the session; `entry` is that of the entry."""
    entry: str
    time: str
    """The time of its start, ISO."""
    state: RestoreState
    changes: tuple[RecordedChange, ...]
    made: tuple[str, ...]
    """Folders that it creates, from the top."""
    behind: str = ""
    """The id of the session's last entry at that time; empty where that was not recorded."""
    move: str = ""
    """The operation on the session that it belongs to; empty where it is one of its own."""

    @property
    def standing(self) -> bool:
        """Whether it is not undone."""
        return self.state is not RestoreState.UNDONE

    @property
    def number(self) -> int:
        """Its number among all restores."""
        return int(self.place.name)

    def bytes_before(self, change: RecordedChange) -> bytes:
        """The old bytes of a file. Raises Refused where the copy is damaged, OSError."""
        if not change.copy:
            return b""
        data = read_regular(self.place / change.copy)
        if digest(data) != change.before_digest:
            raise Refused(f"the copy of {change.path} in {self.place} is damaged; nothing was written")
        return data


def _restores_dir() -> Path:
    """The folder of the records."""
    return state_dir() / "restores"


@contextmanager
def exclusive() -> Iterator[Path]:
    """The folder of the records, while no other process restores or undoes. Raises Refused where one does."""
    home = make_private(_restores_dir())
    descriptor = os.open(home / "lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with locked(descriptor, "the files of a project"):
            yield home
    finally:
        os.close(descriptor)


def begin(
    home: Path,
    folder: str,
    session: str,
    entry: str,
    time: str,
    changes: Sequence[RestoredFile],
    made: Sequence[str],
    behind: str = "",
    progress: Callable[[int], object] = lambda _: None,
) -> Record:
    """Copies every file that changes and writes the manifest: on disk when it returns.

    Raises Refused where a copy fails. `progress` receives the number of copied files; an error that it raises is passed on,
    and nothing counts then.
    """
    numbers = [int(one.name) for one in home.iterdir() if one.name.isdecimal()]
    for number in numbers:
        if not (home / f"{number:06}" / _MANIFEST).exists():
            # It was killed before any file was touched, and no other process works on it.
            rmtree(home / f"{number:06}", ignore_errors=True)
    place = home / f"{max(numbers, default=0) + 1:06}"
    place.mkdir(mode=0o700)
    try:
        copied = []
        for at, one in enumerate(changes):
            progress(at)
            copied.append(_copied(place, at, one))
        progress(len(copied))
        record = Record(
            place, folder, session, entry, time, RestoreState.WRITING, tuple(copied), tuple(made), behind
        )
        store(record)
        sync_folder(home)
    except BaseException as error:
        # This includes an interrupt: copies without a record would restore nothing.
        rmtree(place, ignore_errors=True)
        if isinstance(error, OSError):
            raise Refused(
                f"no copy of the files can be kept in {home}: {error.strerror or error}; nothing was written"
            ) from error
        raise
    return record


def _copied(place: Path, at: int, change: RestoredFile) -> RecordedChange:
    """Copies the file that a change replaces, and returns the record of the change."""
    copy = ""
    if change.before.presence in (FileKind.FILE, FileKind.LINK):
        copy = f"{at:06}"
        write_new(place / copy, [change.before.data])
    after = change.after or OnDisk(FileKind.ABSENT)
    return RecordedChange(
        change.path,
        OnDisk(change.before.presence, mode=change.before.mode),
        change.before.digest,
        OnDisk(after.presence, mode=after.mode),
        after.digest,
        copy,
        draft_ending(),
        change.clears,
    )


def store(record: Record) -> None:
    """Writes the manifest whole or not at all, and durably."""
    document = {
        "version": _VERSION,
        "folder": record.folder,
        "session": record.session,
        "entry": record.entry,
        "time": record.time,
        "state": record.state.value,
        "behind": record.behind,
        "move": record.move,
        "made": list(record.made),
        "changes": [
            {
                "path": one.path,
                "before": [one.before.presence.value, one.before_digest, one.before.mode],
                "after": [one.after.presence.value, one.after_digest, one.after.mode],
                "copy": one.copy,
                "draft": one.draft,
                "clears": [list(folder) for folder in one.clears],
            }
            for one in record.changes
        ],
    }
    path = record.place / _MANIFEST
    waiting = draft_name(path)
    write_new(waiting, [json.dumps(document, indent=1).encode()])
    with discarded_on_failure(waiting):
        waiting.replace(path)
    sync_folder(record.place)


def records(folder: str | None = None) -> list[Record]:
    """All restores, of one project where it is given, in their order. Folders without a valid manifest are left out."""
    home = _restores_dir()
    try:
        names = sorted((one for one in os.listdir(home) if one.isdecimal()), key=int)
    except OSError:
        return []
    found = (_read(home / name) for name in names)
    return [one for one in found if one is not None and folder in (None, one.folder)]


def undo_command(session: str) -> str:
    """The command that undoes the last restore of a session, with its id as one word of a shell."""
    return f"leafward restore {shell_word(session)} --undo"


def halfway_words(record: Record) -> str:
    """The message about a restore that stopped halfway, with the way to put its files back."""
    undo = undo_command(record.session)
    return f"restore {record.number} of this project stopped halfway; `{undo}` puts its files back"


def interrupted(folder: str) -> Record | None:
    """The restore of a project that stopped halfway, or whose undo did; None where there is none."""
    halfway = (RestoreState.WRITING, RestoreState.UNDOING)
    return next((one for one in reversed(records(folder)) if one.state in halfway), None)


def last_left(folder: str) -> dict[str, str]:
    """SHA-256 of the project's files as restores left them; empty for a file that they removed."""
    left: dict[str, str] = {}
    for record in records(folder):
        if record.state is RestoreState.DONE:
            left.update({one.path: one.after_digest for one in record.changes})
    return left


def belonging(record: Record, move: str) -> Record:
    """The record, stored as a part of an operation on its session. Raises OSError, Refused."""
    with exclusive():
        linked = replace(record, move=move)
        store(linked)
    return linked


def outlived(now: float, seconds: float, size: int) -> list[tuple[Record, int]]:
    """Restores whose copies have expired, the oldest first, with their bytes.

    They are older than `seconds`, or beyond `size` bytes in all. A restore that stopped halfway is never one of them.
    """
    found = [(one, _size(one.place)) for one in records()]
    total = sum(taken for _, taken in found)
    gone = []
    for one, taken in found:
        if one.state in (RestoreState.WRITING, RestoreState.UNDOING):
            continue
        if now - one.place.stat().st_mtime > seconds or total > size:
            gone.append((one, taken))
            total -= taken
    return gone


def forget(place: Path) -> None:
    """Removes the copies of a restore, which prevents its undo from now on.

    Raises OSError, Refused where it is not finished.
    """
    with exclusive():
        record = _read(place)
        if record is not None and record.state in (RestoreState.WRITING, RestoreState.UNDOING):
            raise Refused("it stopped halfway, and its undo needs it")
        # Without its manifest the rest has no effect, wherever this stops.
        (place / _MANIFEST).unlink(missing_ok=True)
        rmtree(place)


def _size(place: Path) -> int:
    return sum(one.stat().st_size for one in place.iterdir() if one.is_file())


def _read(place: Path) -> Record | None:
    try:
        found = json.loads(read_regular(place / _MANIFEST))
        if found["version"] != _VERSION:
            return None
        changes = tuple(_change(one) for one in found["changes"])
        texts = [found[name] for name in ("folder", "session", "entry", "time")]
        made = tuple(found["made"])
        # Records of earlier versions lack both.
        behind, move = found.get("behind", ""), found.get("move", "")
        if not all(isinstance(one, str) for one in (*texts, *made, behind, move)):
            return None
        folder, session, entry, time = texts
        return Record(
            place, folder, session, entry, time, RestoreState(found["state"]), changes, made, behind, move
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _change(found: Any) -> RecordedChange:
    """One change of a manifest. Raises ValueError, KeyError or TypeError where it is not valid."""
    (before, before_digest, before_mode), (after, after_digest, after_mode) = found["before"], found["after"]
    texts = [found[name] for name in ("path", "copy", "draft")]
    if not all(isinstance(one, str) for one in (*texts, before_digest, after_digest)):
        raise TypeError
    path, copy, draft = texts
    if "/" in draft or "/" in copy:
        raise ValueError
    return RecordedChange(
        path,
        OnDisk(FileKind(before), mode=int(before_mode)),
        before_digest,
        OnDisk(FileKind(after), mode=int(after_mode)),
        after_digest,
        copy,
        draft,
        tuple((str(name), int(mode)) for name, mode in found["clears"]),
    )
