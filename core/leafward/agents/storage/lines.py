"""Files of JSON lines as agents leave them: bytes at any offset, and the records in a line that is not one record."""

from __future__ import annotations

import json
import os
from bisect import bisect_left
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING

from leafward.base.errors import NotASession
from leafward.base.late_pattern import late
from leafward.base.regular_files import next_data, open_regular
from leafward.session.entries import EntryIndex
from leafward.session.lines.abridged_lines import BOM, LINE_LIMIT, Abridger, LongLine
from leafward.session.lines.line_decoding import decode_line
from leafward.session.source import SourceRemark

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Self

    from leafward.session.columns import Columns
    from leafward.session.entries import Body

CHUNK = 1 << 21
"""Bytes read at a time."""
BLANK = b"\0 \t\r"
"""Bytes that a blank line may hold."""
SPACE = b" \t\r"
"""Bytes at the end of an intact file: NULs there are the traces of a crash."""
_SHOWN = 4 << 10
"""Bytes kept of a line that is too large and not a record."""
_PIECE = 1 << 22
"""Bytes at a time in a search through a file."""
_OVERLAP = 1 << 12
_NUL = late(rb"\0+(?:[^\0]{1,7}\0+)*")
"""NULs, with text between them that is too short for a record: text in UTF-16 has a NUL behind each letter."""
_TRIED = 64
"""Places behind the beginning of a record that are tried as its end."""
_BRACE = ord("{")
_VALUE = json.JSONDecoder(parse_int=len)
"""Finds the end of a value; numbers may have any length."""


class OpenFile:
    """One file, open for reading at any offset while the session is open."""

    def __init__(self, path: str) -> None:
        """Opens the file. Raises NotASession where that fails."""
        self.path = path
        try:
            if os.path.isdir(path):
                raise NotASession(f"{path} is a folder, not a session file")
            self._file: IO[bytes] = open_regular(path)
        except OSError as error:
            raise NotASession(f"cannot read {path}: {error.strerror or error}") from error
        self._lock = Lock()
        self.long_lines: dict[int, LongLine] = {}
        """Lines above `LINE_LIMIT` and long runs of NULs, by offset: they are not read whole."""

    @property
    def size(self) -> int:
        """Its present size in bytes."""
        return os.fstat(self._file.fileno()).st_size

    @property
    def written(self) -> int:
        """The time of the last write, in milliseconds since 1970."""
        return os.fstat(self._file.fileno()).st_mtime_ns // 1_000_000

    @property
    def identity(self) -> tuple[int, int]:
        """The identity of the file."""
        now = os.fstat(self._file.fileno())
        return now.st_dev, now.st_ino

    @property
    def has_name(self) -> bool:
        """Whether its path still leads to it: not after it was replaced, or where it is an unpacked copy."""
        try:
            now = os.stat(self.path)
        except OSError:
            return False
        return (now.st_dev, now.st_ino) == self.identity

    @property
    def is_marked(self) -> bool:
        """Whether it begins with a byte order mark."""
        return self._read(0, len(BOM)) == BOM

    def at(self, offset: int, size: int) -> bytes:
        """Some bytes; a byte order mark reads as spaces, so that every other byte keeps its offset. From any thread."""
        found = self._read(offset, size)
        if offset < len(BOM) and self.is_marked:
            mark = (b" " * len(BOM))[offset : offset + size]
            found = mark + found[len(mark) :]
        return found

    def _read(self, offset: int, size: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._file.fileno(), size, offset)
        with self._lock:
            self._file.seek(offset)
            return self._file.read(size)

    def blocks(
        self, stop: Callable[[], bool] = lambda: False, begin: int = 0, *, entire: bool = False
    ) -> Iterator[tuple[bytes, int, int]]:
        """The content from a byte on in blocks: a buffer, the length of its whole lines, and its offset in the file.

        Text behind the last newline comes last, with 0 as the length of whole lines. A line larger than a chunk is read in steps
        that double, so that many megabytes are copied only a few times. A line above `LINE_LIMIT` is replaced by a shorter one, in
        a block of its own, unless lines are wanted `entire`; a chunk or more of NULs ends a line. `extent` gives the size of such
        a block in the file.
        """
        buffer, base = b"", begin
        while not stop():
            if len(buffer) >= LINE_LIMIT and not entire:
                line, is_whole = self._long_line(buffer, base, stop)
                if is_whole:
                    yield line + b"\n", len(line) + 1, base
                    base += self.long_lines[base].size + 1
                    buffer = b""
                    continue
                buffer = line
                break
            more = self.at(base + len(buffer), max(CHUNK, len(buffer)))
            if not more:
                break
            whole = more.rfind(b"\n") + 1
            if not whole and not entire and len(more) >= CHUNK and not more.strip(b"\0"):
                torn, run = buffer, base + len(buffer)
                base = self._behind_nuls(run + len(more), stop)
                if torn.strip(BLANK):
                    # The newline behind it is made up: it replaces the last byte of the run, or of the piece.
                    behind = base if base < self.size else run
                    self.long_lines[run - len(torn)] = LongLine(behind - run + len(torn) - 1, torn)
                    yield torn + b"\n", len(torn) + 1, run - len(torn)
                else:
                    run -= len(torn)
                self.long_lines[run] = LongLine(base - run, b"\0")
                buffer = b""
                if base >= self.size:
                    buffer, base = b"\0", run
                    break
                continue
            if whole:
                whole += len(buffer)
            buffer = buffer + more if buffer else more
            if whole:
                yield buffer, whole, base
                # The bytes behind the last newline are read again, which takes less than copying every block.
                base += whole
                buffer = b""
        if buffer and not stop():
            yield buffer, 0, base

    def extent(self, at: int, size: int) -> int:
        """The bytes in the file of a block that begins at an offset and holds `size` bytes."""
        place = self.long_lines.get(at)
        return size if place is None else place.size + size - len(place.line)

    def region(self, start: int, size: int) -> bytes:
        """A stretch as it was read, with the replacements of lines and runs that are too large."""
        if not self.long_lines or size < CHUNK:
            return self.at(start, size)
        found, at, end = [], start, start + size
        for offset in sorted(one for one in self.long_lines if start <= one < end):
            place = self.long_lines[offset]
            found += [self.at(at, max(0, offset - at)), place.line]
            at = max(at, offset + max(place.size, len(place.line)))
        return b"".join([*found, self.at(at, end - at) if at < end else b""])

    def _long_line(self, begun: bytes, base: int, stop: Callable[[], bool]) -> tuple[bytes, bool]:
        """The replacement of a line whose beginning, up to the limit, was read; and whether a newline ends the line."""
        abridger, size = Abridger(), len(begun)
        for at in range(0, size, CHUNK):
            abridger.feed(begun[at : at + CHUNK])
        shown, begun, is_whole = begun[:_SHOWN] + b"\0", b"", False
        while not stop() and not is_whole:
            if abridger.failed:
                size = self._data_from(base + size) - base
            piece = self.at(base + size, CHUNK)
            if not piece:
                break
            line, newline, _ = piece.partition(b"\n")
            abridger.feed(line)
            size += len(line)
            is_whole = bool(newline)
        found = abridger.finish() or shown
        self.long_lines[base] = LongLine(size, found)
        return found, is_whole

    def _behind_nuls(self, at: int, stop: Callable[[], bool]) -> int:
        """The end of a run of NULs that was read up to an offset."""
        while not stop():
            at = self._data_from(at)
            more = self.at(at, CHUNK)
            rest = more.lstrip(b"\0")
            at += len(more) - len(rest)
            if rest or not more:
                return at
        return at

    def _data_from(self, at: int) -> int:
        return next_data(self._file.fileno(), at, max(at, self.size))

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def pieces_of(path: str) -> Iterator[bytes]:
    """The content of a file in pieces of whole lines, without runs of NULs, for a search in bytes. Raises OSError.

    It is read, not mapped: a file that is truncated while mapped would end the process. Lines above a few megabytes come in
    parts, each with the last bytes of the part before it.
    """
    with open_regular(path) as file:
        rest, at = b"", 0
        while True:
            data = file.read(_PIECE) or b""
            if not data:
                break
            at += len(data)
            if len(data) == _PIECE and not data.strip(b"\0"):
                at = file.seek(next_data(file.fileno(), at, max(at, os.fstat(file.fileno()).st_size)))
                continue
            end = data.rfind(b"\n") + 1
            if end:
                yield rest + data[:end]
                rest = data[end:]
            else:
                yield rest + data
                rest = data[-_OVERLAP:]
        if rest:
            yield rest


def marked_note(path: str, agent: str) -> SourceRemark:
    """The remark on a byte order mark."""
    text = f"{path} begins with a byte order mark, which is ignored; {agent} writes none"
    return SourceRemark("bom", text, path=Path(path), offset=0)


def another_session(entry: int, path: Path, place: int) -> SourceRemark:
    """The remark on an entry with which another conversation begins in the same file."""
    text = "another session begins here in the same file: nothing before it is sent with it"
    return SourceRemark("another-session", text, EntryIndex(entry), path, place)


def oversize_notes(path: str, long_lines: Mapping[int, LongLine]) -> list[SourceRemark]:
    """Remarks on lines and runs that were not read whole."""
    return [
        SourceRemark(
            "oversize",
            f"a run of {place.size:,} NUL bytes is skipped"
            if place.line == b"\0"
            else f"a line of {place.size:,} bytes is too large to be read whole: long texts in it are cut",
            path=Path(path),
            offset=offset,
        )
        for offset, place in sorted(long_lines.items())
        if place.size > len(place.line) + CHUNK
    ]


def unmarked(head: bytes) -> bytes:
    """The first bytes of a file, with spaces for a byte order mark."""
    return b" " * len(BOM) + head[len(BOM) :] if head.startswith(BOM) else head


def seams(data: bytes, start: int, end: int, begins: re.Pattern[bytes]) -> list[tuple[int, int]]:
    """The pieces of a line that is not one record: all its records, and the broken text between them.

    Lines are glued where a program dies before the newline or two programs write at once, and torn or filled with NULs where
    the machine crashes. `begins` finds the beginning of an agent's record.
    """
    cuts = {start, end}
    cuts.update(found.start() for found in begins.finditer(data, start, end))
    for hole in _NUL.finditer(data, start, end):
        cuts.update(hole.span())
    places = sorted(cuts)
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(places) - 1:
        last = _end_of_record(data, places, at) if data[places[at]] == _BRACE else at + 1
        found.append((places[at], places[last]))
        at = last
    return found


def _end_of_record(data: bytes, places: Sequence[int], at: int) -> int:
    """The place among `places` at which the record that begins at one of them ends; the next place where none fits.

    A seeming beginning may lie inside a record. A record is decoded once to find its end: decoding it up to each place takes
    minutes for a file of some megabytes whose lines were joined.
    """
    begin, furthest = places[at], min(len(places) - 1, at + _TRIED)
    tried = range(furthest, at, -1)
    if places[furthest] - begin <= LINE_LIMIT:
        text = data[begin : places[furthest]].decode("utf-8", "surrogateescape")
        try:
            _, stop = _VALUE.raw_decode(text)
        except ValueError:
            return at + 1
        except RecursionError:
            pass
        else:
            last = bisect_left(places, begin + len(text[:stop].encode("utf-8", "surrogateescape")), at + 1)
            tried = range(last, last - 1, -1)
    whole = (last for last in tried if decode_line(data[begin : places[last]]) is not None)
    return next(whole, at + 1)


def bodies_in(region: bytes, begins: re.Pattern[bytes]) -> Iterator[Body]:
    """The readable records in a stretch of a file, in order."""
    for line in region.split(b"\n"):
        if not line.strip(BLANK):
            continue
        body = decode_line(line)
        if body is not None:
            yield body
            continue
        for start, stop in seams(line, 0, len(line), begins):
            body = decode_line(line[start:stop])
            if body is not None:
                yield body


def stretch_of(columns: Columns, index: int, end: int) -> tuple[int, int]:
    """Begin and end of an entry's bytes: they end at the next entry with another begin, those of the last entry at `end`."""
    starts = columns.start
    start, following = starts[index], index + 1
    while following < len(starts) and starts[following] == start:
        following += 1
    return start, starts[following] if following < len(starts) else end
