"""The findings of an earlier run in our cache (`stored_findings`), a file for each session, with what was read of its entries.

A file counts only while the session still begins with the bytes that it was made of: the same file as far as the system tells, with
the same pieces at its beginning, at the end of the read part and between them; a session in several files is kept where its reader goes
on from it, and each of them counts. Rows of opencode change in place, so its reader
proves that they are the same (`opencode/kept_records`); where rows cannot prove it, all records are compared, which are read then.
Damaged files count as none. Nothing is kept of an excluded project, or where a name or path looks like a secret.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import orjson

from leafward import __version__
from leafward.base.paths import cache_dir, make_private
from leafward.base.regular_files import open_regular, read_regular
from leafward.session.file_stamps import stamped
from leafward.session.foreign import ForeignFiles
from leafward.session.lines.stored_scan import packed, unpacked
from leafward.session.native_file import NativeFile
from leafward.session.transcript import TellsBytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from io import FileIO
    from pathlib import Path

    from leafward.session.file_stamps import Stamp
    from leafward.session.lines.scan import Scan
    from leafward.session.session import Session
    from leafward.session.source import Source

FORMAT = 15
"""Increased when paths are read in another way, or what a reader keeps of a file changes (`packed_values`)."""
_SMALLEST = 1 << 20
"""Bytes of a session from which on it is kept: a shorter one is read as fast."""
_STEP = 500
"""Entries that have to be read before it is written again."""
_MOST = 16
"""Sessions that are kept, those written last."""
_PIECE = 2048
_PIECES = 64
"""Pieces of the file that are compared."""


@dataclass(frozen=True, slots=True)
class KeptFindings:
    """Findings that still count."""

    scan: Scan | None
    """The entries up to them, behind which reading goes on; None for another agent's session."""
    reading: bytes
    """The kept reading of another agent's session; empty where it is read whole."""
    stored: Mapping[str, Any]
    agent: str
    """The name of the agent whose session it is."""
    entries: str
    """A digest of the entries up to them, in another agent's session; empty in a native one."""

    def lead(self, source: Source) -> None:
        """Lets a source that is not yet read go on behind what was read for them."""
        if isinstance(source, NativeFile):
            if self.scan is not None:
                source.go_on_from(self.scan)
        elif isinstance(source, ForeignFiles):
            source.go_on_from(self.reading)

    def of(self, session: Session) -> Mapping[str, Any] | None:
        """The findings, where the session that was read has the same entries up to them; else None."""
        same = self.scan is not None or _entries(session, self.stored) == self.entries
        return self.stored if same else None


def load(path: Path) -> KeptFindings | None:
    """The kept findings of a session; None where there are none that count."""
    try:
        # Several megabytes, which are copied only once.
        data = read_regular(place(path))
        begin = data.index(b"\n") + 1
        head = orjson.loads(data[:begin])
        if [head["kind"], head["format"], head["crc"]] != [_kind(), FORMAT, crc32(memoryview(data)[begin:])]:
            return None
        if not all(_is_same(path, proof) for proof in head["files"]):
            return None
        end = data.index(b"\n", begin) + 1
        kept, read = orjson.loads(data[begin:end]), data[end:]
        scan = unpacked(kept["scan"], read) if kept["scan"] is not None else None
        return KeptFindings(
            scan, b"" if scan is not None else read, kept["found"], kept["agent"], kept["entries"]
        )
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError):
        return None


class _Read(NamedTuple):
    """The reading of a session by its source, for a cache."""

    scan: dict[str, Any] | None
    """The values of the scan of a native session."""
    data: bytes
    """Its columns, or what the reader of another agent's session keeps; empty where that is nothing."""
    names: tuple[str, ...]
    end: int
    """Bytes that were read."""
    files: Mapping[Path, tuple[int, Stamp]]
    """The bytes of each file that were read, and its state then; none of rows, which prove themselves."""


def save(session: Session, stored: Mapping[str, Any] | None, read: int) -> None:
    """Keeps the findings of a session for the next run, where that is worth it; a failure loses only them."""
    if stored is None or read < _STEP or (kept := _read_by(session.source)) is None or kept.end < _SMALLEST:
        return
    others = [str(path) for path in kept.files if path != session.path]
    if _is_private(session, stored, (*kept.names, *others)):
        return
    source = session.source
    with suppress(OSError, TypeError):
        proofs = [_proof(path, *span, own=path == session.path) for path, span in kept.files.items()]
        if None in proofs:
            return
        entries = _entries(session, stored) if kept.scan is None else ""
        agent = source.agent_name if isinstance(source, ForeignFiles) else ""
        found = {"scan": kept.scan, "found": stored, "agent": agent, "entries": entries}
        rest = orjson.dumps(found) + b"\n" + kept.data
        head = {"kind": _kind(), "format": FORMAT, "crc": crc32(rest), "files": proofs}
        from leafward.base.durable import replace_file

        target = place(session.path)
        make_private(target.parent)
        replace_file(target, orjson.dumps(head) + b"\n" + rest)
        _remove_old(target.parent)


def _read_by(source: Source) -> _Read | None:
    """The reading of a source; None where no later run could rely on it."""
    if isinstance(source, NativeFile):
        scan = source.scan
        if (values := packed(scan)) is None:
            return None
        return _Read(*values, (), scan.end, {source.path: (scan.end, stamped(source.seen))})
    if not isinstance(source, ForeignFiles):
        return None
    reading = None
    # Fields of any type are kept: one that is nested too deep cannot be packed.
    with suppress(RecursionError):
        reading = source.kept_reading()
    data, names = reading if reading is not None else (b"", ())
    if _in_rows(source):
        return _Read(None, data, names, source.transcript.size, {})
    files = {path: (stamp[2], stamp) for path, stamp in source.stamps.items()}
    if len(files) > 1 and reading is None:
        # Where its reader does not go on, one of several files may change without getting longer.
        return None
    return _Read(None, data, names, sum(size for size, _ in files.values()), files)


def _in_rows(source: Source) -> bool:
    """Whether all of a session's records tell it from others, and not its file: they change without getting longer."""
    return isinstance(source, ForeignFiles) and isinstance(source.reader, TellsBytes)


def forget() -> None:
    """Drops what is kept of all sessions."""
    from shutil import rmtree

    rmtree(_folder(), ignore_errors=True)


def place(path: Path) -> Path:
    """The file for what is kept of a session."""
    return _folder() / blake2b(os.fsencode(os.path.realpath(path)), digest_size=16).hexdigest()


def _folder() -> Path:
    return cache_dir() / "findings"


def _kind() -> str:
    return f"leafward findings {__version__}"


def _proof(path: Path, end: int, seen: Stamp, *, own: bool) -> list[Any] | None:
    """The proof of the first bytes of a file that was read; None where it is another file by now."""
    with open_regular(path) as file:
        now = os.fstat(file.fileno())
        if (now.st_dev, now.st_ino) != seen[:2]:
            return None
        return [None if own else str(path), end, list(seen), _digest(file, end)]


def _is_same(path: Path, proof: Sequence[Any]) -> bool:
    """Whether a file begins with the bytes of a proof, and has grown or was not written since."""
    name, end, (device, inode, size, time), digest = proof
    with open_regular(name or path) as file:
        now = os.fstat(file.fileno())
        if (now.st_dev, now.st_ino) != (device, inode):
            return False
        written = now.st_size > size or (now.st_size, now.st_mtime_ns) == (size, time)
        return written and _digest(file, end) == digest


def _digest(file: FileIO, end: int) -> str:
    """A digest of pieces of a file's first bytes."""
    digest = blake2b(digest_size=16)
    step = max(1, (end - _PIECE) // _PIECES)
    for at in (*range(0, max(1, end - _PIECE), step), max(0, end - _PIECE)):
        file.seek(at)
        digest.update(file.read(min(_PIECE, end - at)) or b"")
    return digest.hexdigest()


def _entries(session: Session, stored: Mapping[str, Any]) -> str:
    """A digest of the entries up to some findings: kinds, ids and parents, and the lines of those that are ours."""
    columns, count = session.columns, stored["leaf"] + 1
    source, digest = session.source, blake2b(digest_size=16)
    if isinstance(source, ForeignFiles) and isinstance(source.reader, TellsBytes):
        digest.update(session.cwd.encode("utf-8", "surrogatepass"))
        digest.update(source.reader.digest(source.joined.theirs(count)))
    else:
        digest.update(columns.digest(count))
    if isinstance(source, ForeignFiles) and source.book is not None:
        # The agent's bytes are compared by `_file`, those of the sidecar here: none of its lines is in that file.
        for number, at in enumerate(source.joined.places):
            digest.update(b"%d:%b" % (at, source.book.raw(number)) if at < count else b"")
    return digest.hexdigest()


def _is_private(session: Session, stored: Mapping[str, Any], others: Sequence[str]) -> bool:
    """Whether nothing may be kept of a session: its project is excluded, or one of the names looks like a secret."""
    from leafward.base import config
    from leafward.catalogue.exclusions import Exclusion
    from leafward.redaction.redaction import Redactor

    excluded = Exclusion(config.load()[0].exclude, os.environ)
    if excluded(session.cwd) or excluded(str(session.path)):
        return True
    names = [*others, *(file[0] for file in stored["files"]), *(path for _, path in stored["moves"])]
    names += [name for _, paths in stored["prompts"] for name in paths]
    redactor = Redactor()
    redactor.text("\n".join((*names, *stored["tools"], stored["model"])))
    return bool(redactor.found)


def _remove_old(folder: Path) -> None:
    files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime_ns)
    for file in files[:-_MOST]:
        file.unlink(missing_ok=True)
