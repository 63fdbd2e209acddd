"""One session of opencode as a transcript, from the database or from a tree of files."""

from __future__ import annotations

import os
import re
import sqlite3
from collections import deque
from contextlib import ExitStack, suppress
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.opencode.entries.entry_builder import EntryBuilder
from leafward.agents.opencode.entries.roles import Role
from leafward.agents.opencode.entries.translation import Translator, system_of
from leafward.agents.opencode.kept_records import (
    Changed,
    KeptRecords,
    Snapshot,
    kept_records,
    snapshot,
    take_up,
    unpacked_records,
)
from leafward.agents.opencode.lineage import ForkParent, source_of
from leafward.agents.opencode.storage import exports, trees
from leafward.agents.opencode.storage.database import Database, opened
from leafward.agents.opencode.storage.records import NEVER, Info, MessageRecord, StoredRow, by_time, object_in
from leafward.agents.opencode.storage.recovery import session_info
from leafward.agents.opencode.storage.row_changes import last_event, tells_writing
from leafward.agents.opencode.storage.row_seals import RowSeals
from leafward.agents.opencode.storage.spool import Records, Spool
from leafward.agents.storage.packed_values import packed
from leafward.base.errors import NotASession
from leafward.base.gc_pause import gc_paused
from leafward.base.times import iso_time
from leafward.session.entries import INFERRED, EntryIndex, text_at
from leafward.session.lines.line_decoding import decode_line
from leafward.session.source import EntryLocation, SourceRemark
from leafward.session.transcript import KeptReading, Transcript, unknown_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from leafward.agents.opencode.storage.surroundings import Setting
    from leafward.agents.opencode.storage.trees import Tree
    from leafward.session.entries import Body

_MADE_UP = re.compile(r"(?:new|child) session - \d{4}-\d\d-\d\dT[\d:.]+Z?", re.IGNORECASE)
"""Default titles, which neither a user nor a model chose."""
_LOOKED_AHEAD = 8
_OPEN = 4
"""Last messages that may still change: they are read again."""
FURTHER = 500
"""Entries from which on a reading is kept again."""
_TAIL_FIRST = (1, 4, 0), (1, 14, 41)
"""Versions between these, of which 1.14.34 was tried, send the kept messages of a compaction in the order of time; later ones send
them behind its summary. Versions to 1.3.2 keep none: where a session of theirs has some, a later version went on in it."""
TORN = "session-row"
"""The code of the note on a session whose row cannot be read."""


class OpenCodeReader:
    """Reads one session. Its records are copied, so that the store is left alone while the session is open."""

    translation: Translator
    """The entries as they were last read."""

    def __init__(self, setting: Callable[[], Setting]) -> None:
        self._setting = setting
        self._spool: Spool | None = None
        self._base = ExitStack()
        """The database, where the records of an earlier reading are in it alone."""
        self._keeps = False
        self._earlier: KeptRecords | None = None
        self._kept: KeptRecords | None = None

    def close(self) -> None:
        """Releases the copied records, and the database."""
        if self._spool is not None:
            self._spool.close()
        self._base.close()

    def go_on_from(self, data: bytes) -> None:
        """Takes what a reader of the same session kept; with nothing in it, only lets what is read be kept."""
        self._keeps, self._earlier = True, unpacked_records(data) if data else None

    def kept(self) -> KeptReading | None:
        """The reading, without the last messages."""
        if self._kept is None:
            return None
        return KeptReading(packed(self._kept), self._kept.snapshot.private)

    @property
    def has_gone_on(self) -> bool:
        """Whether the earlier reading still held, and only what followed was read; work counted for tests."""
        return self._spool is not None and self._spool.begin > 0

    def settled(self) -> int | None:
        """The number of entries that are kept; None where none are."""
        return self._kept.snapshot.entries if self._kept is not None else None

    def read(self, stop: Callable[[], bool]) -> Transcript:
        """Reads everything. Raises NotASession where the session is missing or unreadable."""
        setting = self._setting()
        earlier, self._earlier = self._earlier, None
        if earlier is not None and setting.database is not None:
            with suppress(Changed, sqlite3.Error, OSError):
                return self._made(_Made(setting, Spool(earlier.snapshot.spooled), earlier), stop)
        keeps = self._keeps and setting.database is not None
        return self._made(_Made(setting, Spool(), keeps=keeps), stop)

    def _made(self, made: _Made, stop: Callable[[], bool]) -> Transcript:
        with ExitStack() as base:
            try:
                with gc_paused():
                    # A hundred thousand small values are made and kept: decoding makes no cycles meanwhile.
                    transcript = made.transcript(base, stop)
            except BaseException:  # an interrupt too: the temporary file is removed
                made.spool.close()
                raise
            made.spool.finish()
            self.close()
            self._base = base.pop_all()
        self._spool, self.translation, self._kept = made.spool, Translator(made.builder), made.kept
        return transcript

    def records(self, index: int) -> list[bytes]:
        """The message and parts of an entry."""
        translator = self.translation
        return [translator.records.data(number) for number in translator.numbers(index)]

    def digest(self, entries: int) -> bytes:
        """A digest of the first entries and all records up to theirs; where they are kept, the name of what is kept."""
        if self._kept is not None:
            return self._kept.name
        translator = self.translation
        return translator.columns.digest(entries) + translator.records.digest(translator.records_end(entries))

    def is_newer(self, index: int) -> bool:
        """Whether an entry was made by the newer engine, whose messages the usual one ignores (opencode 1.18.33)."""
        return self.translation.is_newer(index)

    def origin(self, index: int) -> EntryLocation:
        """The file of its first record, or the row in the database."""
        translator = self.translation
        number = translator.numbers(index)[0]
        records = translator.records
        path = Path(records.path(number))
        return EntryLocation(path, records.row[number], records.size[number], is_row=records.in_database)


class _Made:
    """A transcript while it is being made."""

    def __init__(
        self, setting: Setting, spool: Spool, earlier: KeptRecords | None = None, *, keeps: bool = False
    ) -> None:
        """`earlier`: what it goes on from; `keeps`: whether a later reading shall go on from it."""
        self.setting = setting
        self.spool = spool
        self.kept = earlier
        """The part of a reading that a later one can go on from."""
        self._seals = RowSeals() if keeps or earlier is not None else None
        self._snapshot: Snapshot | None = None
        self.notes = list(setting.notes)
        self.builder = EntryBuilder(Records(spool))
        self._revert = b""
        self._staged = False
        """Whether the newer engine took something back: it stays in the conversation until it is deleted."""

    def transcript(self, base: ExitStack, stop: Callable[[], bool]) -> Transcript:
        """The transcript. A database is held open by `base` where records are in it alone; then raises Changed, sqlite3.Error."""
        if self.kept is not None:
            return self._from_earlier(self.kept, base, stop)
        if self.setting.database is not None:
            return self._from_database(stop)
        return self._from_export(self.setting.export, stop) if self.setting.export else self._from_tree(stop)

    def _from_earlier(self, earlier: KeptRecords, held: ExitStack, stop: Callable[[], bool]) -> Transcript:
        path, session = str(self.setting.database), self.setting.session
        base = held.enter_context(opened(path))
        # Everything is read as of one moment.
        base.ask("BEGIN")
        info = session_info(base, session)
        if info is None or info.torn:
            raise Changed
        self.builder, self._seals = take_up(base, info, earlier)
        records = Records(self.spool, path, self._seals)
        records.begin_behind(earlier.record(base))
        self._revert = info.revert.encode("utf-8", "surrogatepass")
        if not self.builder.go_on(records, *_hidden(info)):
            raise Changed
        self._weave(base.messages(session, path, self._broken, earlier.snapshot.last), stop)
        self._keep(base, info, earlier.source)
        return self._in_database(info, earlier.source)

    def _from_database(self, stop: Callable[[], bool]) -> Transcript:
        path, session = str(self.setting.database), self.setting.session
        info = Info(session)
        source: ForkParent | None = None
        changed = self.setting.watched()
        try:
            with opened(path) as base:
                base.ask("BEGIN")
                info = session_info(base, session) or info
                if info.created is None:
                    raise NotASession(f"{path} holds no session {session}")
                if info.torn:
                    text = f"its row in {path} cannot be read: its title and source are not known"
                    self.notes.append(SourceRemark(TORN, text, path=Path(path), lost=True))
                self._staged = base.is_newer(text_at(object_in(info.revert), "messageID"))
                self._begin(info, path)
                self._weave(merged(base, session, path, self._broken, self.notes), stop)
                source = self._source(info, base.times, lambda name: base.messages(name, path, _silent))
                if len(self.notes) == len(self.setting.notes) and tells_writing(base, session):
                    self._keep(base, info, source)
        except sqlite3.Error as error:
            if not len(self.builder.columns):
                raise NotASession(f"cannot read {path}: {error}") from error
            text = f"what follows cannot be read: {error}"
            self.notes.append(SourceRemark("database", text, path=Path(path), lost=True))
            self.builder.end()
        except OSError as error:
            raise NotASession(f"cannot read {path}: {error.strerror or error}") from error
        made = self._in_database(info, source)
        made.changed = changed
        return made

    def _in_database(self, info: Info, source: ForkParent | None) -> Transcript:
        self._half_imported(info)
        path = str(self.setting.database)
        made = self._transcript(info, source, (Path(path),))
        made.beside = (Path(f"{path}-wal"),)
        return made

    def _keep(self, base: Database, info: Info, source: ForkParent | None) -> None:
        """Notes what a later reading can go on from."""
        if self._snapshot is not None and self._seals is not None:
            event = last_event(base, info.id)
            self.kept = kept_records(self._snapshot, self._seals, event, info, source, self.kept)

    def _from_tree(self, stop: Callable[[], bool]) -> Transcript:
        tree = self.setting.tree
        if tree is None:
            raise NotASession("no files of a session")
        try:
            data = trees.read(tree.info)
        except OSError as error:
            raise NotASession(f"cannot read {tree.info}: {error.strerror or error}") from error
        info = trees.info_in(data, tree.info)
        near = info.created or info.updated or os.stat(tree.info).st_mtime_ns // 1_000_000
        if decode_line(data) is None:
            problem = (
                "is empty" if not data.strip(b"\0 \r\n\t") else "is not a session: it is not a JSON object"
            )
            if not trees.names_in(os.path.join(tree.messages, info.id)):
                raise NotASession(f"{tree.info} {problem}")
            self.notes.append(
                SourceRemark("info-broken", f"{tree.info} {problem}", path=Path(tree.info), lost=True)
            )
        self._begin(info, None)
        self._weave(trees.messages(tree, info.id, near, self._broken), stop)
        source = self._source(
            info,
            lambda name: [record.message.created for record in self._other(tree, name)],
            lambda name: self._other(tree, name),
        )
        return self._transcript(info, source, _watched(tree, info.id))

    def _from_export(self, path: str, stop: Callable[[], bool]) -> Transcript:
        try:
            document = exports.document_in(path)
        except OSError as error:
            raise NotASession(f"cannot read {path}: {error.strerror or error}") from error
        if document is None:
            raise NotASession(
                f"{path} is an export of opencode that is damaged or cut off: it is no JSON object"
            )
        info = exports.info_in(document, path)
        near = info.created or info.updated or os.stat(path).st_mtime_ns // 1_000_000
        self._begin(info, None)
        self._weave(exports.messages(document, path, near, self._broken), stop)
        return self._transcript(info, None, (Path(path),))

    def _other(self, tree: Tree, session: str) -> Iterator[MessageRecord]:
        return trees.messages(tree, session, 0, _silent)

    def _begin(self, info: Info, database: str | None) -> None:
        hide_from, hide_part = _hidden(info)
        self._revert = info.revert.encode("utf-8", "surrogatepass")
        self.builder = EntryBuilder(
            Records(self.spool, database, self._seals),
            hide_from="" if self._staged else hide_from,
            # Versions without a database take back the whole message (1.1.53).
            hide_part=hide_part if database is not None or self.setting.export else "",
            tail_first=_sends_tail_first(info.version),
        )

    def _broken(self, name: str, error: Exception) -> None:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        self.notes.append(
            SourceRemark("unreadable-record", f"{name} cannot be read: {reason or error}", lost=True)
        )

    def _weave(self, messages: Iterable[MessageRecord], stop: Callable[[], bool]) -> None:
        builder, setting = self.builder, self.setting
        stream = iter(messages)
        head: list[MessageRecord] = []
        for record in islice(stream, 0 if len(builder.columns) else _LOOKED_AHEAD):
            head.append(record)
            body = decode_line(record.message.data) or {}
            if body.get("role") == "assistant":
                if system_of(body):
                    builder.system(record)
                break
        begun, last = len(builder.columns), None
        waiting: deque[MessageRecord] = deque()
        for record in _chained(head, stream):
            if stop():
                break
            waiting.append(record)
            if len(waiting) > _OPEN:
                first = waiting.popleft()
                builder.take(first)
                last = by_time(first) if first.removed == NEVER else last
        all_live = all(record.removed == NEVER for record in waiting)
        if (
            self._seals is not None
            and last is not None
            and all_live
            and len(builder.columns) - begun >= FURTHER
        ):
            self._snapshot = snapshot(builder, last, self._seals)
        for record in waiting:
            builder.take(record)
        builder.end()
        if builder.hidden:
            place = (
                setting.database or setting.export or (setting.tree.info if setting.tree is not None else "")
            )
            builder.marked(StoredRow(f"revert-{setting.session}", 0, self._revert, place))

    def _source(
        self,
        info: Info,
        times: Callable[[str], list[int]],
        messages_of: Callable[[str], Iterator[MessageRecord]],
    ) -> ForkParent | None:
        """The session that this one was copied from; None where no other begins with the same messages."""
        builder = self.builder
        if info.parent is not None or not len(builder.times):
            return None
        siblings = self.setting.siblings(info, builder.times[0])
        return source_of(info.id, list(builder.times), siblings, times, messages_of) if siblings else None

    def _half_imported(self, info: Info) -> None:
        folder = self.setting.copy(info)
        if folder is None:
            return
        known = set(self.builder.columns.other_ids.values())
        missing = [name for name in trees.names_in(folder) if name.removesuffix(trees.SUFFIX) not in known]
        if missing:
            text = f"{folder} holds {len(missing):,} messages of this session that are not in the database"
            self.notes.append(SourceRemark("half-imported", text, path=Path(folder)))

    def _transcript(self, info: Info, source: ForkParent | None, files: tuple[Path, ...]) -> Transcript:
        builder, revert = self.builder, object_in(info.revert)
        name = text_at(revert, "messageID")
        if self._staged:
            text = f"files were reverted to {name}; the conversation keeps everything until the revert is confirmed"
            self.notes.append(SourceRemark("revert-staged", text))
        elif builder.part_missing:
            text = f"the revert begins at {text_at(revert, 'partID')}, which is not in {name}: that message stays whole"
            self.notes.append(SourceRemark("revert-target", text))
        elif revert and not builder.hidden:
            text = f"the revert begins at {name}, which is not here: it has no effect"
            self.notes.append(SourceRemark("revert-target", text))
        if info.compacting:
            self.notes.append(
                SourceRemark(
                    "compacting", "a compaction began and has not ended: it is running, or it crashed"
                )
            )
        for entry, name in builder.dangling:
            text = f"keeps from {name} on, which is not here: everything before is kept as well"
            self.notes.append(SourceRemark("tail-missing", text, EntryIndex(entry)))
        if builder.unknown:
            record = builder.low[builder.first_unknown]
            if builder.role[builder.first_unknown] == Role.OTHER:
                record = builder.message[builder.first_unknown]
            place = Path(builder.records.path(record))
            self.notes.append(
                unknown_records(builder.unknown, builder.first_unknown, place, builder.records.row[record])
            )
        inherited = 0
        if source is not None:
            whole = source.shared >= len(builder.begins)
            inherited = len(builder.columns) if whole else builder.begins[source.shared]
        return Transcript(
            self._header(info, source),
            builder.columns,
            EntryIndex(builder.leaf),
            files,
            self.spool.size,
            self.notes,
            None,
            inherited,
        )

    def _header(self, info: Info, source: ForkParent | None) -> Body:
        header: Body = {
            "type": "session",
            "id": info.id,
            "timestamp": iso_time(info.created),
            "cwd": info.directory or self.builder.folder,
            "archived": bool(info.archived),
        }
        name = named(info.title)
        if name is not None:
            header["title"] = name
        for key, value in (
            ("agentVersion", info.version),
            ("project", info.project),
            ("slug", info.slug),
            ("share", info.share),
        ):
            if value:
                header[key] = value
        inferred = source.session if source is not None else None
        above = info.parent or info.source or inferred
        if above is not None:
            header["parentSession"] = self.setting.path_of(above) or above
            header["relation"] = info.relation or INFERRED
        return header


def _hidden(info: Info) -> tuple[str, str]:
    """The message and the part at which a revert begins."""
    revert = object_in(info.revert)
    return text_at(revert, "messageID"), text_at(revert, "partID")


def named(title: str) -> str | None:
    """A title with content; None for opencode's default title."""
    return title if title.strip() and not _MADE_UP.fullmatch(title.strip()) else None


def merged(
    base: Database,
    session: str,
    path: str,
    broken: Callable[[str, Exception], object],
    notes: list[SourceRemark],
) -> Iterator[MessageRecord]:
    """The messages of a session by time, including deleted ones; `broken` is called for unreadable parts."""
    removed: list[MessageRecord] = []
    try:
        removed = base.removed(session, path)
    except sqlite3.DatabaseError as error:
        notes.append(
            SourceRemark("events", f"deleted messages cannot be looked for: {error}", path=Path(path))
        )
    return merge(base.messages(session, path, broken), removed, key=by_time)


def _sends_tail_first(version: str) -> bool:
    """Whether the kept messages of a compaction are sent before its summary, by the version that began the session."""
    found = re.match(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})", version)
    first, end = _TAIL_FIRST
    return found is not None and first <= tuple(map(int, found.groups())) < end


def _chained(head: list[MessageRecord], rest: Iterator[MessageRecord]) -> Iterator[MessageRecord]:
    while head:
        yield head.pop(0)
    yield from rest


def _silent(_name: str, _error: Exception) -> None:
    """Ignores an unreadable part of a session that is only compared."""


def _watched(tree: Tree, session: str) -> tuple[Path, ...]:
    """The files and folders that change when a session continues: its own, and the last message's."""
    found = [tree.info]
    folder = os.path.join(tree.messages, session)
    names = trees.names_in(folder)
    if names:
        found += [folder, os.path.join(folder, names[-1])]
        parts = tree.parts_of(session, names[-1].removesuffix(trees.SUFFIX))
        if os.path.isdir(parts):
            found += [parts, *(os.path.join(parts, name) for name in trees.names_in(parts))]
    return tuple(map(Path, found))
