"""The places where Codex keeps threads: names of files, the segments of a thread, recorded names and live segments.

A thread is one file, or several after reverts: each revert begins a new segment, and the database knows the live one.
Nothing here is ever written.
"""

from __future__ import annotations

import os
import re
import sqlite3
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.agents.codex.first_program import ENDING
from leafward.agents.folders import look
from leafward.agents.storage.databases import opened_read_only
from leafward.base.regular_files import open_buffered, open_regular
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.agents.base import Stamp, Trouble

SUFFIX = ".jsonl"
COLD = ".zst"
"""Ending of a compressed rollout: `.jsonl.zst`."""
_ENDINGS = (SUFFIX, SUFFIX + COLD, ENDING)
LIVE_FOLDER = "sessions"
ARCHIVE_FOLDER = "archived_sessions"

_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_NAME = re.compile(
    rf"rollout-(\d{{4}}-\d\d-\d\d(?:T\d\d-\d\d-\d\d)?)-({_UUID})(?:_({_UUID}))?\.json(?:l(?:\.zst)?)?",
    re.ASCII,
)
_DATABASE = re.compile(r"state_(\d+)\.sqlite")
_COMPARED = 4 << 10
"""Bytes at the end of two files of one name and size that are compared."""
_DEEPEST = 6
"""Folders below a root that are entered: a year, a month and a day, and some levels that a user may have added."""


class RolloutName(NamedTuple):
    """Facts in the name of a rollout."""

    time: str
    thread: str
    segment: str
    """The id of the segment; of the first one of a thread, that of the thread."""


def named(name: str) -> RolloutName | None:
    """The facts in a file name; None for a rollout without Codex's form of name."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    time, thread, segment = found.groups()
    return RolloutName(time, thread.lower(), (segment or thread).lower())


def is_rollout(name: str) -> bool:
    """Whether a file may be one, by its ending; a document also needs Codex's form of name."""
    return name.endswith(_ENDINGS) and not (name.endswith(ENDING) and named(name) is None)


def stem(path: str) -> str:
    """A rollout's name without its endings."""
    return os.path.basename(path).removesuffix(COLD).removesuffix(SUFFIX).removesuffix(ENDING)


class Segment(NamedTuple):
    """One file of a thread. A tuple: a store has ten thousand."""

    path: str
    thread: str
    """Empty where the name does not tell it."""
    id: str
    """Its name in a `history_base`."""
    time: str
    """The time in the name: sorts segments by their beginning."""
    archived: bool
    stamp: Stamp

    @property
    def order(self) -> tuple[str, str]:
        """Sorts the segments of a thread by their beginning; ids contain a more exact time than names."""
        return self.time, self.id


def segment_of(path: str, stamp: Stamp) -> Segment:
    """A file as a segment, by its name and folder."""
    folder, name = os.path.split(path)
    return _segment(path, name, os.path.basename(folder) == ARCHIVE_FOLDER, stamp)


@dataclass(slots=True)
class RolloutShelf:
    """The rollouts of one store, by thread and segment."""

    threads: dict[str, list[Segment]] = field(default_factory=dict)
    """Segments of each thread, oldest first; the first one represents the thread in a listing."""
    segments: dict[str, Segment] = field(default_factory=dict)
    loose: list[Segment] = field(default_factory=list)
    """Files whose names contain no thread."""
    copies: list[Segment] = field(default_factory=list)
    """Plain files with other content than the file of the same name in `segments`: both continued by themselves."""

    @classmethod
    def of(cls, found: Iterable[Segment]) -> RolloutShelf:
        """Sorts files. A plain file is preferred to its compressed copy, a live file to an archived one (as in Codex).

        Of two files with one name in folders of the same kind, the one that was written last is preferred.
        """
        shelf = cls()
        best = shelf.segments
        doubles: list[Segment] = []
        for one in found:
            if not one.thread:
                shelf.loose.append(one)
                continue
            other = best.get(one.id)
            if other is None:
                best[one.id] = one
                continue
            best[one.id], double = (one, other) if _preference(one) < _preference(other) else (other, one)
            doubles.append(double)
        threads = shelf.threads
        for one in best.values():
            if one.thread in threads:
                threads[one.thread].append(one)
                threads[one.thread].sort(key=lambda piece: piece.order)
            else:
                threads[one.thread] = [one]
        shelf.copies = [one for one in doubles if _differ(one, best[one.id])]
        return shelf


def _preference(one: Segment) -> tuple[bool, bool, int, str]:
    return one.path.endswith(COLD), one.archived, -one.stamp[1], one.path


def _differ(one: Segment, other: Segment) -> bool:
    """Whether two plain files with one name continued differently: files are only appended to, so their ends tell."""
    if one.path.endswith(COLD) or other.path.endswith(COLD):
        return False
    return one.stamp[0] != other.stamp[0] or _end(one.path, *one.stamp) != _end(other.path, *other.stamp)


@lru_cache(maxsize=1024)
def _end(path: str, size: int, *_written: int) -> bytes:
    """The last bytes of a file, read once while its stamp is unchanged."""
    try:
        with open_regular(path) as file:
            file.seek(max(0, size - _COMPARED))
            return file.read(_COMPARED)
    except OSError:
        return b""


_NAMES = "session_index.jsonl"
_LOGS = frozenset({_NAMES, "history.jsonl"})
"""Codex's files of lines beside its sessions."""


def walk(root: str, trouble: list[Trouble]) -> Iterator[Segment]:
    """Every file under a root that may be a rollout: in a store only its two folders, in any other folder everything."""
    within = [os.path.join(root, name) for name in (LIVE_FOLDER, ARCHIVE_FOLDER)]
    starts = [folder for folder in within if os.path.isdir(folder)] or [root]
    folders = [(folder, 0) for folder in starts]
    while folders:
        folder, depth = folders.pop()
        above = folder.rstrip(os.sep) + os.sep
        archived = os.path.basename(folder) == ARCHIVE_FOLDER
        files, below = look(folder, _ENDINGS, trouble, into=depth < _DEEPEST)
        folders += [(above + name, depth + 1) for name in below]
        for name, stamp in files.items():
            if name not in _LOGS and is_rollout(name):
                yield _segment(above + name, name, archived, stamp)


_USUAL = len("rollout-2026-11-21T20-51-38-01a1ffe1-0201-7d71-8d93-0079405c2f2a.jsonl")


def _segment(path: str, name: str, archived: bool, stamp: Stamp) -> Segment:
    if len(name) == _USUAL and name[:8] == "rollout-" and name[27] == name[36] == name[41] == name[46] == "-":
        thread = name[28:64].lower()
        return Segment(path, thread, thread, name[8:27], archived, stamp)
    known = named(name)
    if known is None:
        return Segment(path, "", "", "", archived, stamp)
    return Segment(path, known.thread, known.segment, known.time, archived, stamp)


def home_of(path: str) -> str | None:
    """The store of a rollout: the folder above `sessions` or `archived_sessions`; None where it lies elsewhere."""
    folder = os.path.dirname(path)
    for _ in range(_DEEPEST):
        above, name = os.path.split(folder)
        if name in (LIVE_FOLDER, ARCHIVE_FOLDER):
            return above
        if above == folder:
            return None
        folder = above
    return None


def names_in(home: str) -> dict[str, str]:
    """Given names by thread: the last line of the log for each thread counts. Empty without a log."""
    found: dict[str, str] = {}
    try:
        with open_buffered(os.path.join(home, _NAMES)) as file:
            for line in file:
                body = decode_line(line) or {}
                thread, name = body.get("id"), body.get("thread_name")
                if isinstance(thread, str) and isinstance(name, str):
                    found[thread.lower()] = name
    except OSError:
        return found
    return found


class Remembered(NamedTuple):
    """Facts about a thread in the state database."""

    rollout: str
    """Base name of the live segment."""
    name: str | None
    title: str | None
    """Not the title of a sub-agent that repeats a prompt."""
    archived: bool
    parent: str | None
    """The thread that spawned it."""


def _database_of(home: str) -> str | None:
    """The state database of the newest generation."""
    best: tuple[int, str] | None = None
    try:
        for name in os.listdir(home):
            found = _DATABASE.fullmatch(name)
            if found is not None and (best is None or int(found[1]) > best[0]):
                best = int(found[1]), name
    except OSError:
        return None
    return os.path.join(home, best[1]) if best is not None else None


def remembered(home: str, threads: Iterable[str]) -> tuple[dict[str, Remembered], str | None]:
    """The facts about some threads in the database, and why it could not be read, in a few words."""
    path = _database_of(home)
    if path is None:
        return {}, None
    found: dict[str, Remembered] = {}
    try:
        with opened_read_only(path) as base:
            columns = {row[1] for row in base.execute("PRAGMA table_info(threads)")}
            if not {"id", "rollout_path"} <= columns:
                return {}, f"{os.path.basename(path)} has no table of threads"
            selected = ", ".join(
                column if column in columns else f"NULL AS {column}"
                for column in ("id", "rollout_path", "name", "title", "archived", "first_user_message")
            )
            edges = _edges(base)
            for thread in threads:
                for row in base.execute(f"SELECT {selected} FROM threads WHERE id = ?", (thread,)):  # noqa: S608  # names of our own
                    found[thread] = _row(row, edges.get(thread))
    except (sqlite3.Error, OSError) as error:
        return found, f"{os.path.basename(path)} cannot be read: {error}"
    return found, None


def called_in(home: str) -> dict[str, str]:
    """All names and titles of threads, by thread: from the log of names and the state database. Never raises."""
    found = names_in(home)
    path = _database_of(home)
    if path is None:
        return found
    try:
        with opened_read_only(path) as base:
            columns = {row[1] for row in base.execute("PRAGMA table_info(threads)")}
            for column in sorted({"name", "title"} & columns if "id" in columns else ()):
                for thread, title in base.execute(f"SELECT id, {column} FROM threads"):  # noqa: S608  # names of our own
                    if isinstance(thread, str) and isinstance(title, str):
                        found[thread.lower()] = f"{found.get(thread.lower(), '')}\n{title}"
    except (sqlite3.Error, OSError):
        return found
    return found


def _edges(base: sqlite3.Connection) -> dict[str, str]:
    try:
        rows = base.execute("SELECT child_thread_id, parent_thread_id FROM thread_spawn_edges")
        return {str(child): str(parent) for child, parent in rows}
    except sqlite3.Error:
        return {}


def _row(row: tuple[Any, ...], parent: str | None) -> Remembered:
    _, path, name, title, archived, prompt = row
    rollout = str(path or "").replace("\\", "/").rpartition("/")[2]
    if parent is not None and title == prompt:
        # Up to 0.142 the first prompt in a sub-agent's file is its parent's.
        title = None
    return Remembered(rollout, _text(name), _text(title), bool(archived), parent)


def _text(value: object) -> str | None:
    return (value.strip() or None) if isinstance(value, str) else None
