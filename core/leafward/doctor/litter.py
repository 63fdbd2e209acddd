"""Files that a killed Leafward left behind and expired copies of restores: finding and removing them.

Nothing here guesses. A file counts only by a name that only Leafward gives, in a folder where Leafward writes. It is
removed only where it has not changed for an hour by every clock of the file system, and where the process that its
name holds has ended.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Refused
from leafward.base.paths import cache_dir, data_dir, is_draft, state_dir
from leafward.base.regular_files import read_regular
from leafward.files.restoration.record import forget, outlived

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.base.config import Config

REST = 3600
"""Seconds without a change after which no process is taken to be writing a file."""
_DAY = 86_400
_DEPTH = 6
"""How many levels below a store's root a file of ours may lie."""
_WRITER = re.compile(
    r"(?:\.leafward-(?P<file>\d+)-[0-9a-f]+\.tmp|leafward-(?:demo-|bisect-)?(?P<folder>\d+)-\w{8})\Z"
)
_TEMPORARY = (
    (re.compile(r"leafward-(?:\d+-)?\w{8}\Z"), re.compile(r"copy\.sqlite(?:-wal|-shm)?\Z")),
    (re.compile(r"leafward-demo-\d+-\w{8}\Z"), re.compile(r"sessions\Z")),
    (re.compile(r"leafward-bisect-\d+-\w{8}\Z"), re.compile(r"(?:base|\d+)\Z")),
)
"""Names and contents of our temporary folders: a database copied for reading, the store of a demo, versions of a project."""
_UNSIGNED = re.compile(r"leafward-\w{8}\Z")
"""The name of a temporary folder of an earlier version."""
_OLD_INDEX = re.compile(r"catalogue\.json\w{8}\.new\Z")
_OLD_STATE = re.compile(r"\.[a-z]+\.(?:json|txt)\.\w{8}\Z")
"""Names that earlier versions gave to the index and to the application's state files during a write."""
_NOTE = "note.json"
_TRASH = "trash"


@dataclass(frozen=True, slots=True)
class Litter:
    """A file or temporary folder that a killed Leafward left, or a folder of the trash without its session."""

    path: Path
    size: int
    """Bytes; 0 for a folder."""
    stays: str = ""
    """The reason why it is not removed; empty where it may be."""
    is_folder: bool = False
    copies: bool = False
    """Whether it is the copies of a restore, which allow an undo while they exist."""
    in_use: bool = False
    """Whether a process with the number in its name runs: then it is most likely no litter at all."""


class CopyLimits(NamedTuple):
    """The limits of the copies of restores."""

    seconds: float
    size: int
    """The total size in bytes."""

    @classmethod
    def of(cls, config: Config) -> CopyLimits:
        """The configured limits."""
        return cls(config.restore_keep_days * _DAY, config.restore_keep_mb << 20)


def litter(stores: Iterable[str], now: float | None = None, copies: CopyLimits | None = None) -> list[Litter]:
    """Leftovers in our own folders and in those of sessions, by path.

    `stores` are roots of agents and folders of sessions. `copies` adds the copies of restores that exceed its limits.
    """
    moment = time.time() if now is None else now
    found: dict[Path, Litter] = {}
    for path in _left(stores):
        with suppress(OSError):
            seen = path.lstat()
            is_folder = stat.S_ISDIR(seen.st_mode)
            if is_folder or stat.S_ISREG(seen.st_mode):
                size = 0 if is_folder else seen.st_size
                why = _why_it_stays(path, seen, moment)
                found[path] = Litter(path, size, why, is_folder, in_use=_writer(path) is not None)
    if copies is not None:
        for record, size in outlived(moment, *copies):
            why = _why_it_stays(record.place, record.place.lstat(), moment)
            found[record.place] = Litter(record.place, size, why, is_folder=True, copies=True)
    return [found[path] for path in sorted(found)]


def clear(found: Iterable[Litter]) -> Iterator[Litter]:
    """Removes the litter that may go and yields all of it; `stays` holds the reason of the rest.

    Checks each once more first.
    """
    moment = time.time()
    for one in found:
        try:
            seen = one.path.lstat()
        except FileNotFoundError:
            continue
        except OSError as error:
            yield replace(one, stays=error.strerror or str(error))
            continue
        stays = one.stays or _why_it_stays(one.path, seen, moment)
        if (
            not stays
            and not one.copies
            and (stat.S_ISDIR(seen.st_mode), seen.st_size) != (one.is_folder, one.size or seen.st_size)
        ):
            stays = "it changed meanwhile"
        if stays:
            yield replace(one, stays=stays)
            continue
        try:
            if one.copies:
                forget(one.path)
            elif one.is_folder and _is_temporary(one.path):
                shutil.rmtree(one.path)
            elif one.is_folder:
                (one.path / _NOTE).unlink(missing_ok=True)
                one.path.rmdir()
            else:
                one.path.unlink()
        except OSError as error:
            yield replace(one, stays=error.strerror or str(error))
        except Refused as refused:
            yield replace(one, stays=str(refused))
        else:
            yield one


def _why_it_stays(path: Path, seen: os.stat_result, now: float) -> str:
    if hasattr(os, "geteuid") and seen.st_uid != os.geteuid():
        return "it belongs to another user"
    # A copy gets the time of its original while it is written, so the time of its last status change counts too. A time in
    # the future means that the clock was set; then the age is unknown.
    rested = now - max(seen.st_mtime, seen.st_ctime)
    if rested < REST:
        return "it changed less than an hour ago" if rested >= 0 else "its time of change is in the future"
    process = _writer(path)
    if process is not None:
        return f"process {process} may still be writing it"
    if _UNSIGNED.match(path.name) and rested < _DAY:
        # An earlier version put no process into the name, and it may still be running.
        return "it changed less than a day ago"
    return ""


def _writer(path: Path) -> int | None:
    """The process that a name holds, where a process with that number runs."""
    found = _WRITER.search(path.name)
    process = int(found["file"] or found["folder"]) if found is not None else 0
    return process if _runs(process) else None


def _runs(process: int) -> bool:
    """Whether a process with that number runs here.

    On Windows the check is not needed: an open file is not removable there.
    """
    if os.name == "nt" or process <= 0:
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _left(stores: Iterable[str]) -> Iterator[Path]:
    trash = state_dir() / _TRASH
    for folder, old in ((cache_dir(), _OLD_INDEX), (data_dir(), None), (state_dir(), _OLD_STATE)):
        for path, names in _below(str(folder)):
            for name in names:
                if is_draft(name) or (old is not None and path == folder and old.match(name)):
                    yield path / name
    yield from _half_thrown(trash)
    yield from _temporary()
    for root in dict.fromkeys(stores):
        for path, names in _below(root):
            yield from (path / name for name in names if is_draft(name))


def _temporary() -> Iterator[Path]:
    """Our folders in the system's folder for temporary files."""
    above = Path(tempfile.gettempdir())
    try:
        names = sorted(os.listdir(above))
    except OSError:
        return
    for name in names:
        if name.startswith("leafward-") and _is_temporary(above / name):
            yield above / name


def _is_temporary(path: Path) -> bool:
    """Whether a path is a temporary folder of ours that holds only files of ours."""
    for form, known in _TEMPORARY:
        if form.match(path.name):
            with suppress(OSError):
                seen = path.lstat()
                mine = not hasattr(os, "geteuid") or seen.st_uid == os.geteuid()
                names = set(os.listdir(path)) if mine and stat.S_ISDIR(seen.st_mode) else set()
                return bool(names) and all(map(known.match, names))
    return False


def _half_thrown(trash: Path) -> Iterator[Path]:
    """Leftovers in the trash: a folder without a session, or an unfinished copy of an earlier version."""
    try:
        folders = sorted(trash.iterdir())
    except OSError:
        return
    for folder in folders:
        try:
            note = json.loads(read_regular(folder / _NOTE))
            path = Path(note["path"])
            names = set(os.listdir(folder))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            with suppress(OSError):
                if folder.is_dir() and not os.listdir(folder):
                    yield folder
            continue
        part = f"{path.name}.part"
        if names == {_NOTE}:
            yield folder
        elif part in names:
            yield folder / part
        if path.name in names and os.path.lexists(path.with_name(part)):
            # After an undo that failed, the session still lies in the trash.
            yield path.with_name(part)


def _below(root: str, depth: int = _DEPTH) -> Iterator[tuple[Path, list[str]]]:
    """The files of a folder and of the folders below it; links are not followed and checkouts are skipped."""
    names: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(root) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        names.append(entry.name)
    except OSError:
        return
    yield Path(root), names
    if depth:
        for folder in sorted(folders):
            if os.path.basename(folder) not in _NOT_ENTERED:
                yield from _below(folder, depth - 1)


_NOT_ENTERED = frozenset({".git", "node_modules", "snapshot", "storage"})
"""Folders beside sessions that hold very many files; Leafward writes in none of them."""
