"""Problems in a session: every line is decoded, every reference followed. Nothing is repaired, nothing written."""

from __future__ import annotations

import os
from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING

from leafward.agents.storage.lines import BLANK
from leafward.base.errors import LeafwardError
from leafward.base.figures import first_few
from leafward.base.safe_text import safe_line
from leafward.base.shown_path import no_project_folder
from leafward.doctor.lost_lines import lost_lines
from leafward.doctor.problem import Problem
from leafward.doctor.references import References, unanswered
from leafward.session.entries import (
    DAMAGE_CODE,
    DAMAGE_TEXT,
    Damage,
    EntryId,
    EntryIndex,
    Kind,
)
from leafward.session.foreign import ForeignFiles
from leafward.session.lines.line_decoding import CURRENT_VERSION, decode_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from leafward.session.session import Session
    from leafward.session.source import EntryLocation

LONG_LINE = 1 << 20
"""Bytes of a line that earn a remark: pi and other readers hold the whole line in memory."""


def check(session: Session) -> list[Problem]:
    """Every problem of one session in file order, those of the whole file first.

    Decodes every line: lines that prove to be broken are marked in the session.
    """
    references = References(session)
    while True:
        references.read()
        if not references.broken:
            break
        session.discredit(references.broken)
        references = References(session)
    found = [
        *_damage(session), *_unreadable(session), *references.problems(), *references.unknown_types(),
        *unanswered(session, references)
    ]  # fmt: skip
    if isinstance(source := session.source, ForeignFiles):
        notes = list(_notes(session))
        # A remark of the reader describes the same problem more exactly.
        noted = {(note.code, note.entry) for note in notes if note.entry is not None}
        found = [
            _placed(session, source, problem)
            for problem in found
            if (problem.code, problem.entry) not in noted
        ]
        found += [*_kept(session, source), *_lost_lines(session), *notes]
    found.sort(key=lambda problem: -1 if problem.offset is None else problem.offset)
    return [*_whole_file(session), *found]


def _placed(session: Session, files: ForeignFiles, problem: Problem) -> Problem:
    """A problem with its offset in the agent's own file; the session may have several files."""
    index = session.columns.index(problem.entry) if problem.entry is not None else -1
    if index < 0 and problem.offset is not None:
        index = bisect_left(session.columns.start, problem.offset)
    if not 0 <= index < len(session):
        return problem
    origin = session.origin(index)
    if session.is_kept(index):
        return replace(problem, text=f"{problem.text} ({KEPT})", offset=origin.offset)
    if origin.is_row:
        # A broken row still has an id, because the id is a column of its own.
        name = session.columns.id(EntryIndex(index))
        return replace(problem, text=_in_row(problem.text, origin), entry=name, offset=None)
    text = (
        f"{problem.text} ({safe_line(origin.path.name, 200)})"
        if len(files.transcript.files) > 1
        else problem.text
    )
    return replace(problem, text=text, offset=origin.offset)


def _in_row(text: str, origin: EntryLocation) -> str:
    """The text of a problem in a database, with the number of the row instead of an offset in bytes."""
    return f"{text} (row {origin.offset:,})"


KEPT = "in Leafward's own file for it"


def _kept(session: Session, files: ForeignFiles) -> Iterator[Problem]:
    """Problems in the lines of the sidecar itself."""
    for index in files.joined.places:
        if session.columns.kind[index] == Kind.MALFORMED:
            text = f"{DAMAGE_TEXT[Damage.MALFORMED]} ({KEPT})"
            yield Problem(DAMAGE_CODE[Damage.MALFORMED], text, offset=session.origin(index).offset)
    pending = files.book.scan.pending if files.book is not None else None
    if pending is not None:
        text = f"the last line is not complete: {pending.size:,} bytes without an end ({KEPT})"
        yield Problem("torn-tail", text, offset=pending.offset)


def _unreadable(session: Session) -> Iterator[Problem]:
    """Entries made of several records, of which one cannot be read: the others are shown without it."""
    columns = session.columns
    for index in range(len(session) if isinstance(session.source, ForeignFiles) else 0):
        if index not in columns.damage and any(
            record.strip(BLANK) and decode_line(record) is None for record in session.records(index)
        ):
            text = "one of the records of this entry is not a JSON object"
            yield Problem(DAMAGE_CODE[Damage.MALFORMED], text, _named(session, index), columns.start[index])


def _lost_lines(session: Session) -> Iterator[Problem]:
    """Lines that the agent numbered and that are in no file: nothing else may show that they are lost."""
    lost = lost_lines(session)
    if lost:
        entry = lost[0].before
        text = f"lines that are not in the file, by their numbers: {first_few([str(one) for one in lost], 4)}"
        yield Problem("lost-lines", text, _named(session, entry), session.origin(entry).offset)


def _notes(session: Session) -> Iterator[Problem]:
    """Remarks of the reader."""
    for note in session.source.notes:
        entry = _named(session, note.entry) if note.entry >= 0 else None
        text, offset = safe_line(note.text, 400), note.offset
        if note.entry >= 0 and (origin := session.origin(note.entry)).is_row:
            text, offset = _in_row(text, origin), None
        yield Problem(note.code, text, entry, offset)


def _whole_file(session: Session) -> Iterator[Problem]:
    """Problems of the file as a whole."""
    scan = session.scan
    if scan.header is None:
        yield Problem("no-header", "the file has no session header; pi does not open it", offset=0)
    else:
        yield from _header(session)
    if scan.bom:
        yield Problem("bom", "the file begins with a byte order mark; pi 1.5.2 does not open it", offset=0)
    roots = [
        EntryIndex(session.tree.starts[run])
        for run in session.tree.run_children.get(-1, ())
        # Below one setting pi begins again where its first prompt is edited: that is a branch.
        if session.tree.subtree_content[run]
        and session.columns.damage.get(session.tree.starts[run]) not in (Damage.ORPHAN, Damage.CYCLE)
        and session.tree.starts[run] not in session.source.side_lines
    ]
    # Other agents begin again where their first prompt is taken back.
    if session.is_native and len(roots) > 1:
        names = first_few([safe_line(session.columns.id(root), 40) for root in roots], 4)
        text = f"the conversation begins {len(roots)} times: {names}"
        yield Problem("several-roots", text, session.columns.id(roots[1]), session.columns.start[roots[1]])
    if scan.pending is not None:
        yield Problem(
            "torn-tail",
            f"the last line is not complete: {scan.pending.size:,} bytes without an end, not read as an entry",
            offset=scan.pending.offset,
        )


def _header(session: Session) -> Iterator[Problem]:
    version, offset = session.version, session.scan.header_offset
    if not isinstance(session.header.get("id"), str):
        yield Problem("no-session-id", "the header has no id; pi does not open the file", offset=offset)
    if version > CURRENT_VERSION:
        text = f"version {version} of the format is newer than {CURRENT_VERSION}; opened read-only"
        yield Problem("future-version", text, offset=offset)
    # Claude Code to 2.0 writes titles of other sessions to files that hold nothing else: nobody goes on in one.
    if not session.cwd and (session.is_native or session.place >= 0):
        yield Problem("no-cwd", "the header does not say which folder the session belongs to", offset=offset)
    elif session.cwd and not os.path.isdir(session.cwd):
        yield Problem("cwd-missing", no_project_folder(session.cwd), offset=offset)


def _damage(session: Session) -> Iterator[Problem]:
    """Damage that the scan found, and damage that only the bytes of a line show."""
    columns = session.columns
    for index, damage in columns.damage.items():
        if damage is Damage.MALFORMED and session.is_kept(index):
            continue
        text = columns.damage_text(index)
        if damage is Damage.MALFORMED and b"\0" in b"".join(session.records(index)):
            text = f"{text}: it has NUL bytes"
        yield Problem(DAMAGE_CODE[damage], text, _named(session, index), columns.start[index])
    size = len(columns)
    for index in range(size):
        end = columns.start[index + 1] if index + 1 < size else session.scan.end
        length = end - columns.start[index]
        if length > LONG_LINE and (length := session.origin(index).size) > LONG_LINE:
            text = f"the line is {length / (1 << 20):.1f} MiB long"
            yield Problem("long-line", text, _named(session, index), columns.start[index])


def _named(session: Session, index: int) -> EntryId | None:
    """The id of an entry; None where its line has no id."""
    if session.columns.kind[index] in (Kind.MALFORMED, Kind.HEADER):
        return None
    return session.columns.id(EntryIndex(index))


def _check_file(path: Path, opened: Callable[[Path], Session]) -> list[Problem]:
    """Every problem of a session file; a file that is not readable as a session is one problem."""
    try:
        session = opened(path)
    except LeafwardError as error:
        return [Problem("unreadable", str(error), session=str(path))]
    try:
        return [replace(problem, session=str(path)) for problem in check(session)]
    except OSError as error:
        return [Problem("unreadable", f"{path}: {error.strerror or error}", session=str(path))]
    finally:
        session.close()


def check_files(
    paths: Iterable[Path], opened: Callable[[Path], Session], progress: Callable[[int], object]
) -> Iterator[Problem]:
    """Every problem of many sessions, one session after the other; `progress` receives the number checked."""
    for done, path in enumerate(paths, start=1):
        yield from _check_file(path, opened)
        progress(done)
