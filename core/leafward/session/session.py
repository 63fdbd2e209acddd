"""A session: its header, its tree, and what its entries say of it (leaf, labels, name)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.base.errors import NotASession, NotFound
from leafward.base.gc_pause import collector_paused
from leafward.session.columns import look_up
from leafward.session.entries import NO_ENTRY, Body, Damage, EntryIndex, Kind
from leafward.session.entry_decoding import Entry, migrated, read_together
from leafward.session.line_decoding import CURRENT_VERSION, decode_line
from leafward.session.scan import Pending, Scan
from leafward.session.session_file import SessionFile
from leafward.session.tree import SessionTree

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from leafward.session.columns import Columns


class Origin(NamedTuple):
    """Where the bytes of an entry lie."""

    path: Path
    offset: int
    """Of its first line in that file, in bytes; the number of a row where it lies in a database."""
    size: int
    """Bytes, of its first line or record where it is made of several."""
    is_row: bool = False
    """Whether it lies in a database."""


@dataclass(frozen=True, slots=True)
class Growth:
    """What a refresh found."""

    added: int
    """New entries at the end."""
    replaced: bool
    """The file shrank or is another one now; everything was read anew."""


class Session:
    """A session file open for reading. Bodies are read from the file when asked for; nothing of them is kept."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.gone = False
        """No file had the name any more when it was last looked at."""
        self._open()

    @classmethod
    def open(
        cls,
        path: Path,
        stop: Callable[[], bool] = lambda: False,
        publish: Callable[[Scan], object] = lambda _scan: None,
        scan: Scan | None = None,
    ) -> Session:
        """Reads a session file. Raises NotASession where that is not possible, saying why in one line.

        A `scan` of the same file is taken over, and goes on where it ended.
        """
        session = cls(path)
        if scan is not None:
            session.scan = scan
        try:
            session.read(stop, publish)
        except BaseException:
            session.close()
            raise
        return session

    def _open(self) -> None:
        self.file = SessionFile(self.path)
        self.scan = Scan()

    def close(self) -> None:
        """Closes the file; bodies can no longer be read."""
        self.file.close()

    def read(self, stop: Callable[[], bool], publish: Callable[[Scan], object]) -> int:
        """Reads on to the end of the file; returns how many entries came."""
        try:
            self.file.look()
            with collector_paused():
                added = self.scan.advance(self.file.handle, stop, lambda: publish(self.scan))
            self.file.was_read(self.scan.end)
        except OSError as error:
            raise NotASession(f"cannot read {self.path}: {error.strerror or error}") from error
        if self.scan.header is None and not self._looks_like_entries():
            if self.scan.end == 0 and self.scan.pending is None:
                raise NotASession(f"{self.path} is empty")
            raise NotASession(f"{self.path} is not a session: no line of it is a header or an entry")
        self._rebuild()
        if broken := self._broken_end():
            self.discredit(broken)
        self._read_marks()
        return added

    def _broken_end(self) -> list[int]:
        """The last entries up to one whose line is an object: all at once, as each time the whole file is gone through."""
        broken = []
        for index in range(self.scan.last, -1, -1):
            if self.columns.kind[index] in (Kind.MALFORMED, Kind.HEADER):
                continue
            if self.body(index) is not None:
                break
            broken.append(index)
        return broken

    def _looks_like_entries(self) -> bool:
        return any(kind not in (Kind.MALFORMED, Kind.UNKNOWN) for kind in self.scan.columns.kind[:64])

    def changed_on_disk(self) -> bool:
        """Whether the file is longer, newer or another one than when it was last looked at; costs one stat.

        A file that is not there is no change: what was read can be read on, and `gone` says so.
        """
        try:
            now = self.path.stat()
        except OSError:
            self.gone = True
            return False
        self.gone = False
        return self.file.is_other(now)

    def refresh(self) -> Growth | None:
        """Takes in what was appended since; None where nothing changed. Polled while following."""
        try:
            now = self.path.stat()
        except OSError:
            return None
        before = self.seen
        same = (now.st_ino, now.st_dev) == (before.st_ino, before.st_dev)
        if same and now.st_size == before.st_size and now.st_mtime_ns == before.st_mtime_ns:
            return None
        # pi never appends to a file of an older version: it rewrites it in place first.
        if (
            same
            and now.st_size >= self.scan.end
            and self.version >= CURRENT_VERSION
            and self.file.begins_as_read()
        ):
            return Growth(self.read(lambda: False, lambda _scan: None), replaced=False)
        return self.reload()

    def reload(self) -> Growth:
        """Reads the whole file anew, whatever file has its name now. What was read stays where that is no session."""
        before = self.file, self.scan
        try:
            self._open()
            growth = Growth(self.read(lambda: False, lambda _scan: None), replaced=True)
        except NotASession:
            if self.file is not before[0]:
                # What is there now was looked at, and is no news any more.
                before[0].latest = self.file.latest
                self.file.close()
            self.file, self.scan = before
            raise
        before[0].close()
        return growth

    def _rebuild(self) -> None:
        self.tree = SessionTree(self.columns.parent, self.columns.kind)

    @property
    def columns(self) -> Columns:
        """Offsets, kinds, ids and parents of all entries."""
        return self.scan.columns

    def __len__(self) -> int:
        return len(self.scan.columns)

    @property
    def header(self) -> Body:
        """The header line; empty where the file has none."""
        return self.scan.header or {}

    @property
    def id(self) -> str:
        """The session's id; the file's name where there is no header."""
        found = self.header.get("id")
        return found if isinstance(found, str) else self.path.stem

    @property
    def cwd(self) -> str:
        """The folder the agent worked in; empty where the header does not say."""
        found = self.header.get("cwd")
        return found if isinstance(found, str) else ""

    @property
    def version(self) -> int:
        """The file's version; a migrated file still says its own."""
        return self.scan.version

    @property
    def pending(self) -> Pending | None:
        """An unterminated last line that is no entry yet."""
        return self.scan.pending

    @property
    def seen(self) -> os.stat_result:
        """The file's state when it was last read; writes are refused once it is another."""
        return self.file.seen

    @property
    def read_only(self) -> str | None:
        """Why this file cannot be written to; None where it can."""
        if self.scan.header is None:
            return "the file has no session header"
        if self.version > CURRENT_VERSION:
            return f"the file is of version {self.version}, newer than {CURRENT_VERSION}"
        if self.version > 1 and Damage.NO_ID in self.columns.damage.values():
            return "entries of the file have no id"
        return None

    @property
    def book(self) -> Session | None:
        """The native file that operations are appended to: itself.

        Of another agent's session one of ours beside it, None before the first of them.
        """
        return self

    @property
    def book_path(self) -> Path:
        """Where that file lies, or will."""
        return self.path

    def book_header(self, time: str) -> Body:
        """The first line of that file where it is made by the first operation: never asked of a file that is its own book."""
        raise NotImplementedError(time)

    def stamped(self, line: Body) -> Body:
        """A line about to be appended to that file, with what else has to be noted on it."""
        return line

    def went_on(self) -> str | None:
        """What became of files beside that one which the session was read from; None where they are as they were."""
        return None

    @property
    def own_leaf(self) -> EntryIndex:
        """Where the agent itself goes on: of a native file, and of another agent's session that nothing was done to, the leaf."""
        return self.leaf

    @property
    def what_if(self) -> bool:
        """Whether the place is one that only Leafward keeps: the agent itself goes on elsewhere."""
        return self.place != self.tree.content_at(self.own_leaf)

    def coming_back(self, line: int, before: EntryIndex) -> EntryIndex:  # noqa: ARG002  # there is no other place here
        """Where taking back a move that a line did leads: to the leaf before it."""
        return before

    @property
    def unread(self) -> list[str]:
        """What could not be read of it and no entry stands for, a line each; nothing of a native file, whose lines all do."""
        return []

    def is_kept(self, index: int) -> bool:  # noqa: ARG002  # of a native file nothing is
        """Whether an entry is kept by Leafward beside the agent's own files."""
        return False

    @property
    def leaf(self) -> EntryIndex:
        """The entry that the next append becomes a child of: the last line (pi 1.5.2). -1 in an empty session."""
        return self.scan.last

    @property
    def title(self) -> str | None:
        """What it is called: the name that somebody gave it, else what its agent calls it by itself; one line."""
        return self.name

    @property
    def task(self) -> int:
        """The prompt that another agent wrote, to hand a task to this one; -1 where a person began."""
        return NO_ENTRY

    @property
    def inherited(self) -> int:
        """How many entries, from the first on, belong to another session as well: totals count them there."""
        return 0

    @property
    def hoisted(self) -> bytearray:
        """Which entries are sent ahead of the messages before them: none by pi's rule, some by other agents'."""
        return bytearray()

    @property
    def place(self) -> EntryIndex:
        """Where the conversation stands: the leaf, or the nearest entry above it that is not bookkeeping."""
        return self.tree.content_at(self.leaf)

    @property
    def branches(self) -> int:
        """How many branches there are besides the path to where it goes on."""
        place = self.place
        return sum(leaf != place for leaf in self.tree.leaves())

    def recorded_window(self, at: int) -> int | None:  # noqa: ARG002  # other agents say it entry by entry
        """The context window that the agent recorded for an entry, in tokens; pi records none."""
        return None

    def origin(self, index: int) -> Origin:
        """Where an entry lies."""
        start = self.columns.start[index]
        place = self.scan.long_lines.get(start)
        return Origin(self.path, start, place.size if place is not None else len(self.raw(index)))

    def records(self, index: int) -> list[bytes]:
        """What an entry was made of: its line, and of other agents often several; of one that is too large, what is kept of it."""
        return [self._line(index)]

    def _line(self, index: int) -> bytes:
        """The line of an entry; of one that is too large, the shorter one that stands for it."""
        place = self.scan.long_lines.get(self.columns.start[index]) if self.scan.long_lines else None
        return place.line if place is not None else self.raw(index)

    def raw(self, index: int) -> bytes:
        """The line of an entry as it stands in the file, without its end, however large: for copies."""
        columns = self.columns
        start = columns.start[index]
        following = index + 1
        end = columns.start[following] if following < len(columns) else self.scan.end
        return self.file.at(start, end - start).partition(b"\n")[0]

    def stretches(self) -> Iterator[tuple[int, int]]:
        """Where what was read of the file begins and ends, without the lines that are too large to be read."""
        begin = 0
        for offset, place in self.scan.long_lines.items():
            yield begin, offset
            begin = offset + place.size
        yield begin, self.scan.end

    def body(self, index: int) -> Body | None:
        """An entry's line as an object, migrated; None where the line is none after all."""
        return self._migrated(index, decode_line(self._line(index)))

    def _migrated(self, index: int, body: Body | None) -> Body | None:
        if body is None or self.version >= CURRENT_VERSION:
            return body
        return migrated(body, EntryIndex(index), self.columns, self.version)

    def bodies(
        self, entries: Iterable[int], pick: Callable[[int, bytes], bool] | None = None
    ) -> Iterator[tuple[EntryIndex, Body | None]]:
        """The bodies of many entries, in the order asked for; neighbours are read together.

        With `pick` lines that it refuses may be left out, and are not decoded; it is asked in the same order, each line
        after the body before it was given.
        """
        starts = self.columns.start
        current = self.version >= CURRENT_VERSION
        if self.scan.long_lines:
            # No block may take in one of those lines.
            for index in entries:
                line = self._line(index)
                if pick is None or pick(index, line):
                    yield EntryIndex(index), self._migrated(index, decode_line(line))
            return
        for together in read_together(entries, starts):
            begin = starts[together[0]]
            following = together[-1] + 1
            end = starts[following] if following < len(starts) else self.scan.end
            block = self.file.at(begin, end - begin)
            find = block.find
            for index in together:
                at = starts[index] - begin
                newline = find(b"\n", at)
                line = block[at:] if newline < 0 else block[at:newline]
                if pick is not None and not pick(index, line):
                    continue
                body = decode_line(line)
                yield EntryIndex(index), body if current else self._migrated(index, body)

    def entry(self, index: int) -> Entry:
        """One entry, decoded."""
        columns = self.columns
        raw = self._line(index)
        body = self._migrated(index, decode_line(raw))
        parent = columns.parent[index]
        kind = Kind(columns.kind[index])
        linked = parent >= 0 and kind not in (Kind.MALFORMED, Kind.HEADER)
        return Entry(
            EntryIndex(index),
            columns.id(EntryIndex(index)),
            columns.id(EntryIndex(parent)) if linked else None,
            kind if body is not None else Kind.MALFORMED,
            body or {},
            columns.start[index],
            columns.damage.get(index),
            raw,
        )

    def discredit(self, entries: Iterable[int]) -> None:
        """Marks entries whose lines proved to be no objects; their children lose their parent, as in pi.

        A scan takes a line by its beginning; a broken end shows when the body is decoded.
        """
        self.scan.discredit(set(entries))
        self._rebuild()

    def _read_marks(self) -> None:
        """Labels and name: the last line of each counts, wherever in the tree it hangs (pi 1.5.2)."""
        labels: dict[EntryIndex, str] = {}
        kinds = self.columns.kind
        marks = [(index, body or {}) for index, body in self.bodies(_positions(kinds, Kind.LABEL))]
        targets = look_up(self.columns, [(index, str(body.get("targetId"))) for index, body in marks])
        for (_, body), target in zip(marks, map(EntryIndex, targets), strict=True):
            if target < 0:
                continue
            label = body.get("label")
            labels.pop(target, None)
            if isinstance(label, str) and label:
                labels[target] = label
        infos = map(self.body, reversed(list(_positions(kinds, Kind.SESSION_INFO))))
        name = next((body.get("name") for body in infos if body is not None), None)
        # Set whole: another thread may be reading them.
        self.labels: dict[EntryIndex, str] = labels
        self.name: str | None = name.strip() or None if isinstance(name, str) else None

    def find(self, selector: str) -> EntryIndex:
        """The entry that a user means: an id, a unique prefix of one, `leaf`, `root` or `#N`. Raises NotFound."""
        columns = self.columns
        if selector == "leaf":
            return self._existing(self.leaf, selector)
        if selector == "root":
            roots = self.tree.children(NO_ENTRY)
            return self._existing(roots[0] if roots else NO_ENTRY, selector)
        if selector.startswith("#") and selector[1:].isdecimal():
            # More digits than any file has entries are no number that anybody means.
            number = int(selector[1:20])
            return self._existing(EntryIndex(number) if number < len(columns) else NO_ENTRY, selector)
        index = columns.index(selector)
        if index >= 0:
            return index
        close = columns.starting_with(selector)
        if len(close) > 1:
            raise NotFound(f"several entries start with {selector!r}")
        return self._existing(close[0] if close else NO_ENTRY, selector)

    def _existing(self, index: EntryIndex, selector: str) -> EntryIndex:
        if index < 0:
            raise NotFound(f"no entry {selector!r} in {self.path.name}")
        return index

    def details(self) -> dict[str, Any]:
        """Header facts that every listing shows."""
        return {
            "id": self.id,
            "path": str(self.path),
            "cwd": self.cwd,
            "name": self.name,
            "version": self.version,
        }


def _positions(kinds: bytearray, kind: Kind) -> Iterator[int]:
    at = kinds.find(kind)
    while at >= 0:
        yield at
        at = kinds.find(kind, at + 1)
