"""The bytes of a transcript, and its lines one after the other in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.lines import CHUNK, OpenFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SEALED = 512


class TranscriptFile(OpenFile):
    """The file of one transcript."""

    def line(self, offset: int) -> bytes:
        """What stands from a place to the end of its line."""
        step = 1 << 14
        found = b""
        while True:
            more = self.at(offset + len(found), step)
            head, newline, _ = more.partition(b"\n")
            found += head
            if newline or len(more) < step:
                return found
            step = min(CHUNK, step * 4)

    def seal(self, end: int) -> bytes:
        """The last bytes before a place: a file that only grew still has them."""
        start = max(0, end - _SEALED)
        return self.at(start, end - start)

    def lines(self, stop: Callable[[], bool], position: int = 0) -> Iterator[tuple[bytes, int, int, int]]:
        """The lines from a place on: a buffer, where in it the line begins and ends, and its offset in the file.

        A last line without a newline comes too, and then its end is the buffer's.
        """
        buffer, base, step = b"", position, CHUNK
        while not stop():
            more = self.at(position, step)
            if not more:
                break
            position += len(more)
            newline = more.find(b"\n")
            known = len(buffer)
            buffer = buffer + more if buffer else more
            if newline < 0:
                # A line of many megabytes is copied a few times only.
                step = max(CHUNK, len(buffer))
                continue
            step, start = CHUNK, 0
            newline += known
            while newline >= 0:
                yield buffer, start, newline, base + start
                start = newline + 1
                newline = buffer.find(b"\n", start)
            base += start
            buffer = buffer[start:]
        if buffer and not stop():
            yield buffer, 0, len(buffer), base
