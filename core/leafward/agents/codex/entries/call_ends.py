"""Records that tell how calls of Codex ended, and the result to which each of them belongs.

Such a record stands right before the result of its call, or right behind it as a repetition. With parallel calls it may stand
anywhere among the results, also behind its own. Records of what a script ran (`code_mode`) stand before the result of that script.
"""

from __future__ import annotations

from leafward.agents.codex.entries.code_mode import NESTED

_NO_RESULT = (-2, "")
"""Differs from every entry and call: -1 is the tip before the first entry."""


class CallEnds:
    """The records of one transcript that tell how calls ended, while its entries are being made.

    Places are offsets in a segment, as `at` is everywhere; stored places count from the beginning of the first segment.
    """

    __slots__ = ("_aside", "_last", "_results", "_start", "answers", "is_early", "waiting")

    def __init__(self) -> None:
        self.answers: dict[int, tuple[int, int]] = {}
        """For results: a record outside their stretch, as with parallel calls; its offset and size in bytes."""
        self.is_early = False
        """Whether a record tells a call's end before there is an entry: it may belong to the result before."""
        self.begin(0)

    def begin(self, start: int) -> None:
        """Begins a new segment at a byte."""
        self._start = start
        self.waiting: tuple[int, str, int] | None = None
        """Offset, call and size of a record about a call's end, while it may still belong to the result right behind it."""
        self._aside: dict[str, tuple[int, int]] = {}
        """Records about calls whose results did not follow, by call: offset, and size in bytes."""
        self._last = _NO_RESULT
        """The entry of the last result, and its call."""
        self._results: dict[str, int] = {}
        """The results beside that one, by call."""

    @property
    def are_settled(self) -> bool:
        """Whether each record that was read has its result."""
        return self.waiting is None and not self._aside

    def stand_at(self, tip: int) -> bool:
        """Whether an entry is the last result, or continues from it."""
        return self._last[0] == tip

    def move_to(self, index: int) -> None:
        """Lets records about the last result continue behind an entry that tells nothing about the calls."""
        self._last = index, self._last[1]

    def extend(self, others: CallEnds, base: int) -> None:
        """Adds the records of entries that were made apart, from the entry `base` on."""
        start = self._start
        self.waiting = others.waiting
        self._aside = {call: (start + place, size) for call, (place, size) in others._aside.items()}
        self.answers.update((base + one, (start + at, size)) for one, (at, size) in others.answers.items())
        if others._last[0] >= 0:
            self._last = base + others._last[0], others._last[1]
            self._results = {call: base + index for call, index in others._results.items()}

    def start_of(self, call: str, at: int) -> int:
        """The offset at which the stretch of a result begins: at the record right before it, if that is about the same call."""
        waiting = self.waiting
        if waiting is not None and (waiting[1] == call or waiting[1].startswith(NESTED)):
            self.waiting = None
            return waiting[0]
        self.put_aside()
        return at

    def add_result(self, call: str, index: int, tip: int) -> None:
        """Notes an entry as the result of a call, behind the entry at `tip`."""
        if self._last[0] != tip:
            self._results = {}
        self._last, self._results[call] = (index, call), index
        if self._aside and (elsewhere := self._aside.pop(call, None)) is not None:
            self.answers[index] = elsewhere

    def add(self, call: str, at: int, size: int, tip: int) -> None:
        """Adds the end of a call, for one of the last results or the next one; right behind its own result it only repeats that."""
        self.is_early = self.is_early or tip < 0
        if call.startswith(NESTED) and self.waiting is not None and self.waiting[1].startswith(NESTED):
            # The first one of a row begins the stretch of the result.
            return
        self.put_aside()
        if self._last[0] != tip or call not in self._results:
            self.waiting = at, call, size
        elif self._last[1] != call:
            self.answers[self._results[call]] = self._start + at, size

    def put_aside(self) -> None:
        """Sets the waiting record aside before other content: its result may come later."""
        if self.waiting is not None:
            at, call, size = self.waiting
            self.waiting = None
            if not call.startswith(NESTED):
                self._aside[call] = self._start + at, size

    def begin_turn(self) -> None:
        """Forgets the calls of the turn before: none of their results can follow."""
        self._aside.clear()
