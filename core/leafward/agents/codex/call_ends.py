"""How calls of Codex ended, as records besides their results say: which result each of these records belongs to.

Such a record stands right before the result of its call, or repeats what stands right behind it. Of calls that ran side by
side it may stand anywhere among the results, also behind its own.
"""

from __future__ import annotations

_NO_RESULT = (-2, "")
"""Equal to no entry and call: -1 is the tip before the first entry."""


class CallEnds:
    """The records of one transcript that say how calls ended, while its entries are being made.

    Places are offsets in a segment, as `at` is everywhere; those that are kept count from the beginning of the first segment.
    """

    __slots__ = ("_aside", "_last", "_results", "_start", "answers", "is_early", "waiting")

    def __init__(self) -> None:
        self.answers: dict[int, tuple[int, int]] = {}
        """By result what is said of it outside of its stretch, as of calls that ran side by side: where, and how many bytes."""
        self.is_early = False
        """Whether it is said how a call ended before there is an entry: it may have been that of the result before."""
        self.begin(0)

    def begin(self, start: int) -> None:
        """A new segment begins at a byte."""
        self._start = start
        self.waiting: tuple[int, str, int] | None = None
        """The record that ended a call, the call's id and the record's size, while it may still belong to the result right behind it."""
        self._aside: dict[str, tuple[int, int]] = {}
        """The same of calls whose results did not come right behind it: where, and how many bytes."""
        self._last = _NO_RESULT
        """The entry of the last result, and its call."""
        self._results: dict[str, int] = {}
        """The results that stand together with it, by their calls."""

    @property
    def are_settled(self) -> bool:
        """Whether each record that was read has its result."""
        return self.waiting is None and not self._aside

    def stand_at(self, tip: int) -> bool:
        """Whether an entry is the last result, or goes on from it."""
        return self._last[0] == tip

    def move_to(self, index: int) -> None:
        """What stands together with the last result goes on behind an entry that says nothing of the calls."""
        self._last = index, self._last[1]

    def extend(self, others: CallEnds, base: int) -> None:
        """Adds those of entries that were made apart, from the entry `base` on."""
        start = self._start
        self.waiting = others.waiting
        self._aside = {call: (start + place, size) for call, (place, size) in others._aside.items()}
        self.answers.update((base + one, (start + at, size)) for one, (at, size) in others.answers.items())
        if others._last[0] >= 0:
            self._last = base + others._last[0], others._last[1]
            self._results = {call: base + index for call, index in others._results.items()}

    def start_of(self, call: str, at: int) -> int:
        """Where the stretch of a result at a place begins: with the record right before it, if that is of its call."""
        waiting = self.waiting
        if waiting is not None and waiting[1] == call:
            self.waiting = None
            return waiting[0]
        self.put_aside()
        return at

    def add_result(self, call: str, index: int, tip: int) -> None:
        """The result of a call is an entry, behind the one at `tip`."""
        if self._last[0] != tip:
            self._results = {}
        self._last, self._results[call] = (index, call), index
        if self._aside and (elsewhere := self._aside.pop(call, None)) is not None:
            self.answers[index] = elsewhere

    def add(self, call: str, at: int, size: int, tip: int) -> None:
        """How a call ended: it belongs to the result that comes next, but for what repeats what stands right behind that."""
        self.is_early = self.is_early or tip < 0
        self.put_aside()
        if self._last[0] != tip or call not in self._results:
            self.waiting = at, call, size
        elif self._last[1] != call:
            self.answers[self._results[call]] = self._start + at, size

    def put_aside(self) -> None:
        """Something else comes behind the record that waits: its result may come later on."""
        if self.waiting is not None:
            at, call, size = self.waiting
            self._aside[call], self.waiting = (self._start + at, size), None

    def begin_turn(self) -> None:
        """Forgets the calls of the turn before: no result of theirs comes any more."""
        self._aside.clear()
