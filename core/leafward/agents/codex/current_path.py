"""The path from the first entry to the tip while a thread is read: rollbacks shorten it, and branches continue from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import Kind

if TYPE_CHECKING:
    from collections.abc import Collection

_INJECTED_FOR_TURN = (Kind.INJECTED, Kind.CUSTOM, Kind.MODEL_CHANGE)
"""Kinds between two turns that are undone with the later one."""
TAKES_INJECTED_BACK = 105
"""Codex 0.105 is the first version whose rollback also takes back what was injected for the turn: 0.93 and 0.104 still send it."""
TAKES_ALL_BACK = 117
"""From 0.117 on that includes the note that the turn before was stopped, which 0.116 still sends (tried with the programs)."""


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
        return any(start <= index < stop for start, stop in reversed(self._path))

    def cut(self, index: int) -> None:
        """Ends the path right above one of its entries."""
        while self._path and self._path[-1][0] >= index:
            self._path.pop()
        if self._path and self._path[-1][1] > index:
            self._path[-1][1] = index

    def drop_turns(self, turns: int, kinds: bytearray, *, injected: bool, stays: Collection[int] = ()) -> int:
        """Goes back before the last `turns` prompts, as `thread_rolled_back` does; returns the first of them, -1 without one.

        Entries `injected` for a turn go with it, in versions that do so, up to the last one that `stays`; those of the first turn
        stay, as they belong to the session.
        """
        prompts: list[int] = []
        for start, stop in reversed(self._path):
            at = kinds.rfind(Kind.USER, start, stop)
            while at >= 0 and len(prompts) <= turns:
                prompts.append(at)
                at = kinds.rfind(Kind.USER, start, at)
        if not prompts:
            return -1
        first = prompts[min(turns, len(prompts)) - 1]
        self.cut(first)
        if injected and len(prompts) > turns:
            while self.tip >= 0 and kinds[self.tip] in _INJECTED_FOR_TURN and self.tip not in stays:
                self.cut(self.tip)
        return first

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
