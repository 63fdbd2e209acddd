"""A copy of a session without its secrets, in the agent's own format: its reader opens it as the original.

Lines that hold no secret are copied byte for byte. The original is only read.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from leafward.agents.recognition import excerpt
from leafward.agents.registry import agent_named
from leafward.base.durable import discarded_on_failure, draft_name, write_new
from leafward.base.errors import NotASession, Refused, not_written
from leafward.base.paths import private_folder, temporary_prefix
from leafward.base.regular_files import read_regular
from leafward.base.safe_text import safe_line
from leafward.base.unpacking import CannotUnpack, packed, unpacked
from leafward.redaction.redaction import Redactor, redact
from leafward.session.journal.creation import create_from

if TYPE_CHECKING:
    from collections import Counter

    from leafward.agents.base import Excerpt
    from leafward.catalogue.cards.card import Card

_PACKED = ".zst"
_LINES = (".jsonl",)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


@dataclass(frozen=True, slots=True)
class Sanitised:
    """The result of making a copy, or of a dry run of it."""

    path: Path
    """The copy of the session itself."""
    files: tuple[Path, ...]
    """Every file of the copy."""
    size: int
    """Total size of the files in bytes."""
    redacted: Counter[str]
    """Distinct secrets removed, by kind."""
    untouched: tuple[Path, ...]
    """Files that are not text, copied unchanged."""


def sanitise(card: Card, folder: Path, *, dry_run: bool) -> Sanitised:
    """Writes a copy of a session and of all that belongs to it into `folder`, each secret in it replaced by its kind.

    Raises Refused where a file of that name is there, and where the session cannot be read or the copy not be written.
    """
    agent = agent_named(card.agent)
    folder = folder.expanduser().absolute()
    try:
        taken_out = excerpt(card.path)
        if taken_out is not None:
            return _database(taken_out, folder, card.path, dry_run)
        belongings = agent.belongings(card.path)
    except (OSError, NotASession) as error:
        raise _failed("read", card.path, error) from error
    if not belongings:
        raise Refused(f"{agent.title} has no file of this session that could be copied")
    scan = Redactor(clean=set())
    for file, _ in belongings:
        _redacted(file, _bytes_of(file), scan)
    redactor = Redactor(named=scan.named)
    targets = [folder / redactor.text(name) for _, name in belongings]
    taken = next((target for target in targets if os.path.lexists(target)), None)
    if taken is not None:
        raise Refused(f"a file of that name exists: {safe_line(str(taken), 400)}")
    size, untouched = 0, []
    # Of a copy that fails nothing stays, or the next try would find its name taken.
    with contextlib.ExitStack() as on_failure:
        for (file, _), target in zip(belongings, targets, strict=True):
            original = _bytes_of(file)
            made = _redacted(file, original, redactor)
            if made is None:
                untouched.append(target)
                made = original
            size += len(made)
            if not dry_run:
                try:
                    on_failure.enter_context(private_folder(target.parent))
                except OSError as error:
                    raise Refused(not_written(target, error)) from error
                create_from(target, draft_name(target), [made])
                on_failure.enter_context(discarded_on_failure(target))
    return Sanitised(targets[0], tuple(targets), size, redactor.found, tuple(untouched))


def _bytes_of(file: str) -> bytes:
    try:
        return read_regular(file)
    except OSError as error:
        raise _failed("read", file, error) from error


def _redacted(name: str, data: bytes, redactor: Redactor) -> bytes | None:
    """The bytes of a file without secrets; None where the file is not text."""
    if name.endswith(_PACKED):
        try:
            plain = b"".join(unpacked(io.BytesIO(data)))
        except CannotUnpack:
            return None
        made = _redacted(name[: -len(_PACKED)], plain, redactor)
        return data if made == plain else None if made is None else packed(made)
    if b"\0" in data[:8192]:
        return None
    if name.endswith(_LINES):
        return b"\n".join(_line(line, redactor) for line in data.split(b"\n"))
    return _line(data, redactor)


def _line(line: bytes, redactor: Redactor) -> bytes:
    """A line without secrets, be it a JSON document or other text.

    A line that holds none stays the same to the byte.
    """
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            text = line.decode("utf-8", "surrogateescape")
            return redactor.text(text).encode("utf-8", "surrogateescape")
    if not isinstance(value, (dict, list)):
        text = line.decode("utf-8", "surrogateescape")
        return redactor.text(text).encode("utf-8", "surrogateescape")
    found: list[str] = []
    redactor.report = lambda kind, _: found.append(kind)
    made = redactor.value(value)
    redactor.report = None
    if not found:
        return line
    return json.dumps(made, ensure_ascii=not _encodable(made), separators=(",", ":")).encode()


def _encodable(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _database(taken_out: Excerpt, folder: Path, path: str, dry_run: bool) -> Sanitised:
    """A copy of a session that lies in a database: a database with only its rows, every text in them redacted."""
    target = folder / redact(taken_out.name)
    if os.path.lexists(target):
        raise Refused(f"a file of that name exists: {safe_line(str(target), 400)}")
    # The rows are copied as they are and redacted then: never in a folder that is to be shared, where a kill would leave them.
    private = Path(tempfile.mkdtemp(prefix=temporary_prefix()))
    try:
        plain = private / "copy.sqlite"
        write_new(plain, ())
        taken_out.write(plain)
        redactor = _redact_rows(plain)
        made = read_regular(str(plain))
    except (OSError, sqlite3.Error) as error:
        raise _failed("write to", str(private), error) from error
    finally:
        shutil.rmtree(private, ignore_errors=True)
    if not dry_run:
        create_from(target, draft_name(target), [made])
    return Sanitised(target / redactor.text(os.path.basename(path)), (target,), len(made), redactor.found, ())


def _redact_rows(path: Path) -> Redactor:
    """Redacts every text in a database; what was removed is counted in the returned redactor."""
    redactor = Redactor()
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA secure_delete = ON")
        tables = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        # Twice: only then are the secrets known that a later row names.
        for table in tables * 2:
            for row in base.execute(f"PRAGMA table_info({_quoted(table)})").fetchall():
                _redact_column(base, table, row[1], redactor)
        base.commit()
        # Freed pages still hold the old texts.
        base.execute("VACUUM")
    return redactor


def _redact_column(base: sqlite3.Connection, table: str, column: str, redactor: Redactor) -> None:
    # All rows are read first: otherwise the query would return the rows that the loop updates.
    rows = base.execute(
        f"SELECT rowid, {_quoted(column)} FROM {_quoted(table)} WHERE typeof({_quoted(column)}) = 'text'"  # noqa: S608
    ).fetchall()
    for row, text in rows:
        plain = _line(text.encode("utf-8", "surrogatepass"), redactor).decode("utf-8", "surrogatepass")
        if plain != text:
            base.execute(
                f"UPDATE {_quoted(table)} SET {_quoted(column)} = ? WHERE rowid = ?",  # noqa: S608
                (plain, row),
            )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _failed(what: str, path: str, error: Exception) -> Refused:
    if isinstance(error, NotASession):
        return Refused(str(error))
    if isinstance(error, OSError) and error.errno in _FULL:
        # Reading copies the database into a folder of its own.
        what = "write to"
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    whose = error.filename if isinstance(error, OSError) and isinstance(error.filename, str) else path
    return Refused(f"cannot {what} {safe_line(whose, 400)}: {safe_line(reason)}")
