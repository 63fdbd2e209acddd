"""Sessions that another agent wrote: the same tree over its own files, each body translated when it is asked for.

An agent's reader makes columns of what it finds, as a scan of a native file does, and knows how to translate one entry.
Nothing of the agent's is ever written, locked or left behind in its folders.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from leafward.base.errors import NotASession
from leafward.session.entries import NO_ENTRY, Body, Damage, EntryIndex, Kind
from leafward.session.entry_decoding import Entry
from leafward.session.file_stamps import Watched
from leafward.session.scan import Pending, Scan
from leafward.session.session_title import title_or_none
from leafward.session.sidecar import AFTER, Owner, Sidecar, joined, position_in
from leafward.session.source import Growth, Note, Origin

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from leafward.session.columns import Columns
    from leafward.session.native_file import NativeFile
    from leafward.session.session import Session

OF_AGENT = "of_agent"
"""The field of one that its agent puts into every session by itself, as each does: instructions, environment, reminders."""
DOCUMENT = "document"
"""The field of a text that tells a document by its name: why a provider refuses that one; empty where nothing is seen."""
NAMESPACE = "namespace"
"""The field of a call: what stands before the first dot of its tool's name."""
RESHAPED = "reshaped"
"""The field of a call whose arguments were no object where they are stored."""
UNANSWERED = "unanswered"
"""The field of a call that its provider runs itself, where no result stands in the reply."""


_TYPES_NAMED = 8


def unknown_records(types: Mapping[str, int], entry: int, path: Path, offset: int | None) -> Note:
    """Names records of types that a reader does not know: how many of each, and where the first one lies."""
    listed = sorted(types.items(), key=lambda one: (-one[1], one[0]))
    names = ", ".join(f"{name} ({count:,})" for name, count in listed[:_TYPES_NAMED])
    if len(listed) > _TYPES_NAMED:
        names += f" and {len(listed) - _TYPES_NAMED} more types"
    text = f"records that are not known, kept as they are: {names}"
    return Note("unknown-record", text, EntryIndex(entry), path, offset)


@dataclass(slots=True)
class Transcript:
    """What a reader made of an agent's files."""

    header: Body
    """What a native header would say: `id`, `timestamp`, `cwd`, `parentSession` where there is one; `name` where the agent
    knows a title that somebody gave."""
    columns: Columns
    """`start` counts through all files one after the other."""
    leaf: EntryIndex
    files: tuple[Path, ...]
    """Every file it was made from: where one of them changes, it may be another transcript."""
    size: int = 0
    """Bytes of all of them."""
    notes: list[Note] = field(default_factory=list)
    pending: Pending | None = None
    """An unterminated last line that is no record yet."""
    inherited: int = 0
    """How many entries, from the first on, are another session's: copied or based on. Totals count them there."""
    beside: tuple[Path, ...] = ()
    """Files that come and go, and change it."""
    changed: Callable[[], bool] | None = None
    """Asked where a file changed: whether this session did, of the many that lie in the file. None: it did."""
    hoisted: bytearray = field(default_factory=bytearray)
    """A byte for each entry: whether it is sent ahead of the messages before it, up to the last reply or result. Empty where
    none is."""
    kept_until: dict[int, int] = field(default_factory=dict)
    """Entries below a compaction where the agent went on from inside what that kept: each with the last kept entry that is sent
    from there on; -1 where none is."""


class Reader(Protocol):
    """Reads one session of an agent. Kept open while the session is; not used by two threads at the same time to read."""

    def read(self, stop: Callable[[], bool]) -> Transcript:
        """Everything, in bounded memory: no body is kept. Asked again, it may go on where it ended. Raises NotASession, saying why in one line."""
        ...

    def body(self, index: int) -> Body | None:
        """An entry as a native line would say it; None where its bytes proved to be broken. From any thread."""
        ...

    def records(self, index: int) -> list[bytes]:
        """What the agent stored of an entry, record by record: lines of a file, or documents of their own. From any thread."""
        ...

    def origin(self, index: int) -> Origin:
        """Where the first of them lies."""
        ...

    def close(self) -> None:
        """Gives back what is open."""
        ...


@runtime_checkable
class TellsWindow(Protocol):
    """A reader of an agent that records the context window of its model."""

    def window(self, index: int) -> int | None:
        """The window in force at an entry, in tokens; None where nothing says so."""
        ...


@runtime_checkable
class TellsOutcome(Protocol):
    """A reader that tells what became of a call without translating its result."""

    def outcome(self, index: int) -> tuple[str, bool] | None:
        """The call that an entry is the result of, and whether it failed; None where the entry says more, or is none."""
        ...


@runtime_checkable
class TellsBriefly(Protocol):
    """A reader that tells what was said sooner than all that is stored of it."""

    def brief(self, index: int) -> Body | None:
        """What a person or the model said in an entry, as `body` says it, but without when, what it cost and what stands beside it.

        None also where neither of them said anything. An entry of any other kind is whole.
        """
        ...


class ForeignFiles:
    """The files of a session of another agent, which are only read, and the sidecar of ours in which is kept what is done to it."""

    def __init__(self, path: Path, agent_name: str, tools: object, reader: Callable[[], Reader]) -> None:
        """The sidecars of an agent lie under its name; `tools` is its tool table (`files.tool_calls.ToolTable`)."""
        self.path = path
        self.agent_name = agent_name
        self.tools = tools
        self.gone = False
        self._make_reader = reader
        self.reader = reader()
        self.scan = Scan()
        self._files = Watched()
        self.sidecar: Sidecar | None = None

    def close(self) -> None:
        """Closes what the reader holds, and the sidecar."""
        self.reader.close()
        if self.sidecar is not None:
            self.sidecar.close()

    def read(self, stop: Callable[[], bool], publish: Callable[[Scan], object]) -> int:
        """Reads everything anew; returns how many entries came."""
        known = len(self.scan.columns)
        try:
            found = self.reader.read(stop)
            self._files = Watched(found.files, found.beside)
            self._seen = os.stat(found.files[0])
        except OSError as error:
            raise NotASession(f"cannot read {self.path}: {error.strerror or error}") from error
        self.transcript = found
        self._join()
        publish(self.scan)
        return len(self.columns) - known

    def _join(self) -> None:
        """Takes in what is kept beside the agent's entries as they were last read."""
        session_id = self.transcript.header.get("id")
        owner = Owner(
            self.agent_name,
            session_id if isinstance(session_id, str) and session_id else os.path.realpath(self.path),
        )
        if self.sidecar is None or self.sidecar.owner != owner:
            if self.sidecar is not None:
                self.sidecar.close()
            self.sidecar = Sidecar(owner)
        self.sidecar.read()
        self._combine(self.sidecar)

    def _combine(self, sidecar: Sidecar) -> None:
        """Makes one session of the agent's entries and of those that are kept."""
        found = self.transcript
        self.joined = joined(found.columns, found.leaf, found.size, sidecar)
        self._hoisted = self.joined.spread(found.hoisted)
        place = self.joined.place
        self._kept_until = {
            place(EntryIndex(entry)): place(EntryIndex(last)) for entry, last in found.kept_until.items()
        }
        self.scan = scan = Scan.of(self.joined.columns, found.header, self.joined.leaf, found.size)
        scan.pending, scan.header_offset = found.pending, 0

    @property
    def columns(self) -> Columns:
        """All entries, those that are kept among the agent's."""
        return self.scan.columns

    @property
    def header(self) -> Body:
        """What a native header would say."""
        return self.scan.header or {}

    def given_name(self) -> str | None:
        """What the session is called: as the user did here, else by the agent's last line, else as its header says."""
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
        """Whether one of its files, or what is kept beside them, is another than when it was read; a stat for each."""
        theirs = self._theirs_changed()
        return theirs or (self.sidecar is not None and self.sidecar.changed())

    def _theirs_changed(self) -> bool:
        changed = self._files.changed(self.transcript.changed)
        self.gone = self._files.gone
        return changed

    def refresh(self) -> Growth | None:
        """Reads again what changed; None where nothing did. Where everything is as it was up to what is new, it has grown."""
        theirs = self._theirs_changed()
        if not theirs and self.sidecar is not None and not self.sidecar.changed():
            return None
        # A reader may take what was appended into the columns that it has.
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
        """Reads everything anew, whatever lies at its path now. What was read stays where that is no session."""
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

    @property
    def seen(self) -> os.stat_result:
        """The state of its first file when it was last read."""
        return self._seen

    # --- what is kept beside it ---

    @property
    def read_only(self) -> str | None:
        """Why nothing can be kept beside it; None where it can. The agent's files are never written to."""
        return self.sidecar.read_only if self.sidecar is not None else None

    @property
    def book(self) -> NativeFile | None:
        """The sidecar; None as long as nothing is kept."""
        return self.sidecar.book if self.sidecar is not None else None

    @property
    def book_path(self) -> Path:
        """Where the sidecar lies, or will."""
        return self.sidecar.path if self.sidecar is not None else self.path

    def book_header(self, time: str) -> Body:
        """The first line of the sidecar."""
        cwd = self.header.get("cwd")
        folder = cwd if isinstance(cwd, str) else ""
        return self.sidecar.header(self.path, folder, time) if self.sidecar is not None else {}

    def stamped(self, line: Body) -> Body:
        """A line of the sidecar: it says where the agent was when it was written."""
        at = position_in(self.transcript.columns, self.transcript.leaf)
        book = self.book
        if book is not None and self.sidecar is not None and self.sidecar.known_path != str(self.path):
            at["path"] = str(self.path)
        return {**line, AFTER: at}

    def went_on(self) -> str | None:
        """Whether the agent's files are others than when they were read, or are gone."""
        if self._theirs_changed():
            return f"{self.path.name} went on since it was read"
        return f"{self.path.name} is gone" if self.gone else None

    @property
    def own_leaf(self) -> EntryIndex:
        """Where the agent itself goes on."""
        return self.joined.own_leaf

    def is_kept(self, index: int) -> bool:
        """Whether an entry is Leafward's, beside the agent's own."""
        return self.joined.kept(index) >= 0

    @property
    def notes(self) -> list[Note]:
        """What the reader has to remark on it, and what is wrong with the sidecar."""
        place = self.joined.place
        found = [note._replace(entry=place(note.entry)) for note in self.transcript.notes]
        if self.sidecar is not None and self.read_only is not None:
            found.append(Note("sidecar", self.read_only, path=self.sidecar.path))
        return found

    @property
    def hoisted(self) -> bytearray:
        """Which entries are sent ahead of the messages before them, up to the last reply or result."""
        return self._hoisted

    @property
    def kept_until(self) -> Mapping[EntryIndex, EntryIndex]:
        """Where the agent went on from inside what a compaction kept: the last kept entry that is sent from there on."""
        return self._kept_until

    @property
    def own_title(self) -> str | None:
        """What the agent itself calls it."""
        return title_or_none(self.header.get("title"))

    @property
    def task(self) -> int:
        """The first prompt of a sub-agent behind what it took over; -1 in any other session."""
        if self.header.get("relation") != "subagent":
            return NO_ENTRY
        return self.columns.kind.find(Kind.USER, self.inherited)

    @property
    def inherited(self) -> int:
        """How many entries, from the first on, belong to another session as well."""
        return self.joined.count(self.transcript.inherited)

    def discredit(self, entries: Iterable[int]) -> None:
        """Marks entries whose bytes proved to be broken. What follows the agent's hangs on what came before them."""
        broken = set(entries)
        kept = {self.joined.kept(index) for index in broken} - {-1}
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
        if book is not None and kept:
            book.discredit(kept)
        if book is None or self.sidecar is None:
            return
        scan = self.scan
        self._combine(self.sidecar)
        scan.go_on_as(self.scan)
        self.scan = scan

    def origin(self, index: int) -> Origin:
        """Where the bytes of an entry lie: in one of the agent's files, or in the sidecar."""
        kept, book = self.joined.kept(index), self.book
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
        """What the agent stored of an entry, record by record; of one that is kept, its line."""
        kept, book = self.joined.kept(index), self.book
        if kept >= 0 and book is not None:
            return [book.raw(kept)]
        return self.reader.records(self.joined.theirs(index))

    def raw(self, index: int) -> bytes:
        """All of that, joined by newlines."""
        return b"\n".join(self.records(index))

    def body(self, index: int) -> Body | None:
        """An entry, translated; of one that is kept, its line."""
        kept, book = self.joined.kept(index), self.book
        if kept >= 0 and book is not None:
            return book.body(kept)
        return self.reader.body(self.joined.theirs(index))

    def bodies(
        self,
        entries: Iterable[int],
        pick: Callable[[int, bytes], bool] | None = None,  # noqa: ARG002  # an entry may be made of several records
    ) -> Iterator[tuple[EntryIndex, Body | None]]:
        """The bodies of many entries, in the order asked for; all of them are translated."""
        for index in entries:
            yield EntryIndex(index), self.body(index)

    def entry(self, index: int) -> Entry:
        """One entry, translated, with what the agent stored."""
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


def outcomes(session: Session) -> Callable[[int], tuple[str, bool] | None] | None:
    """What tells the outcomes of calls by their results, where a reader can without translating them."""
    source = session.source
    if not isinstance(source, ForeignFiles) or not isinstance(reader := source.reader, TellsOutcome):
        return None
    joined = source.joined
    return lambda index: reader.outcome(joined.theirs(index)) if joined.kept(index) < 0 else None


def brief_bodies(session: Session) -> Callable[[int], Body | None] | None:
    """What gives a body with no more than what was said, where a reader has such ones."""
    source = session.source
    if not isinstance(source, ForeignFiles) or not isinstance(reader := source.reader, TellsBriefly):
        return None
    joined = source.joined
    return lambda index: reader.brief(joined.theirs(index)) if joined.kept(index) < 0 else source.body(index)


def _continues(before: tuple[bytes, bytes, array[int]], now: Columns) -> bool:
    """Whether the entries of before (kinds, ids, parents) are the first ones of now."""
    kinds, ids, parents = before
    size = len(kinds)
    return (
        size <= len(now)
        and now.ids.startswith(ids)
        and now.parent[:size] == parents
        and now.kind.startswith(kinds)
    )
