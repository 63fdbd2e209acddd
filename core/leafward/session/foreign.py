"""Sessions that another agent wrote: the same tree over its own files, with bodies translated on demand.

An agent's reader makes columns of the entries it finds, as a scan of a native file does, and can translate a single entry.
Nothing of the agent's is ever written, locked or left behind in its folders.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from leafward.base.errors import NotASession
from leafward.session.entries import NO_ENTRY, SUBAGENT, Body, Damage, EntryIndex, Kind, read_usage, text_at
from leafward.session.file_stamps import Watched
from leafward.session.lines.entry_decoding import Entry
from leafward.session.lines.scan import Scan
from leafward.session.messages import usage_of
from leafward.session.sidecar import AFTER, Owner, Sidecar, joined, position_in
from leafward.session.source import EntryLocation, Growth, SourceRemark
from leafward.session.transcript import ReadsOn, TellsBytes, TellsWindow

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from leafward.session.columns import Columns
    from leafward.session.entries import Usage
    from leafward.session.file_stamps import Stamp
    from leafward.session.native_file import NativeFile
    from leafward.session.session import Session
    from leafward.session.transcript import KeptReading, Reader


class ForeignFiles:
    """The files of another agent's session, which are only read, and our sidecar, which holds every change to it."""

    def __init__(self, path: Path, agent_name: str, tools: object, reader: Callable[[], Reader]) -> None:
        """The agent's name is that of its sidecar folder; `tools` is its tool table (`files.tool_calls.ToolTable`)."""
        self.path = path
        self.agent_name = agent_name
        self.tools = tools
        self.gone = False
        self._make_reader = reader
        self.reader = reader()
        self.scan = Scan()
        self._files = Watched()
        self.sidecar = Sidecar(Owner(agent_name, str(path)))
        """Its owner is known once the session was read."""

    def close(self) -> None:
        """Closes the reader and the sidecar."""
        self.reader.close()
        self.sidecar.close()

    def go_on_from(self, data: bytes) -> None:
        """Lets the first reading go on from what another process kept of the same file."""
        if isinstance(self.reader, ReadsOn):
            self.reader.go_on_from(data)

    def kept_reading(self) -> KeptReading | None:
        """The reading of the agent's file, for a later process; None where none can go on from there."""
        return self.reader.kept() if isinstance(self.reader, ReadsOn) else None

    @property
    def stamps(self) -> Mapping[Path, Stamp]:
        """The files of the session, each as it was right behind the last reading."""
        return self._files.stamps

    def read(self, stop: Callable[[], bool], publish: Callable[[Scan], object]) -> int:
        """Reads everything again; returns the number of entries."""
        known = len(self.scan.columns)
        try:
            found = self.reader.read(stop)
            self._files = Watched(found.files, found.beside)
            self.seen = os.stat(found.files[0])
        except OSError as error:
            raise NotASession(f"cannot read {self.path}: {error.strerror or error}") from error
        self.transcript = found
        self._join()
        publish(self.scan)
        return len(self.columns) - known

    def _join(self) -> None:
        """Merges the sidecar's entries into the agent's entries as they were last read."""
        session_id = self.transcript.header.get("id")
        owner = Owner(
            self.agent_name,
            session_id if isinstance(session_id, str) and session_id else os.path.realpath(self.path),
        )
        if self.sidecar.owner != owner:
            self.sidecar.close()
            self.sidecar = Sidecar(owner)
        self.sidecar.read()
        self._combine()

    def _combine(self) -> None:
        """Makes one session of the agent's entries and the sidecar's."""
        found = self.transcript
        self.joined = joined(found.columns, found.leaf, found.size, self.sidecar)
        self.hoisted = self.joined.spread(found.hoisted)
        place = self.joined.place
        self.kept_until: Mapping[EntryIndex, EntryIndex] = {
            place(entry): place(last) for entry, last in found.kept_until.items()
        }
        self.changed_outside: Mapping[EntryIndex, str] = {
            place(entry): name for entry, name in found.changed_outside.items()
        }
        self.side_lines: Collection[EntryIndex] = frozenset(map(place, found.side_lines))
        self.missing: Mapping[EntryIndex, tuple[str, ...]] = {
            place(entry): names for entry, names in found.missing.items()
        }
        self.scan = scan = Scan.of(self.joined.columns, found.header, self.joined.leaf, found.size)
        scan.pending, scan.header_offset = found.pending, 0

    @property
    def columns(self) -> Columns:
        """All entries: the agent's with the sidecar's among them."""
        return self.scan.columns

    @property
    def header(self) -> Body:
        """The values of a native header."""
        return self.scan.header or {}

    def given_name(self) -> str | None:
        """The session's name: the user's own in the sidecar, else that of the agent's last line, else the header's."""
        book = self.book
        if book is not None and (name := book.given_name()) is not None:
            return name
        kinds = self.columns.kind
        at = kinds.rfind(Kind.SESSION_INFO)
        while at >= 0 and self.is_kept(at):
            at = kinds.rfind(Kind.SESSION_INFO, 0, at)
        for record in ((self.body(at) or {}) if at >= 0 else {}, self.header):
            title = record.get("name")
            if isinstance(title, str) and title.strip():
                return title.strip()
        return None

    def changed_on_disk(self) -> bool:
        """Whether one of its files or its sidecar changed since it was read; a stat for each."""
        return self._theirs_changed() or self.sidecar.changed()

    def _theirs_changed(self) -> bool:
        changed = self._files.changed(self.transcript.changed)
        self.gone = self._files.gone
        return changed

    def refresh(self) -> Growth | None:
        """Reads the changes; None where there are none. The session has grown where all older entries are the same."""
        theirs = self._theirs_changed()
        if not theirs and not self.sidecar.changed():
            return None
        # A reader may add appended entries to its existing columns.
        before = bytes(self.columns.kind), bytes(self.columns.ids), self.columns.parent[:]
        scan = self.scan
        if theirs:
            self.read(lambda: False, lambda _scan: None)
        else:
            self._join()
        continues = _continues(before, self.columns)
        if continues:
            scan.go_on_as(self.scan)
            self.scan = scan
        return Growth(max(0, len(self.columns) - len(before[0])), replaced=not continues)

    def reload(self) -> Growth:
        """Reads everything again from the same path. The old data stays where that is no longer a session."""
        before = self.reader
        self.reader = self._make_reader()
        try:
            growth = Growth(self.read(lambda: False, lambda _scan: None), replaced=True)
        except NotASession:
            self.reader.close()
            self.reader = before
            raise
        before.close()
        return growth

    # --- sidecar ---

    @property
    def read_only(self) -> str | None:
        """The reason why nothing can be written to the sidecar; None where it can. The agent's files are never written to."""
        return self.sidecar.read_only

    @property
    def book(self) -> NativeFile | None:
        """The sidecar; None while it has no entry."""
        return self.sidecar.book

    @property
    def book_path(self) -> Path:
        """The path of the sidecar, which may not exist yet."""
        return self.sidecar.path

    def book_header(self, time: str) -> Body:
        """The first line of the sidecar."""
        folder = text_at(self.header, "cwd")
        return self.sidecar.header(self.path, folder, time)

    def stamped(self, line: Body) -> Body:
        """A line of the sidecar, with the place of the agent at the time of writing."""
        at = position_in(self.transcript.columns, self.transcript.leaf)
        if self.book is not None and self.sidecar.known_path != str(self.path):
            at["path"] = str(self.path)
        return {**line, AFTER: at}

    def went_on(self) -> str | None:
        """The change of the agent's files since they were read, in words; None where there is none."""
        if self._theirs_changed():
            return f"{self.path.name} has changed since it was read: reload it"
        return f"{self.path.name} is gone" if self.gone else None

    @property
    def own_leaf(self) -> EntryIndex:
        """The agent's own leaf."""
        return self.joined.own_leaf

    def is_kept(self, index: int) -> bool:
        """Whether an entry is from the sidecar."""
        return self.joined.sidecar_number(index) >= 0

    @property
    def notes(self) -> list[SourceRemark]:
        """The reader's remarks, and the problem of the sidecar."""
        place = self.joined.place
        found = [note._replace(entry=place(note.entry)) for note in self.transcript.notes]
        if self.read_only is not None:
            found.append(SourceRemark("sidecar", self.read_only, path=self.sidecar.path))
        return found

    @property
    def own_title(self) -> str | None:
        """The agent's own title of the session."""
        from leafward.session.headlines.session_title import title_or_none

        return title_or_none(self.header.get("title"))

    @property
    def task(self) -> int:
        """The first prompt of a sub-agent after its inherited entries; -1 in any other session."""
        if self.header.get("relation") != SUBAGENT:
            return NO_ENTRY
        return self.columns.kind.find(Kind.USER, self.inherited)

    @property
    def inherited(self) -> int:
        """Number of leading entries that belong to another session as well."""
        return self.joined.count(self.transcript.inherited)

    def discredit(self, entries: Iterable[int]) -> None:
        """Marks entries whose bytes proved to be broken.

        The agent's entries after one of them become children of those before it.
        """
        broken = set(entries)
        kept = {self.joined.sidecar_number(index) for index in broken} - {-1}
        columns = self.transcript.columns
        lost = {self.joined.theirs(index) for index in broken if not self.is_kept(index)}
        for index in sorted(lost):
            columns.kind[index] = Kind.MALFORMED
            columns.damage[index] = Damage.MALFORMED
        parent = columns.parent
        for index, above in enumerate(parent if lost else ()):
            while above in lost:
                above = parent[above]
            parent[index] = above
        book = self.book
        if book is None:
            return
        if kept:
            book.discredit(kept)
        scan = self.scan
        self._combine()
        scan.go_on_as(self.scan)
        self.scan = scan

    def origin(self, index: int) -> EntryLocation:
        """The place of an entry's bytes: in one of the agent's files, or in the sidecar."""
        kept, book = self.joined.sidecar_number(index), self.book
        if kept < 0 or book is None:
            return self.reader.origin(self.joined.theirs(index))
        return book.origin(kept)

    def recorded_window(self, at: int) -> int | None:
        """The context window that the agent recorded for an entry, in tokens; None where it recorded none."""
        if not isinstance(self.reader, TellsWindow):
            return None
        while at >= 0 and self.is_kept(at):
            at = self.columns.parent[at]
        return self.reader.window(self.joined.theirs(at)) if at >= 0 else None

    def records(self, index: int) -> list[bytes]:
        """The stored records of an entry; for an entry of the sidecar, its line."""
        kept, book = self.joined.sidecar_number(index), self.book
        if kept >= 0 and book is not None:
            return [book.raw(kept)]
        return self.reader.records(self.joined.theirs(index))

    def raw(self, index: int) -> bytes:
        """The records joined by newlines."""
        return b"\n".join(self.records(index))

    def body(self, index: int) -> Body | None:
        """An entry, translated; for an entry of the sidecar, its line."""
        kept, book = self.joined.sidecar_number(index), self.book
        if kept >= 0 and book is not None:
            return book.body(kept)
        return self.reader.translation.body(self.joined.theirs(index))

    def bodies(
        self,
        entries: Iterable[int],
        pick: Callable[[int, bytes], bool] | None = None,  # noqa: ARG002  # an entry may be made of several records
    ) -> Iterator[tuple[EntryIndex, Body | None]]:
        """The bodies of many entries, in the order asked for; all of them are translated."""
        for index in entries:
            yield EntryIndex(index), self.body(index)

    def entry(self, index: int) -> Entry:
        """One entry, translated, with its stored records."""
        columns = self.columns
        body = self.body(index)
        parent = columns.parent[index]
        return Entry(
            EntryIndex(index),
            columns.id(EntryIndex(index)),
            columns.id(EntryIndex(parent)) if parent >= 0 else None,
            Kind(columns.kind[index]) if body is not None else Kind.MALFORMED,
            body or {},
            self.origin(index).offset,
            columns.damage.get(index),
            self.raw(index),
        )


def reader_of(session: Session) -> Reader | None:
    """The reader of another agent's session; None of a native one."""
    source = session.source
    return source.reader if isinstance(source, ForeignFiles) else None


def settled_entries(session: Session) -> int:
    """The number of first entries that a later reading can take over."""
    source = session.source
    if isinstance(source, ForeignFiles) and isinstance(source.reader, TellsBytes):
        settled = source.reader.settled()
        if settled is not None:
            return source.joined.count(settled)
    return len(session.columns)


def outcomes(session: Session) -> Callable[[int], tuple[str, bool] | None] | None:
    """A function that gives outcomes of calls by their results without translating them; None for a native session."""
    source = session.source
    if not isinstance(source, ForeignFiles):
        return None
    joined, translation = source.joined, source.reader.translation
    return lambda index: (
        translation.outcome(joined.theirs(index)) if joined.sidecar_number(index) < 0 else None
    )


def usages(session: Session) -> Callable[[int], Usage | None] | None:
    """A function that gives the usage of entries without translating them; None for a native session."""
    source = session.source
    if not isinstance(source, ForeignFiles):
        return None
    joined, tell = source.joined, source.reader.translation.usage
    return lambda index: (
        read_usage(tell(joined.theirs(index)))
        if joined.sidecar_number(index) < 0
        else usage_of(source.body(index) or {})
    )


def brief_bodies(session: Session) -> Callable[[int], Body | None] | None:
    """A function that gives only the spoken part of a body; None for a native session."""
    source = session.source
    if not isinstance(source, ForeignFiles):
        return None
    joined, translation = source.joined, source.reader.translation
    return lambda index: (
        translation.brief(joined.theirs(index)) if joined.sidecar_number(index) < 0 else source.body(index)
    )


def _continues(before: tuple[bytes, bytes, array[int]], now: Columns) -> bool:
    """Whether the old entries (kinds, ids, parents) are the first of the new ones."""
    kinds, ids, parents = before
    size = len(kinds)
    return (
        size <= len(now)
        and now.ids.startswith(ids)
        and now.parent[:size] == parents
        and now.kind.startswith(kinds)
    )
