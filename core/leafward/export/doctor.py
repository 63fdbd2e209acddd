"""Problems in a session: every line is decoded, every reference followed. Nothing is repaired, nothing written."""

from __future__ import annotations

import os
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from leafward.agents.storage.lines import BLANK
from leafward.base.errors import LeafwardError, NotASession
from leafward.base.figures import counted, first_few
from leafward.base.safe_text import safe_line
from leafward.base.shown_path import no_project_folder
from leafward.export.lost_lines import lost_lines
from leafward.session.entries import (
    DAMAGE_CODE,
    DAMAGE_TEXT,
    SUBAGENT,
    Body,
    Damage,
    EntryId,
    EntryIndex,
    Kind,
    blocks_of,
    tool_calls,
)
from leafward.session.foreign import ForeignFiles
from leafward.session.lines.line_decoding import CURRENT_VERSION, decode_line
from leafward.session.messages import KNOWN_BLOCKS, did_run, edit_targets, message_in
from leafward.session.sidecar import SUFFIX, belongs_to, every_sidecar
from leafward.session.transcript import unknown_records

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from leafward.export.litter import Litter
    from leafward.session.session import Session
    from leafward.session.source import EntryLocation

_STRAYS_NAMED = 4
"""Sessions that one remark names at most."""
LONG_LINE = 1 << 20
"""Bytes of a line that earn a remark: pi and other readers hold the whole line in memory."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a session or of files beside it."""

    code: str
    """A stable word for the kind of the problem."""
    text: str
    """The problem for a person, on one line."""
    entry: EntryId | None = None
    offset: int | None = None
    """Bytes from the start of the file; None for a problem that lies in no file, such as one in a row of a database."""
    session: str | None = None
    """Path of the session, where several sessions were checked."""


def check(session: Session) -> list[Problem]:
    """Every problem of one session in file order, those of the whole file first.

    Decodes every line: lines that prove to be broken are marked in the session.
    """
    references = _References(session)
    while True:
        references.read()
        if not references.broken:
            break
        session.discredit(references.broken)
        references = _References(session)
    found = [
        *_damage(session), *_unreadable(session), *references.problems(), *references.unknown_types(),
        *_unanswered(session, references)
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


def lost_sidecars(known: Collection[Path], is_there: Callable[[str], bool]) -> Iterator[Problem]:
    """Sidecars that are not among `known` and whose session is gone, and unreadable ones. None is removed."""
    for path in every_sidecar():
        if path in known or path.suffix != SUFFIX:
            continue
        try:
            owner, lay_at = belongs_to(path)
        except NotASession as error:
            yield Problem("sidecar", safe_line(str(error), 400))
            continue
        if not is_there(lay_at):
            whose = f"{safe_line(owner.agent, 40)} session {safe_line(owner.session, 80)}"
            text = f"{whose} is gone from {safe_line(lay_at, 200)}; the changes that you made to it stay in {path}"
            yield Problem("sidecar-orphan", text)


def litter_problems(left: Iterable[Litter]) -> Iterator[Problem]:
    """Files that killed writes left behind. Files that a running process uses are left out."""
    for one in left:
        if one.in_use:
            continue
        whose = "copies of an old restore" if one.copies else "left by a write that was interrupted"
        what = f"{safe_line(str(one.path), 400)}: {whose}"
        does = (
            f"it stays for now: {one.stays}" if one.stays else "`leafward doctor --clear-litter` removes it"
        )
        yield Problem("litter", f"{what}; {does}")


def trash_problems(files: Iterable[Path]) -> Iterator[Problem]:
    """Files in the trash whose note does not say where they came from. None is removed."""
    for file in files:
        what = f"{safe_line(str(file), 400)} is in the trash, and the note beside it"
        yield Problem("trash", f"{what} does not say where it was: move it back by hand")


def stray_messages(path: str, found: Mapping[str, int]) -> Iterator[Problem]:
    """Messages in a file of many sessions that belong to none of them, by the session that they name."""
    if found:
        total = sum(found.values())
        messages = (
            "1 message names a session that is"
            if total == 1
            else f"{total:,} messages name sessions that are"
        )
        names = [safe_line(f"{name} ({count:,})", 80) for name, count in found.items()]
        text = f"{safe_line(path, 300)}: {messages} not there: {first_few(names, _STRAYS_NAMED)}"
        yield Problem("stray-messages", text)


def waiting_imports(documents: Sequence[Path]) -> Iterator[Problem]:
    """Documents that were written for an agent's import and still exist. None is removed."""
    if documents:
        number = counted(len(documents), "document is", "documents are")
        size = sum(path.stat().st_size for path in documents if path.exists())
        text = (
            f"{number} left in {safe_line(str(documents[0].parent), 200)}, {size:,} bytes: for imports that failed, or that"
            " Leafward did not run; `leafward doctor --forget` removes what is left"
        )
        yield Problem("import-left", text)


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


class _References:
    """Every reference from one entry to another, gathered in one pass over the bodies."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.broken: list[int] = []
        self.targets: list[tuple[int, str, object]] = []
        """The entry, the kind of the reference (`label`, `edit`, `kept`) and the id that it names."""
        self.calls: dict[int, dict[str, str]] = {}
        """Calls of each reply that pi would send again: the tool by call id."""
        self.dropped: set[int] = set()
        """Replies that failed or were stopped: pi leaves them out, so their calls need no result."""
        self.results: dict[int, tuple[str, str]] = {}
        """The call id and tool of each result."""
        self.unknown: dict[str, int] = {}
        """How often types occur that no pi writes that is known; readers of other agents tell of theirs themselves."""
        self.first_unknown = -1

    def read(self) -> None:
        """Decodes every line."""
        session = self.session
        kinds = session.columns.kind
        for index, body in session.bodies(range(len(session))):
            kind = Kind(kinds[index])
            if body is None:
                if kind is not Kind.MALFORMED:
                    self.broken.append(index)
                continue
            self._note(index, kind, body)

    def _note(self, index: int, kind: Kind, body: Body) -> None:
        if self.session.is_native:
            self._note_unknown(index, kind, body)
        if kind is Kind.LABEL:
            self.targets.append((index, "label", body.get("targetId")))
        elif kind is Kind.CONTEXT_EDIT:
            self.targets += [(index, "edit", name) for name in edit_targets(body)]
        elif kind is Kind.COMPACTION and body.get("firstKeptEntryId") is not None:
            self.targets.append((index, "kept", body["firstKeptEntryId"]))
        message = body.get("message")
        if not isinstance(message, dict):
            return
        if kind is Kind.ASSISTANT:
            if not did_run(message):
                self.dropped.add(index)
            else:
                blocks = blocks_of(message.get("content"))
                hosted = {str(block.get("id", "")) for block in blocks if block.get("hosted")}
                calls = {call.id: call.name for call in tool_calls(message) if call.id not in hosted}
                if calls:
                    self.calls[index] = calls
        elif kind is Kind.TOOL_RESULT:
            self.results[index] = (str(message.get("toolCallId")), str(message.get("toolName") or "a tool"))

    def _note_unknown(self, index: int, kind: Kind, body: Body) -> None:
        message = message_in(body)
        types = [block.get("type") for block in blocks_of(message.get("content"))]
        names = [f"block {type_}" for type_ in types if type_ not in KNOWN_BLOCKS]
        if kind is Kind.UNKNOWN:
            names = [
                f"role {message.get('role')}" if body.get("type") == "message" else str(body.get("type"))
            ]
        for name in (safe_line(name, 60) for name in names):
            self.unknown[name] = self.unknown.get(name, 0) + 1
        if names and self.first_unknown < 0:
            self.first_unknown = index

    def unknown_types(self) -> Iterator[Problem]:
        """One remark for all entries, roles and blocks of unknown types."""
        if self.unknown:
            columns, first = self.session.columns, EntryIndex(self.first_unknown)
            note = unknown_records(self.unknown, first, self.session.path, columns.start[first])
            yield Problem(note.code, note.text, columns.id(first), note.offset)

    def problems(self) -> Iterator[Problem]:
        """References that lead nowhere or to a wrong entry."""
        columns, tree = self.session.columns, self.session.tree
        for index, role, name in self.targets:
            target = columns.index(name) if isinstance(name, str) else EntryIndex(-1)
            key = safe_line(str(name), 60)
            code = text = ""
            if target < 0:
                code = {"label": "label-target", "edit": "edit-target", "kept": "first-kept-missing"}[role]
                text = {
                    "label": f"labels {key}, which is not in the file",
                    "edit": f"edits {key}, which is not in the file",
                    "kept": f"keeps from {key} on, which is not in the file: nothing from before it is kept",
                }[role]
            elif role == "edit" and not tree.is_ancestor(target, index):
                code, text = "edit-off-path", f"edits {key}, which is not on its own path: it has no effect"
            elif role == "kept" and not tree.is_ancestor(target, index):
                code = "first-kept-off-path"
                text = f"keeps from {key} on, which is not on its own path: nothing from before it is kept"
            elif role == "kept" and columns.kind[target] == Kind.TOOL_RESULT:
                code = "first-kept-result"
                text = f"keeps from {key} on, a tool result whose call is summarised away"
            if code:
                yield Problem(code, text, columns.id(EntryIndex(index)), columns.start[index])


@dataclass(slots=True)
class _Open:
    """The calls of a reply, and those of them that still wait for their result at the present place of a path."""

    reply: int
    number: int
    calls: set[str]


def _unmatched(session: Session, references: _References) -> tuple[dict[int, set[str]], list[int]]:
    """Calls without a result by their reply, and results without a call; each call is followed down every path below its reply."""
    tree, columns = session.tree, session.columns
    kinds = columns.kind
    above: list[tuple[int, _Open | None, list[tuple[_Open, str]]]] = []
    """Of each run of entries above: its last entry, what waits there, and the calls that have their result in it."""
    failed: dict[int, set[str]] = {}
    after_dropped: set[int] = set()
    stray: list[int] = []

    def note_failed(waiting: _Open | None) -> None:
        if waiting is not None and waiting.calls:
            missing = failed.setdefault(waiting.reply, set())
            if len(missing) < waiting.number:
                missing.update(waiting.calls)

    for run in tree.preorder:
        start, stop = tree.bounds(run)
        parent = columns.parent[start]
        while above and above[-1][0] != parent:
            # On another branch these calls still wait.
            for waiting, call in above.pop()[2]:
                waiting.calls.add(call)
        current = above[-1][1] if above else None
        answered: list[tuple[_Open, str]] = []
        lenient = parent in after_dropped
        for index in range(start, stop):
            kind = kinds[index]
            if kind == Kind.TOOL_RESULT:
                call, _ = references.results.get(index, ("", ""))
                if current is not None and call in current.calls:
                    current.calls.remove(call)
                    answered.append((current, call))
                elif not lenient:
                    stray.append(index)
            elif kind in (Kind.ASSISTANT, Kind.USER):
                note_failed(current)
                calls = references.calls.get(index)
                current = _Open(index, len(calls), set(calls)) if calls else None
                lenient = index in references.dropped
        if not tree.content_children(run):
            note_failed(current)
        if lenient:
            after_dropped.add(stop - 1)
        above.append((stop - 1, current, answered))
    return failed, stray


def _unanswered(session: Session, references: _References) -> Iterator[Problem]:
    """Calls without a result and results without a call."""
    columns = session.columns
    failed, stray = _unmatched(session, references)
    # The context that a sub-agent inherits ends with the call that started it; the parent holds that call's result.
    given = session.inherited if session.header.get("relation") == SUBAGENT else 0
    for index, missing in failed.items():
        if index < given:
            continue
        names = ", ".join(
            sorted({safe_line(references.calls[index][call], 60) or "a tool" for call in missing})
        )
        text = f"calls {names} without a result"
        yield Problem("dangling-call", text, columns.id(EntryIndex(index)), columns.start[index])
    for index in stray:
        tool = safe_line(references.results.get(index, ("", "a tool"))[1], 60)
        text = f"a result of {tool} without a call above it"
        yield Problem("dangling-result", text, columns.id(EntryIndex(index)), columns.start[index])


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
