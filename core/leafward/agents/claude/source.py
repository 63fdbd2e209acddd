"""The bytes of a transcript."""

from __future__ import annotations

from leafward.agents.storage.lines import CHUNK, OpenFile

_SEALED = 512


class TranscriptFile(OpenFile):
    """The file of one transcript."""

    def read_line(self, offset: int) -> bytes:
        """The bytes from an offset to the end of its line; the replacement of a line that is too large."""
        place = self.long_lines.get(offset)
        return place.line if place is not None else self.line(offset)

    def line(self, offset: int) -> bytes:
        """The bytes from an offset to the end of its line, however large: for copies."""
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
        """The last bytes before an offset: a file that only grew still has them."""
        start = max(0, end - _SEALED)
        return self.at(start, end - start)
