"""The bytes of a rollout, plain or compressed, and its lines one after the other in bounded memory."""

from __future__ import annotations

import tempfile
from typing import IO, TYPE_CHECKING, cast

from leafward.agents.codex.first_program import ENDING, document_lines, is_document
from leafward.agents.codex.store import COLD
from leafward.agents.storage.lines import OpenFile, unmarked
from leafward.base.errors import NotASession
from leafward.base.regular_files import open_buffered
from leafward.base.unpacking import CannotUnpack, unpacked, unpacked_head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LONGEST_HEAD = 1 << 22
_DOCUMENT_HEAD = 256


class Rollout(OpenFile):
    """One file of a thread. A compressed one, or a document of the first program, is unpacked to a temporary file without a name."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.torn: str | None = None
        """Why the content of a compressed file is incomplete; None where it is complete."""
        if path.endswith(COLD):
            packed = self._file
            try:
                self._file, self.torn = _unpacked(packed, path)
            finally:
                packed.close()
        elif path.endswith(ENDING) and is_document(self._read(0, _DOCUMENT_HEAD)):
            with self._file as document:
                self._file = _as_lines(document.read())

    def lines(
        self, stop: Callable[[], bool] = lambda: False, *, entire: bool = False
    ) -> Iterator[tuple[bytes, int, int, int]]:
        """The lines: a buffer, begin and end of the line in it, and its offset in the file. `entire`: see `blocks`."""
        for buffer, whole, base in self.blocks(stop, entire=entire):
            yield from lines_in(buffer, whole or len(buffer), base)

    def first_line(self) -> bytes:
        """The first line, of at most a few megabytes."""
        return first_line(self.at)


def lines_in(buffer: bytes, stop: int, base: int) -> Iterator[tuple[bytes, int, int, int]]:
    """The lines of a block: the buffer, begin and end of each line in it, and its offset in the file."""
    start = 0
    while start < stop:
        newline = buffer.find(b"\n", start, stop)
        end = newline if newline >= 0 else stop
        yield buffer, start, end, base + start
        start = end + 1


def first_line(at: Callable[[int, int], bytes]) -> bytes:
    """The first line of the bytes that a function reads."""
    size = 1 << 15
    while True:
        head = at(0, size)
        line, newline, _ = head.partition(b"\n")
        if newline or len(head) < size or size >= _LONGEST_HEAD:
            return line
        size *= 4


def head_of(path: str, size: int) -> bytes:
    """The first bytes of a rollout, unpacked. Raises OSError."""
    with open_buffered(path) as file:
        head = file.read(size)
        if path.endswith(ENDING) and is_document(head):
            return document_lines(head + file.read())[:size]
        return unmarked(unpacked_head(head, size) if path.endswith(COLD) else head)


def unpacked_lines(path: str) -> Iterator[bytes | None]:
    """The content of a compressed file in pieces of whole lines; the last piece is the text behind the last line end.

    None comes before that piece where the rest cannot be unpacked.
    """
    rest: list[bytes] = []
    try:
        with open_buffered(path) as packed:
            for piece in unpacked(packed):
                whole, newline, tail = piece.rpartition(b"\n")
                if newline:
                    yield b"".join((*rest, whole))
                    rest = [tail]
                else:
                    rest.append(piece)
    except (CannotUnpack, OSError):
        yield None
    yield b"".join(rest)


def _as_lines(document: bytes) -> IO[bytes]:
    """The lines of a document in a temporary file."""
    plain = cast("IO[bytes]", tempfile.TemporaryFile(prefix="leafward-"))  # noqa: SIM115  # as long as the session is
    plain.write(document_lines(document))
    plain.flush()
    return plain


def _unpacked(packed: IO[bytes], path: str) -> tuple[IO[bytes], str | None]:
    """The content in a temporary file, and the error in the rest of it."""
    plain = cast("IO[bytes]", tempfile.TemporaryFile(prefix="leafward-"))  # noqa: SIM115  # as long as the session is
    torn = None
    try:
        for piece in unpacked(packed):
            plain.write(piece)
        plain.flush()
    except CannotUnpack as error:
        torn = str(error)
        if not plain.tell():
            plain.close()
            raise NotASession(f"{path} cannot be unpacked: {error}") from error
        plain.flush()
    except OSError:
        plain.close()
        raise
    return plain, torn
