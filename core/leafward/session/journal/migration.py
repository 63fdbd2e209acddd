"""The one exception to append-only: the first write to a version 1 or 2 file makes it a version 3 file.

The copy of the old file is in our state folder before the new one takes its name.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from leafward.base.durable import WINDOWS, draft_name, give_name, sync_folder, write_new
from leafward.base.errors import LeafwardError, Refused
from leafward.base.paths import make_private, state_dir
from leafward.base.times import iso_stamp
from leafward.session.entries import Body, EntryIndex, Kind
from leafward.session.journal.lines import Clock, encode_line
from leafward.session.journal.open_file import opened
from leafward.session.lines.abridged_lines import BOM
from leafward.session.lines.line_decoding import CURRENT_VERSION, decode_line
from leafward.session.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TYPE_FIRST = re.compile(rb'\s*\{"type":"[^"\\]*"')
_UNSAFE_IN_NAME = re.compile(r"[^A-Za-z0-9_-]")
_KEPT_AS_IT_IS = (Kind.MALFORMED, Kind.HEADER)


def backup_folder() -> Path:
    """The folder of files from before their migration."""
    return state_dir() / "backups"


def migrate(session: Session, *, now: Clock, patience: float) -> Path:
    """Replaces a version 1 or 2 file by its version 3 and returns the path of the backup. The session reads it again.

    Ids are those the session shows already. Lines change only where the migration changes them: a line that is not a whole
    object stays as it is, an unfinished last line too. The new file is written beside the old one, made durable, and read
    back: it gets the name only where its tree and every entry equal those of the session, under the lock and after one more
    check of the old file. Mode and owner stay. Raises Refused with nothing changed.
    """
    path = session.path
    if _names(path) > 1:
        raise Refused(f"{path.name} has other names (hard links), which a migrated file would not have")
    _find_broken(session)
    waiting = draft_name(path)
    backup: Path | None = None
    replaced = False
    try:
        backup = _back_up(session, now)
        write_new(waiting, _migrated_file(session))
        _take_over_mode(session, waiting)
        _verify(session, waiting)
        with opened(session, patience):
            if not WINDOWS:
                os.replace(waiting, path)
                replaced = True
        if WINDOWS:
            # Windows cannot replace an open file, so the lock has to go first.
            session.close()
            try:
                os.replace(waiting, path)
                replaced = True
            finally:
                session.reload()
        sync_folder(path.parent)
    except OSError as error:
        reason = error.strerror or str(error)
        if replaced:
            session.reload()
            raise Refused(f"{path.name} was migrated, but the disk does not confirm it: {reason}") from error
        raise Refused(f"cannot migrate {path.name}: {reason}") from error
    finally:
        with suppress(OSError):
            waiting.unlink(missing_ok=True)
        if not replaced and backup is not None:
            with suppress(OSError):
                backup.unlink(missing_ok=True)
    session.reload()
    return backup


def _names(path: Path) -> int:
    try:
        return path.stat().st_nlink
    except OSError as error:
        raise Refused(f"{path.name} is gone: {error.strerror or error}") from error


def _find_broken(session: Session) -> None:
    """Marks lines that looked whole and are broken, so that they are kept unchanged."""
    whole = (index for index, kind in enumerate(session.columns.kind) if kind not in _KEPT_AS_IT_IS)
    broken = [index for index, body in session.bodies(whole) if body is None]
    if broken:
        session.discredit(broken)


def _back_up(session: Session, now: Clock) -> Path:
    """Copies the file, durable and private, under a name with the session's id and the time."""
    folder = make_private(backup_folder())
    name = _UNSAFE_IN_NAME.sub("-", session.id)[:64]
    moment = iso_stamp(now()).replace(":", "-").replace(".", "-")
    number = 1
    while True:
        backup = folder / (f"{name}_{moment}.jsonl" if number == 1 else f"{name}_{moment}_{number}.jsonl")
        waiting = draft_name(backup)
        try:
            with session.path.open("rb") as source:
                write_new(waiting, iter(lambda: source.read(1 << 20), b""))
            give_name(waiting, backup)
        except BaseException as error:  # an interrupt too leaves no half copy
            with suppress(OSError):
                waiting.unlink(missing_ok=True)
            if not isinstance(error, FileExistsError):
                raise
            number += 1
            continue
        return backup


def _migrated_file(session: Session) -> Iterator[bytes]:
    """The version 3 text of the file."""
    columns = session.columns
    before_header = sum(1 for start in columns.start if start < session.scan.header_offset)
    for index in range(before_header):
        yield session.raw(index) + b"\n"
    yield _migrated_header(session)
    for index in range(before_header, len(columns)):
        yield migrated_line(session, index)
    if session.scan.pending is not None:
        with session.path.open("rb") as file:
            file.seek(session.scan.pending.offset)
            yield file.read(session.scan.pending.size)


def _migrated_header(session: Session) -> bytes:
    with session.path.open("rb") as file:
        file.seek(session.scan.header_offset)
        raw = file.readline().rstrip(b"\r\n").removeprefix(BOM)
    header = {**session.header, "version": CURRENT_VERSION}
    version = f'"version":{CURRENT_VERSION}'.encode()
    added = _behind_type(raw, b"," + version)
    if _is_same(decode_line(added), header):
        return added + b"\n"
    first: Body = {key: header.pop(key) for key in ("type", "version")}
    return encode_line({**first, **header})


def migrated_line(session: Session, index: int) -> bytes:
    """An entry's line with as few changes as possible: numbers and escapes of the original stay as written."""
    raw = session.raw(index)
    if session.columns.kind[index] in _KEPT_AS_IT_IS:
        return raw + b"\n"
    body = session.body(index)
    if body is None:
        raise Refused(f"{session.path.name} changed while it was read")
    for candidate in (raw, raw.replace(b'"hookMessage"', b'"custom"', 1), _with_ids(raw, body)):
        if _is_same(decode_line(candidate), body):
            return candidate + b"\n"
    first: Body = {key: body.pop(key) for key in ("type", "id", "parentId") if key in body}
    return encode_line({**first, **body})


def _is_same(one: object, other: object) -> bool:
    """Whether two decoded values are equal, nested as deep as they like."""
    waiting = [(one, other)]
    while waiting:
        left, right = waiting.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            if left.keys() != right.keys():
                return False
            waiting += [(item, right[key]) for key, item in left.items()]
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            waiting += zip(left, right, strict=True)
        elif left != right:
            return False
    return True


def _with_ids(raw: bytes, body: Body) -> bytes:
    ids = encode_line({"id": body.get("id"), "parentId": body.get("parentId")})
    return _behind_type(raw, b"," + ids.strip()[1:-1])


def _behind_type(raw: bytes, added: bytes) -> bytes:
    found = _TYPE_FIRST.match(raw)
    return raw[: found.end()] + added + raw[found.end() :] if found else raw


def _take_over_mode(session: Session, waiting: Path) -> None:
    """Gives the waiting file the mode and, where it is another's file, the owner of the original."""
    seen, made = session.source.seen, waiting.stat()
    if not WINDOWS and (seen.st_uid, seen.st_gid) != (made.st_uid, made.st_gid):
        os.chown(waiting, seen.st_uid, seen.st_gid)
    os.chmod(waiting, stat.S_IMODE(seen.st_mode))


def _verify(session: Session, waiting: Path) -> None:
    """Raises Refused unless the waiting file reads like the session: tree, marks and every entry."""
    try:
        made = Session.open(waiting)
        _find_broken(made)
    except LeafwardError as error:
        raise Refused(f"{session.path.name} is not migrated, the result would not open: {error}") from error
    try:
        old, new = session.columns, made.columns
        same = (
            made.version == CURRENT_VERSION
            and _is_same(made.header, {**session.header, "version": CURRENT_VERSION})
            and new.kind == old.kind
            and new.parent == old.parent
            and made.leaf == session.leaf
            and (made.labels, made.name) == (session.labels, session.name)
            and (made.scan.pending and made.scan.pending.size)
            == (session.scan.pending and session.scan.pending.size)
            and all(_same_entry(session, made, EntryIndex(index)) for index in range(len(old)))
        )
    finally:
        made.close()
    if not same:
        raise Refused(f"{session.path.name} is not migrated: the result would not be the same tree")


def _same_entry(session: Session, made: Session, index: EntryIndex) -> bool:
    if session.columns.kind[index] in _KEPT_AS_IT_IS:
        return session.raw(index) == made.raw(index)
    return session.columns.id(index) == made.columns.id(index) and _is_same(
        session.body(index), made.body(index)
    )
