"""What was found of a path when it was last read, kept in the cache: agents compact one session again and again.

It counts where the files that the session was read from still begin with the very bytes that they held then, and the path goes
through the same entries; else the path is read whole. Nothing but the text of an injection is made from it: where a file was used
and what was done before is not kept.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import orjson

from leafward import __version__
from leafward.base import paths
from leafward.base.gc_pause import gc_paused
from leafward.base.regular_files import open_regular, read_regular
from leafward.compaction.injection.collection import read, reader_of, time_at
from leafward.compaction.injection.path_findings import Collected
from leafward.compaction.injection.path_reader import Stale
from leafward.session.entries import EntryIndex
from leafward.session.foreign import ForeignFiles
from leafward.session.journal.durable import replace_file

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session

_BEHIND = 200
"""Entries at the end of a path that are always read: what is appended may still belong to them."""
_WAITS = 40
"""Entries after which a call without a result was most likely broken off. Where its result comes after all, all is read."""
_STEP = 10
_WORTH = 2_000
"""Entries from which on it is worth it to keep what was found, or to keep it anew."""
_KEPT = 40
"""Sessions that something is kept of, the last ones."""
_BLOCK = 1 << 20

_File = tuple[str, int, int]
"""A file that was read, how many bytes of it, and their CRC-32."""


def collect_on(session: Session, at: int) -> Collected:
    """What `collect` finds, but for the sources of files and the actions before the last; reads what came since it was last asked."""
    place = paths.cache_dir() / "injection" / hashlib.sha256(os.fsencode(session.path)).hexdigest()[:32]
    kept = _kept(place)
    if kept is not None:
        with suppress(Stale, KeyError, TypeError, ValueError):
            found = _collected(session, at, place, kept)
            if found is not None:
                return found
    try:
        found = _collected(session, at, place, None)
    except Stale:
        found = None
    if found is None:
        from leafward.compaction.injection.collection import collect

        return collect(session, at)
    return found


def _collected(session: Session, at: int, place: Path, kept: dict[str, Any] | None) -> Collected | None:
    """What is found behind what was kept, which is brought up to date; None where that is of no use here."""
    found = Collected(EntryIndex(at), session.cwd, session.id)
    path = found.path = [EntryIndex(index) for index in session.tree.path(at)] if at >= 0 else []
    files = _files(session)
    begin = 0
    proven: list[_File] = []
    if kept is not None:
        entry = kept["entry"]
        begin = _place(path, entry)
        proven = [(name, size, crc) for name, size, crc in kept["files"]]
        if not begin or kept["columns"] != _columns(session, entry) or not _is_same(files, proven):
            return None
    elif files is None or len(path) < _WORTH:
        return None
    with gc_paused():
        reader = reader_of(session, found)
        if kept is not None:
            reader.resume(kept["state"], kept["entry"])
        until = len(path) - _BEHIND
        if files is not None and until - begin >= _WORTH:
            read(session, reader, path[begin:until])
            while until < len(path) and not reader.is_quiet(path[max(0, until - _WAITS)]):
                read(session, reader, path[until : until + _STEP])
                until += _STEP
            if until < len(path) and _in_order(path):
                last = path[until - 1]
                state = {"entry": last, "columns": _columns(session, last), "state": reader.settle()}
                _keep(place, session, files, proven, state)
            begin = until
        read(session, reader, path[begin:])
        reader.finish()
    found.time = time_at(session, path)
    return found


def _place(path: list[EntryIndex], entry: int) -> int:
    """Behind which place of a path the rest has to be read; 0 where the entry is not on it."""
    try:
        return path.index(EntryIndex(entry)) + 1
    except ValueError:
        return 0


def _in_order(path: list[EntryIndex]) -> bool:
    return all(before < behind for before, behind in pairwise(path))


def _files(session: Session) -> list[str] | None:
    """The files that a session was read from; None where one is none that is appended to, as a database is not."""
    source = session.source
    every = [*source.transcript.files] if isinstance(source, ForeignFiles) else [source.path]
    if not session.is_native and session.source.book is not None:
        every.append(session.book_path)
    if any(path.suffix != ".jsonl" for path in every):
        return None
    return [os.path.realpath(path) for path in every]


def _columns(session: Session, entry: int) -> str:
    """A digest of how the entries up to one hang together and where they lie."""
    columns, end = session.columns, entry + 1
    digest = hashlib.sha256(f"{__version__} {session.cwd}".encode("utf-8", "surrogatepass"))
    for column in (columns.kind[:end], columns.parent[:end], columns.start[:end]):
        digest.update(column)
    return digest.hexdigest()


def _is_same(files: list[str] | None, proven: list[_File]) -> bool:
    """Whether these files begin with the bytes that were read then."""
    if files != [name for name, _, _ in proven]:
        return False
    return all(_checksum(name, 0, size, 0) == crc for name, size, crc in proven)


def _checksum(name: str, begin: int, end: int, crc: int) -> int | None:
    """The CRC-32 of a file up to a byte, that of what lies before `begin` being known; None where it is shorter. Raises OSError."""
    block = bytearray(_BLOCK)
    view = memoryview(block)
    with open_regular(name) as file:
        file.seek(begin)
        while begin < end:
            size = file.readinto(view[: min(_BLOCK, end - begin)])
            if not size:
                return None
            crc = zlib.crc32(view[:size], crc)
            begin += size
    return crc


def _keep(
    place: Path, session: Session, files: list[str], proven: list[_File], state: dict[str, Any]
) -> None:
    """Keeps what was found; nothing where the files are others meanwhile than when they were read, or the disk is full."""
    known = {name: (size, crc) for name, size, crc in proven}
    with suppress(OSError):
        made: list[_File] = []
        for name in files:
            size = os.stat(name).st_size
            begin, crc = known.get(name, (0, 0))
            whole = _checksum(name, begin, size, crc)
            if whole is None:
                return
            made.append((name, size, whole))
        if session.changed_on_disk():
            return
        data = orjson.dumps({**state, "files": made})
        paths.make_private(place.parent)
        replace_file(place, hashlib.sha256(data).hexdigest().encode() + b"\n" + data)
        others = sorted(place.parent.iterdir(), key=lambda one: one.stat().st_mtime, reverse=True)
        for old in others[_KEPT:]:
            old.unlink(missing_ok=True)


def _kept(place: Path) -> dict[str, Any] | None:
    """What was kept, as it was written; None where nothing was, or other bytes lie there."""
    try:
        digest, _, data = read_regular(place).partition(b"\n")
        if digest.decode() != hashlib.sha256(data).hexdigest():
            return None
        found = orjson.loads(data)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
