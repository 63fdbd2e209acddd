"""Sessions that another agent wrote: the same tree over its own files, each body translated when it is asked for.

An agent's reader makes columns of what it finds, as a scan of a native file does, and knows how to translate one entry.
Nothing of the agent's is ever written, locked or left behind in its folders.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from leafward.entries import NO_ENTRY, Body, Damage, EntryIndex, Kind
from leafward.errors import NotASession
from leafward.scan import Pending, Scan
from leafward.session import Entry, Growth, Session

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from leafward.columns import Columns

INJECTED = "injected"
"""The field of a translated user message that no person wrote: instructions, environment, reminders. Its text says what."""


class Origin(NamedTuple):
    """Where the bytes of an entry lie."""

    path: Path
    offset: int
    """Of its first line in that file; a row number for a database."""
    size: int
    """Bytes, of its first line where it is made of several."""


class Note(NamedTuple):
    """What a reader has to remark on a session: a missing base, a record it does not know."""

    code: str
    text: str
    """One line."""
    entry: EntryIndex = NO_ENTRY
    path: Path | None = None
    offset: int | None = None


_TYPES_NAMED = 8


def unknown_records(types: Mapping[str, int], entry: int, path: Path, offset: int | None) -> Note:
    """What is to be said of records of types that a reader does not know: how many of each, and where the first one lies."""
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


class Reader(Protocol):
    """Reads one session of an agent. Kept open while the session is; not used by two threads at the same time to read."""

    def read(self, stop: Callable[[], bool]) -> Transcript:
        """Everything, in bounded memory: no body is kept. Asked again, it may go on where it ended. Raises NotASession, saying why in one line."""
        ...

    def body(self, index: int) -> Body | None:
        """An entry as a native line would say it; None where its bytes proved to be broken. From any thread."""
        ...

    def raw(self, index: int) -> bytes:
        """What the agent stored of an entry: a line, or several joined by newlines."""
        ...

    def origin(self, index: int) -> Origin:
        """Where that lies."""
        ...

    def close(self) -> None:
        """Gives back what is open."""
        ...


_Stamp = tuple[int, int, int, int]


class ForeignSession(Session):
    """A session of another agent, open for reading."""

    def __init__(self, path: Path, agent: str, reader: Callable[[], Reader], tools: object = None) -> None:
        self.agent = agent
        self.tools = tools
        """The agent's tool table (`edits.ToolTable`): how its calls name files."""
        self._make_reader = reader
        super().__init__(path)

    @classmethod
    def of(
        cls,
        path: Path,
        agent: str,
        reader: Callable[[], Reader],
        stop: Callable[[], bool] = lambda: False,
        tools: object = None,
    ) -> ForeignSession:
        """Reads a session of an agent, whose `tools` name files as its table says. Raises NotASession."""
        session = cls(path, agent, reader, tools)
        try:
            session.read(stop, lambda _scan: None)
        except BaseException:  # also an interrupt: nobody else could close what it opened
            session.close()
            raise
        return session

    def _open(self) -> None:
        self.reader = self._make_reader()
        self.scan = Scan()
        self._stamps: dict[Path, _Stamp] = {}
        self._beside: dict[Path, _Stamp | None] = {}

    def close(self) -> None:
        """Closes what the reader holds."""
        self.reader.close()

    def read(self, stop: Callable[[], bool], publish: Callable[[Scan], object]) -> int:
        """Reads everything anew; returns how many entries came."""
        known = len(self.scan.columns)
        try:
            found = self.reader.read(stop)
            self._stamps = {path: _stamp(os.stat(path)) for path in found.files}
            self._beside = {path: _stamp_or_none(path) for path in found.beside}
            self._stat = self._looked = os.stat(found.files[0])
        except OSError as error:
            raise NotASession(f"cannot read {self.path}: {error.strerror or error}") from error
        self.scan = scan = Scan.of(found.columns, found.header, found.leaf, found.size)
        scan.pending, scan.header_offset = found.pending, 0
        self.transcript = found
        publish(scan)
        self._rebuild()
        self._read_marks()
        if self.name is None:
            given = found.header.get("name")
            self.name = given.strip() or None if isinstance(given, str) else None
        return len(found.columns) - known

    def changed_on_disk(self) -> bool:
        """Whether one of its files is another than when it was read; costs a stat for each."""
        self.gone = False
        stamps, changed = dict(self._stamps), False
        for path, seen in self._stamps.items():
            try:
                stamps[path] = _stamp(path.stat())
                changed |= stamps[path] != seen
            except OSError:
                self.gone = True
        beside = {path: _stamp_or_none(path) for path in self._beside}
        if not changed and beside == self._beside:
            return False
        asked = self.transcript.changed
        if asked is None or asked():
            return True
        self._stamps, self._beside = stamps, beside
        return False

    def refresh(self) -> Growth | None:
        """Reads again what changed; None where nothing did. Where everything is as it was up to what is new, it has grown."""
        if not self.changed_on_disk():
            return None
        # A reader may take what was appended into the columns that it has.
        before = bytes(self.columns.kind), bytes(self.columns.ids), self.columns.parent[:]
        added = self.read(lambda: False, lambda _scan: None)
        return Growth(max(0, added), replaced=not _continues(before, self.columns))

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
    def read_only(self) -> str | None:
        """Why nothing is written to these files: they are another agent's."""
        return f"the files of {self.agent} are never written to"

    @property
    def notes(self) -> list[Note]:
        """What the reader has to remark on it."""
        return self.transcript.notes

    @property
    def hoisted(self) -> bytearray:
        """Which entries are sent ahead of the messages before them, up to the last reply or result."""
        return self.transcript.hoisted

    @property
    def title(self) -> str | None:
        """The name that somebody gave it, else what the agent itself calls it; one line."""
        given = self.name or self.header.get("title")
        return " ".join(given.split()) or None if isinstance(given, str) else None

    @property
    def inherited(self) -> int:
        """How many entries, from the first on, belong to another session as well."""
        return self.transcript.inherited

    def discredit(self, entries: Iterable[int]) -> None:
        """Marks entries whose bytes proved to be broken. What follows them hangs on what came before them."""
        columns = self.columns
        parent = columns.parent
        lost = set(entries)
        for index in sorted(lost):
            columns.kind[index] = Kind.MALFORMED
            columns.damage[index] = Damage.MALFORMED
        for index, above in enumerate(parent):
            while above in lost:
                above = parent[above]
            parent[index] = above
        self._rebuild()

    def raw(self, index: int) -> bytes:
        """What the agent stored of an entry."""
        return self.reader.raw(index)

    def body(self, index: int) -> Body | None:
        """An entry, translated."""
        return self.reader.body(index)

    def bodies(
        self,
        entries: Iterable[int],
        pick: Callable[[bytes], bool] | None = None,  # noqa: ARG002  # an entry may be made of several records
    ) -> Iterator[tuple[EntryIndex, Body | None]]:
        """The bodies of many entries, in the order asked for; all of them are translated."""
        for index in entries:
            yield EntryIndex(index), self.reader.body(index)

    def entry(self, index: int) -> Entry:
        """One entry, translated, with what the agent stored."""
        columns = self.columns
        body = self.reader.body(index)
        parent = columns.parent[index]
        return Entry(
            EntryIndex(index),
            columns.id(EntryIndex(index)),
            columns.id(EntryIndex(parent)) if parent >= 0 else None,
            Kind(columns.kind[index]) if body is not None else Kind.MALFORMED,
            body or {},
            self.reader.origin(index).offset,
            columns.damage.get(index),
            self.reader.raw(index),
        )


def _stamp(now: os.stat_result) -> _Stamp:
    return now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns


def _stamp_or_none(path: Path) -> _Stamp | None:
    try:
        return _stamp(os.stat(path))
    except OSError:
        return None


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
