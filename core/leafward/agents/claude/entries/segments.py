"""Lines of entries: an entry and those that follow it until somebody speaks, while links are being made."""

from __future__ import annotations

from array import array
from bisect import bisect_right

from leafward.session.entries import BOOKKEEPING_BYTES, Kind


class Segments:
    """Lines, each identified by its first entry. Most are ranges of entries, of which only the bounds are kept."""

    def __init__(self, kinds: bytearray, *, scattered: bool) -> None:
        self._kinds = kinds
        self._starts = array("i")
        """Stretches of entries in one line, by their first entries."""
        self._lines = array("i")
        """The line of each stretch."""
        self._end = 0
        """The place behind the last placed entry."""
        self._open: set[int] = set()
        self._known: dict[int, tuple[int, int, int]] = {}
        """For lines that are not ranges: last entry, last result, and last entry that is not metadata."""
        self._of: dict[int, int] | None = {} if scattered else None
        """The line of each entry, if entries are placed in any order."""

    def of(self, entry: int) -> int:
        """The line of an entry; -1 where it is not placed yet."""
        if self._of is not None:
            return self._of.get(entry, -1)
        return self._lines[bisect_right(self._starts, entry) - 1] if entry < self._end else -1

    def is_open(self, line: int) -> bool:
        """Whether nobody speaks below it."""
        return line in self._open

    def close(self, line: int) -> None:
        """Notes that somebody speaks below the line."""
        self._open.discard(line)

    def ends(self, line: int) -> tuple[int, int, int]:
        """The last entry of a line, its last result, and its last entry that is not metadata; -1 for no result."""
        known = self._known.get(line)
        if known is not None:
            return known
        following = bisect_right(self._starts, line)
        stop = self._starts[following] if following < len(self._starts) else self._end
        return self._ends_in(line, stop, (line, -1, line))

    def _ends_in(self, first: int, stop: int, before: tuple[int, int, int]) -> tuple[int, int, int]:
        """The ends of a line, extended by a range of entries behind its known ends."""
        result = self._kinds.rfind(Kind.TOOL_RESULT, first, stop)
        solid = first + len(self._kinds[first:stop].rstrip(BOOKKEEPING_BYTES)) - 1
        return stop - 1, result if result >= 0 else before[1], solid if solid >= first else before[2]

    def tail(self, line: int) -> int:
        """The last entry of a line."""
        return self.ends(line)[0]

    def begin(self, entry: int) -> None:
        """Begins a line."""
        self._open.add(entry)
        if self._of is not None:
            self._of[entry] = entry
            self._known[entry] = self._ends_in(entry, entry + 1, (entry, -1, entry))
            return
        self._starts.append(entry)
        self._lines.append(entry)
        self._end = entry + 1

    def join(self, entry: int, line: int) -> None:
        """Adds an entry behind the last one of a line."""
        if self._of is not None:
            self._of[entry] = line
        elif self._lines[-1] == line:
            self._go_on(entry + 1)
            return
        else:
            self._known[line] = self.ends(line)
            self._starts.append(entry)
            self._lines.append(line)
            self._end = entry + 1
        self._known[line] = self._ends_in(entry, entry + 1, self._known[line])

    def extend(self, stop: int, speaking: array[int]) -> None:
        """Adds entries up to `stop`, each behind the one before; each of the speaking ones begins a line."""
        self._go_on(speaking[0] if speaking else stop)
        if speaking:
            self._open.discard(self._lines[-1])
            self._open.add(speaking[-1])
            self._starts.extend(speaking)
            self._lines.extend(speaking)
            self._end = stop

    def _go_on(self, stop: int) -> None:
        """Adds entries up to `stop` to the line of the last one."""
        line = self._lines[-1]
        if line in self._known and stop > self._end:
            self._known[line] = self._ends_in(self._end, stop, self._known[line])
        self._end = stop
