"""Files of JSON lines as agents leave them: bytes at any place, and the records in a line that is none as a whole."""

from __future__ import annotations

import os
import re
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING

from leafward.base.errors import NotASession
from leafward.session.foreign import Note
from leafward.session.scan import decode_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from leafward.session.columns import Columns
    from leafward.session.entries import Body

CHUNK = 1 << 21
"""Bytes read at a time."""
BLANK = b"\0 \t\r"
"""What a line may hold and still say nothing."""
SPACE = b" \t\r"
"""What the end of a file may hold and still be whole: NULs are what a machine that died leaves there."""
MARK = b"\xef\xbb\xbf"
"""UTF-8's byte order mark. Editors leave it at the beginning of a file; it is passed over."""
_NUL = re.compile(rb"\0+")
_TRIED = 64
"""Places behind the beginning of a record at which it is tried to end."""
_BRACE = ord("{")


class OpenFile:
    """One file, open for reading at any place as long as the session is."""

    def __init__(self, path: str) -> None:
        """Opens it. Raises NotASession where that is not possible."""
        self.path = path
        try:
            if os.path.isdir(path):
                raise NotASession(f"{path} is a folder, not a session file")
            self._file: IO[bytes] = open(path, "rb", buffering=0)  # noqa: SIM115  # open as long as the session is
        except OSError as error:
            raise NotASession(f"cannot read {path}: {error.strerror or error}") from error
        self._lock = Lock()

    @property
    def size(self) -> int:
        """Bytes, as they are now."""
        return os.fstat(self._file.fileno()).st_size

    @property
    def identity(self) -> tuple[int, int]:
        """Which file it is."""
        now = os.fstat(self._file.fileno())
        return now.st_dev, now.st_ino

    @property
    def is_marked(self) -> bool:
        """Whether it begins with a byte order mark."""
        return self._read(0, len(MARK)) == MARK

    def at(self, offset: int, size: int) -> bytes:
        """Some bytes; a byte order mark reads as spaces, so that every other byte keeps its place. From any thread."""
        found = self._read(offset, size)
        if offset < len(MARK) and self.is_marked:
            mark = (b" " * len(MARK))[offset : offset + size]
            found = mark + found[len(mark) :]
        return found

    def _read(self, offset: int, size: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._file.fileno(), size, offset)
        with self._lock:
            self._file.seek(offset)
            return self._file.read(size)

    def blocks(
        self, stop: Callable[[], bool] = lambda: False, begin: int = 0
    ) -> Iterator[tuple[bytes, int, int]]:
        """The content from a byte on in blocks: a buffer, how much of it is whole lines, and its offset in the file.

        What is left at the end without a newline comes last, with 0 for the whole lines. A line larger than a chunk is read
        in steps that double, so that many megabytes are copied a few times only.
        """
        buffer, base = b"", begin
        while not stop():
            more = self.at(base + len(buffer), max(CHUNK, len(buffer)))
            if not more:
                break
            whole = more.rfind(b"\n") + 1
            if whole:
                whole += len(buffer)
            buffer = buffer + more if buffer else more
            if whole:
                yield buffer, whole, base
                # What follows the last newline is read again: that is less than to copy every block.
                base += whole
                buffer = b""
        if buffer and not stop():
            yield buffer, 0, base

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def marked_note(path: str, agent: str) -> Note:
    """The remark on a byte order mark."""
    text = f"{path} begins with a byte order mark, which is passed over; {agent} writes none"
    return Note("bom", text, path=Path(path), offset=0)


def unmarked(head: bytes) -> bytes:
    """The first bytes of a file, with spaces for a byte order mark."""
    return b" " * len(MARK) + head[len(MARK) :] if head.startswith(MARK) else head


def seams(data: bytes, start: int, end: int, begins: re.Pattern[bytes]) -> list[tuple[int, int]]:
    """The pieces of a line that is no record as a whole: every record in it, and what is broken between them.

    Lines get glued where a program dies before the newline or two write at once, and are torn or filled with NULs where the
    machine dies. `begins` finds how the agent begins a record.
    """
    cuts = {start, end}
    cuts.update(found.start() for found in begins.finditer(data, start, end))
    for hole in _NUL.finditer(data, start, end):
        cuts.update(hole.span())
    places = sorted(cuts)
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(places) - 1:
        # The longest whole piece from here: what looks like a start may lie inside a record.
        last = next(
            (
                last
                for last in range(min(len(places) - 1, at + _TRIED), at, -1)
                if data[places[at]] == _BRACE and decode_line(data[places[at] : places[last]]) is not None
            ),
            at + 1,
        )
        found.append((places[at], places[last]))
        at = last
    return found


def bodies_in(region: bytes, begins: re.Pattern[bytes]) -> Iterator[Body]:
    """The records in a stretch of a file that can be read, in order."""
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
    """Where the bytes of an entry begin and end: at the next entry that begins elsewhere, the last one at `end`."""
    starts = columns.start
    start, following = starts[index], index + 1
    while following < len(starts) and starts[following] == start:
        following += 1
    return start, starts[following] if following < len(starts) else end
