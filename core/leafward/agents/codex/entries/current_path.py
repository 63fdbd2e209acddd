"""The path from the first entry to the tip while a thread is read: rollbacks shorten it, and branches continue from it."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from leafward.session.entries import Kind


class PathState(NamedTuple):
    """The state at a branch's place, from which a segment that begins there continues."""

    path: tuple[tuple[int, int], ...]
    model: str | None
    effort: str | None
    total: int | None


START = PathState((), None, None, None)


class Course:
    """The path to the tip as ranges of entries, one for each branch passed."""

    def __init__(self, path: tuple[tuple[int, int], ...] = ()) -> None:
        self._path = [list(span) for span in path]

    @property
    def tip(self) -> int:
        """The last entry; -1 where there is none."""
        return self._path[-1][1] - 1 if self._path else -1

    def frozen(self) -> tuple[tuple[int, int], ...]:
        """The present ranges."""
        return tuple((start, stop) for start, stop in self._path)

    def extend(self, first: int, stop: int) -> None:
        """Adds entries behind the tip, each behind the one before."""
        path = self._path
        if path and (last := path[-1])[1] == first:
            last[1] = stop
        else:
            path.append([first, stop])

    def holds(self, index: int) -> bool:
        """Whether an entry is on the path."""
        place = bisect_left(self._path, [index + 1]) - 1
        return place >= 0 and index < self._path[place][1]

    def cut(self, index: int) -> None:
        """Ends the path right above one of its entries."""
        while self._path and self._path[-1][0] >= index:
            self._path.pop()
        if self._path and self._path[-1][1] > index:
            self._path[-1][1] = index

    def end_at(self, index: int) -> None:
        """Ends the path at one of its entries."""
        while self._path and self._path[-1][0] > index:
            self._path.pop()
        if self._path and self._path[-1][1] > index + 1:
            self._path[-1][1] = index + 1

    def opening(self, kinds: bytearray) -> tuple[list[int], list[int]]:
        """The entries injected before the first prompt, and all prompts."""
        initial: list[int] = []
        users: list[int] = []
        for start, stop in self._path:
            at = kinds.find(Kind.USER, start, stop)
            if not users:
                before = range(start, at if at >= 0 else stop)
                initial += [index for index in before if kinds[index] == Kind.INJECTED]
            while at >= 0:
                users.append(at)
                at = kinds.find(Kind.USER, at + 1, stop)
        return initial, users
