"""A native session file: pi's format, also that of sidecars. It is read by columns and may grow while it is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from leafward.base.errors import NotASession
from leafward.base.gc_pause import gc_paused
from leafward.session.entries import NO_ENTRY, Body, Damage, EntryIndex, Kind
from leafward.session.lines.entry_decoding import Entry, migrated, read_together, side_by_side
from leafward.session.lines.line_decoding import CURRENT_VERSION, decode_line
from leafward.session.lines.scan import Scan
from leafward.session.source import EntryLocation, Growth, SourceRemark
from leafward.session.watched_file import SessionFile

if TYPE_CHECKING:
    import os
    from array import array
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from leafward.session.columns import Columns

_LOOKED_AT = 64
"""Entries by which a file without a header is told from one that is no session."""


class NativeFile:
    """A native file as the source of a session: one line per entry, appended by its agent and by Leafward."""

    own_title: str | None = None
    task: int = NO_ENTRY
    inherited: int = 0
    tools: object = None

    def __init__(self, path: Path, scan: Scan | None = None, file: SessionFile | None = None) -> None:
        """Takes over a `scan` of the same file, which goes on where it ended, and an open `file`. Raises NotASession."""
        self.path = path
        self.gone = False
        self.hoisted = bytearray()
        self.kept_until: Mapping[EntryIndex, EntryIndex] = {}
        self.changed_outside: Mapping[EntryIndex, str] = {}
        self.missing: Mapping[EntryIndex, tuple[str, ...]] = {}
        self.side_lines: Collection[EntryIndex] = ()
        """All empty: pi sends every message in its place and the kept part of compactions whole, does not watch files, and has no
        sub-agents."""
        self._read_from = (
            SessionFile(path) if file is None else file,
            Scan() if scan is None else scan,
        )
        """The file and where its lines are: one value, because a job may read while the file is replaced (`reload`)."""
        self.known: dict[int, Body] = {}
        """The body of the last entry, which reading had to decode, in a file that is read for one look."""

    @classmethod
    def open(cls, path: Path) -> NativeFile:
        """A file, read to its end. Raises NotASession."""
        opened = cls(path)
        try:
            opened.read(lambda: False, lambda _scan: None)
        except BaseException:  # also an interrupt: nobody else could close the opened file
            opened.close()
            raise
        return opened

    @property
    def file(self) -> SessionFile:
        """The file that was read."""
        return self._read_from[0]

    @property
    def scan(self) -> Scan:
        """Its scan: another object once the file was read again."""
        return self._read_from[1]

    def go_on_from(self, scan: Scan) -> None:
        """Takes over what was read of the file before; the next reading goes on behind it."""
        self._read_from = self.file, scan

    def __len__(self) -> int:
        return len(self.scan.columns)

    @property
    def columns(self) -> Columns:
        """Offsets, kinds, ids and parents of all entries."""
        return self.scan.columns

    @property
    def header(self) -> Body:
        """The header line; empty where the file has none."""
        return self.scan.header or {}

    def close(self) -> None:
        """Closes the file; bodies are no longer readable."""
        self.file.close()

    def read(self, stop: Callable[[], bool], publish: Callable[[Scan], object]) -> int:
        """Reads on to the end of the file; returns the number of new entries."""
        try:
            self.file.look()
            with gc_paused():
                if self.file.content is not None:
                    added = self.scan.take_whole(self.file.content)
                else:
                    added = self.scan.advance(self.file.handle, stop, lambda: publish(self.scan))
            self.file.mark_read(self.scan.end)
        except OSError as error:
            raise NotASession(f"cannot read {self.path}: {error.strerror or error}") from error
        looked_at = self.scan.columns.kind[:_LOOKED_AT]
        if self.scan.header is None and all(kind in (Kind.MALFORMED, Kind.UNKNOWN) for kind in looked_at):
            if self.scan.end == 0 and self.scan.pending is None:
                raise NotASession(f"{self.path} is empty")
            raise NotASession(f"{self.path} is not a session: no line of it is a header or an entry")
        if broken := self._broken_end():
            self.discredit(broken)
        return added

    def _broken_end(self) -> list[int]:
        """The last entries up to one whose line is an object, found together, because each discredit scans the whole file."""
        broken = []
        for index in range(self.scan.last, -1, -1):
            if self.columns.kind[index] in (Kind.MALFORMED, Kind.HEADER):
                continue
            body = self.body(index)
            if body is not None:
                if self.file.content is not None and self.scan.version >= CURRENT_VERSION:
                    self.known = {index: body}
                break
            broken.append(index)
        return broken

    def changed_on_disk(self) -> bool:
        """Whether the file is longer, newer or another one than at the last look; see `Source`."""
        try:
            now = self.path.stat()
        except OSError:
            self.gone = True
            return False
        self.gone = False
        return self.file.is_other(now)

    def refresh(self) -> Growth | None:
        """Reads appended entries; None where nothing changed. Polled while following."""
        try:
            now = self.path.stat()
        except OSError:
            return None
        before = self.seen
        same = (now.st_ino, now.st_dev) == (before.st_ino, before.st_dev)
        if same and now.st_size == before.st_size and now.st_mtime_ns == before.st_mtime_ns:
            return None
        # pi never appends to a file of an older version: it rewrites the file in place first.
        if (
            same
            and now.st_size >= self.scan.end
            and self.scan.version >= CURRENT_VERSION
            and self.file.begins_as_read()
        ):
            return Growth(self.read(lambda: False, lambda _scan: None), replaced=False)
        return self.reload()

    def reload(self) -> Growth:
        """Reads the whole file again, whatever file has its name now. The old data stays where that is not a session.

        It also stays until all is read, and its file is open as long as somebody reads it: jobs go on meanwhile.
        """
        made = NativeFile(self.path)
        try:
            added = made.read(lambda: False, lambda _scan: None)
        except NotASession:
            # The current state counts as seen, so it is not reported as a change again.
            self.file.latest = made.file.latest
            made.close()
            raise
        self._read_from = made._read_from
        return Growth(added, replaced=True)

    # --- entries ---

    def origin(self, index: int) -> EntryLocation:
        """The place of an entry."""
        start = self.columns.start[index]
        place = self.scan.long_lines.get(start)
        return EntryLocation(self.path, start, place.size if place is not None else len(self.raw(index)))

    def records(self, index: int) -> list[bytes]:
        """The stored line of an entry; for a line that is too large, the abridged one."""
        return [_line(index, *self._read_from)]

    def raw(self, index: int) -> bytes:
        """The line of an entry as it stands in the file, without its end, however large: for copies."""
        return _raw(index, *self._read_from)

    def body(self, index: int) -> Body | None:
        """An entry's line as an object, migrated; None where the line proves not to be one."""
        file, scan = self._read_from
        return _migrated(index, decode_line(_line(index, file, scan)), scan)

    def bodies(
        self, entries: Iterable[int], pick: Callable[[int, bytes], bool] | None = None
    ) -> Iterator[tuple[EntryIndex, Body | None]]:
        """See `Source`: neighbours are read together, and lines that `pick` refuses are not decoded."""
        file, scan = self._read_from
        starts = scan.columns.start
        current = scan.version >= CURRENT_VERSION
        # The same as `decode_line`, without a call for each of a hundred thousand lines.
        loads = orjson.loads
        if scan.long_lines:
            # No block may include one of those lines.
            for index in entries:
                line = _line(index, file, scan)
                if pick is None or pick(index, line):
                    yield EntryIndex(index), _migrated(index, decode_line(line), scan)
            return
        for together in read_together(entries, starts):
            begin = starts[together[0]]
            block = file.at(begin, _behind(together[-1], scan) - begin)
            for index, line in zip(together, _lines_at(block, together, starts), strict=True):
                if pick is not None and not pick(index, line):
                    continue
                try:
                    body = loads(line)
                except orjson.JSONDecodeError:
                    body = decode_line(line)
                if type(body) is not dict:
                    body = None
                yield index, body if current else _migrated(index, body, scan)

    def stretches(self, entries: Iterable[int], most: int) -> Iterator[tuple[list[EntryIndex], memoryview]]:
        """Adjacent entries, at most `most` at once, and their lines as they stand; in the order asked for.

        Not for a file with lines that are too large to read.
        """
        file, scan = self._read_from
        starts = scan.columns.start
        for together in read_together(entries, starts):
            begin = starts[together[0]]
            block = memoryview(file.at(begin, _behind(together[-1], scan) - begin))
            for run in side_by_side(together, most):
                yield run, block[starts[run[0]] - begin : _behind(run[-1], scan) - begin]

    def entry(self, index: int) -> Entry:
        """One entry, decoded."""
        file, scan = self._read_from
        columns = scan.columns
        raw = _line(index, file, scan)
        body = _migrated(index, decode_line(raw), scan)
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
        """Marks entries whose lines proved not to be objects; their children lose their parent, as in pi.

        A scan judges a line by its beginning; a broken end shows when the body is decoded.
        """
        self.scan.discredit(set(entries))

    def is_kept(self, index: int) -> bool:  # noqa: ARG002  # nothing lies beside a native file
        """Whether an entry is kept beside the file: none is."""
        return False

    # --- the session as a whole ---

    def given_name(self) -> str | None:
        """The name in the last line that sets one, anywhere in the tree (pi 1.5.2)."""
        kinds = self.columns.kind
        at = kinds.rfind(Kind.SESSION_INFO)
        while at >= 0:
            body = self.body(at)
            if body is not None:
                name = body.get("name")
                return name.strip() or None if isinstance(name, str) else None
            at = kinds.rfind(Kind.SESSION_INFO, 0, at)
        return None

    @property
    def own_leaf(self) -> EntryIndex:
        """The last line, where pi goes on (pi 1.5.2)."""
        return self.scan.last

    @property
    def notes(self) -> list[SourceRemark]:
        """None: each line of the file is an entry, also a damaged one."""
        return []

    def recorded_window(self, at: int) -> int | None:  # noqa: ARG002  # pi records none
        """No context window: pi records none."""
        return None

    # --- writing ---

    @property
    def seen(self) -> os.stat_result:
        """The file's state when it was last read; writes are refused once it differs."""
        return self.file.seen

    @property
    def read_only(self) -> str | None:
        """The reason why this file is not writable; None where it is."""
        if self.scan.header is None:
            return "the file has no session header"
        if self.scan.version > CURRENT_VERSION:
            return f"the file is of version {self.scan.version}, newer than {CURRENT_VERSION}"
        if self.scan.version > 1 and Damage.NO_ID in self.columns.damage.values():
            return "entries of the file have no id"
        return None

    @property
    def book(self) -> NativeFile:
        """The file itself: operations are appended to it."""
        return self

    @property
    def book_path(self) -> Path:
        """The path of the file."""
        return self.path

    def book_header(self, time: str) -> Body:  # noqa: ARG002  # it has its time
        """Its first line."""
        return self.header

    def stamped(self, line: Body) -> Body:
        """A line about to be appended, as it is."""
        return line

    def went_on(self) -> str | None:
        """None: there are no files beside this one."""
        return None


def _line(index: int, file: SessionFile, scan: Scan) -> bytes:
    """The line of an entry; for a line that is too large, the abridged one."""
    place = scan.long_lines.get(scan.columns.start[index]) if scan.long_lines else None
    return place.line if place is not None else _raw(index, file, scan)


def _raw(index: int, file: SessionFile, scan: Scan) -> bytes:
    start = scan.columns.start[index]
    return file.at(start, _behind(index, scan) - start).partition(b"\n")[0]


def _behind(index: int, scan: Scan) -> int:
    """The offset after the line of an entry."""
    starts, following = scan.columns.start, index + 1
    return starts[following] if following < len(starts) else scan.end


def _migrated(index: int, body: Body | None, scan: Scan) -> Body | None:
    if body is None or scan.version >= CURRENT_VERSION:
        return body
    return migrated(body, EntryIndex(index), scan.columns, scan.version)


def _lines_at(block: bytes, together: list[EntryIndex], starts: array[int]) -> list[bytes]:
    """The lines of some entries in a block that begins with the first and ends with the last of them."""
    if together[-1] - together[0] == len(together) - 1:
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        if len(lines) == len(together):
            # No other bytes lie between them.
            return lines
    begin = starts[together[0]]
    found = []
    for index in together:
        at = starts[index] - begin
        newline = block.find(b"\n", at)
        found.append(block[at:] if newline < 0 else block[at:newline])
    return found
