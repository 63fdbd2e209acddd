"""The turns of a measured path, and the rows of a plan: folded, one for each turn, and one for each message at the cut.

Positions are those of `PathSizes`. A row stands for a range of them, and its values are computed when it is drawn: a
path of a million entries has a dozen blocks.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from leafward.compaction.strategies.cut_rules import LEGAL, CutRule, first_said, rules
from leafward.session.entries import NO_ENTRY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.compaction.measure.measure import PathSizes
    from leafward.compaction.plan.plan import Plan
    from leafward.context.estimators import Estimator

_BEFORE_CUT, _AFTER_CUT = 3, 2
"""Messages of a split turn that are shown on either side of the cut."""
_OLDER = 3
"""Turns shown before the turn of the cut, at least."""
_NEWEST = 2
"""Turns at the end that are never folded away."""


class Fate(Enum):
    """The fate of a message."""

    SUMMARISED = "S"
    PREFIX = "P"
    KEPT = "K"


class RowKind(Enum):
    """The kinds of rows."""

    CARRIED = auto()
    """The earlier summary that stands for everything before; it goes into the new one."""
    TURN = auto()
    TURNS = auto()
    """Turns folded into one row."""
    MESSAGE = auto()
    MESSAGES = auto()
    """Messages of the split turn folded into one row."""
    BRANCH = auto()
    """A branch that leaves the path."""
    CUT = auto()


@dataclass(frozen=True, slots=True)
class Stub:
    """A branch that leaves the path."""

    turn: int
    """The turn that it leaves."""
    entry: int
    """Its first entry."""


@dataclass(frozen=True, slots=True)
class CutRow:
    """One row: positions `first` to before `stop`."""

    kind: RowKind
    first: int = 0
    stop: int = 0
    count: int = 1
    """Turns or messages that are folded into it."""
    entry: int = NO_ENTRY
    """First entry of a branch."""


class PathTurns:
    """A measured path by turns, with the rule that holds at every position. Made once."""

    def __init__(self, sizes: PathSizes, stubs: Sequence[Stub] = ()) -> None:
        self.sizes = sizes
        lead = first_said(sizes, 0)
        first = array("i", sizes.starts)
        if not len(first) or lead < first[0]:
            first.insert(0, 0)
        first[0] = 0
        self.first = first
        """The position that each turn begins at."""
        self.rules = rules(sizes)
        self.cuts = array("i", (at for at in sizes.cuts if CutRule(self.rules[at]) in LEGAL))
        """Messages that a tail may begin with, by position."""
        self.clean = array("i", (at for at in self.cuts if self.rules[at] == CutRule.TURN_START))
        """Those of them that split no turn."""
        self.stubs: dict[int, list[Stub]] = {}
        for stub in stubs:
            self.stubs.setdefault(stub.turn, []).append(stub)
        self._kept: dict[tuple[Estimator, bool], array[int]] = {}

    def __len__(self) -> int:
        return len(self.first) if len(self.sizes) else 0

    def turn_of(self, position: int) -> int:
        """The turn that a position belongs to."""
        return max(0, bisect_right(self.first, position) - 1)

    def number_of(self, position: int) -> int:
        """The turn's number on the path at a position, from 1, as every screen counts; 0 before the first prompt."""
        return self.sizes.context.session.tree.prompts_upto(self.sizes.entries[position])

    def stop_of(self, turn: int) -> int:
        """The position after a turn."""
        return self.first[turn + 1] if turn + 1 < len(self.first) else len(self.sizes)

    def messages(self, start: int, stop: int) -> array[int]:
        """Positions of the messages in a range."""
        spoken = self.sizes.spoken
        return spoken[bisect_left(spoken, start) : bisect_left(spoken, stop)]

    def tokens(self, start: int, stop: int, estimator: Estimator) -> int:
        """Tokens of a range; the system prompt is not counted."""
        counts = self.sizes.counts_by(estimator)
        apart = sum(counts.tokens[at] for at in self.sizes.systems if start <= at < stop)
        return counts.between(start, stop) - apart

    def kept_by(self, cut: int, estimator: Estimator) -> int:
        """Tokens of a tail that begins at a position."""
        return self.tokens(cut, len(self.sizes), estimator)

    def stops(self, estimator: Estimator, *, clean: bool) -> array[int]:
        """Tokens that each legal cut keeps; with `clean`, for cuts that split no turn only. Computed once."""
        key = (estimator, clean)
        if key not in self._kept:
            cuts = self.clean if clean else self.cuts
            self._kept[key] = array("q", (self.kept_by(cut, estimator) for cut in cuts))
        return self._kept[key]

    def cut_beside(self, cut: int, step: int) -> int:
        """The legal cut after (or before) a position, by position; -1 where there is none.

        `cut` may be a quiet entry before the message that the tail begins with.
        """
        here = first_said(self.sizes, cut)
        at = bisect_right(self.cuts, here) if step > 0 else bisect_left(self.cuts, here) - 1
        return self.cuts[at] if 0 <= at < len(self.cuts) else -1


class CutRows:
    """The rows that a plan makes of a path, for a pane of some height."""

    def __init__(
        self, turns: PathTurns, plan: Plan, height: int, *, opened: bool = False, carried: bool = False
    ) -> None:
        self.turns = turns
        self.plan = plan
        sizes = turns.sizes
        end = len(sizes)
        self.cut = end
        """The position that the kept tail begins at; the end where there is none."""
        if plan.first_kept >= 0:
            self.cut = sizes.position(plan.first_kept)
        elif plan.nothing:
            self.cut = 0
        self.history = sizes.position(plan.turn_prefix[0]) if len(plan.turn_prefix) else self.cut
        self._rows: list[CutRow | tuple[int, int]] = []
        """Rows, and ranges of turns with a row each."""
        self._starts = array("i")
        self._length = 0
        self.cut_y = -1
        """The row of the cut; -1 where nothing is compacted."""
        if carried:
            self._add(CutRow(RowKind.CARRIED))
        if len(turns):
            self._fill(height - len(self), opened)

    def __len__(self) -> int:
        return self._length

    def _add(self, row: CutRow) -> None:
        self._rows.append(row)
        self._starts.append(self._length)
        self._length += 1

    def _add_turns(self, first: int, stop: int) -> None:
        """Adds a row for each turn, with the branches that leave it."""
        for turn in sorted(self.turns.stubs.keys() & set(range(first, stop))) if self.turns.stubs else ():
            self._plain(first, turn + 1)
            self._branches(turn)
            first = turn + 1
        self._plain(first, stop)

    def _plain(self, first: int, stop: int) -> None:
        if stop > first:
            self._rows.append((first, stop))
            self._starts.append(self._length)
            self._length += stop - first

    def _branches(self, turn: int) -> None:
        for stub in self.turns.stubs.get(turn, ()):
            self._add(CutRow(RowKind.BRANCH, entry=stub.entry))

    def _fold(self, first: int, stop: int) -> None:
        """Adds one row for some turns; a single turn keeps its own row."""
        if stop - first == 1:
            self._add_turns(first, stop)
        elif stop > first:
            start, end = self.turns.first[first], self.turns.stop_of(stop - 1)
            self._add(CutRow(RowKind.TURNS, start, end, stop - first))

    def _fill(self, height: int, opened: bool) -> None:
        turns = self.turns
        total = len(turns)
        lead = first_said(turns.sizes, self.cut)
        at = turns.turn_of(lead) if lead < len(turns.sizes) else total
        middle = self._middle(at, lead, opened)
        after = at + 1 if middle else at
        if opened:
            self._add_turns(0, at)
            self._around(middle)
            self._add_turns(after, total)
            return
        room = max(6, height - max(1, len(middle)))
        low = max(0, total - room)
        branches = sum(len(found) for turn, found in turns.stubs.items() if turn >= low)
        low = max(0, min(low + branches + bool(low), at - _OLDER))
        high = max(after, total - _NEWEST)
        rows = total - low - bool(middle) + bool(low)
        rows += sum(len(found) for turn, found in turns.stubs.items() if turn >= low)
        if rows > room:
            high_first = min(high, max(after, high - (rows - room) - 1))
        else:
            high_first = high
        self._fold(0, low)
        self._add_turns(low, at)
        self._around(middle)
        self._add_turns(after, high_first)
        self._fold(high_first, high)
        self._add_turns(high, total)

    def _around(self, middle: list[CutRow]) -> None:
        """Adds the cut, and the messages of the turn that it splits."""
        if self.plan.nothing:
            return
        for row in middle or [CutRow(RowKind.CUT, self.cut, self.cut)]:
            if row.kind is RowKind.CUT:
                self.cut_y = len(self)
            self._add(row)

    def _middle(self, turn: int, lead: int, opened: bool) -> list[CutRow]:
        """The rows of the turn that the cut splits; none where it splits none."""
        turns = self.turns
        if turn >= len(turns) or self.plan.nothing:
            return []
        spoken = turns.messages(turns.first[turn], turns.stop_of(turn))
        at = bisect_left(spoken, lead)
        if not at:
            return []
        before = self._some(spoken[:at], 1, _BEFORE_CUT, opened)
        after = self._some(spoken[at:], _AFTER_CUT, 1, opened)
        rows = [*before, CutRow(RowKind.CUT, self.cut, self.cut), *after]
        return [*rows, *(CutRow(RowKind.BRANCH, entry=stub.entry) for stub in turns.stubs.get(turn, ()))]

    def _some(self, spoken: array[int], head: int, tail: int, opened: bool) -> list[CutRow]:
        """Rows of messages, with those in the middle folded."""
        fold = [] if opened or len(spoken) <= head + tail + 1 else spoken[head : len(spoken) - tail]
        rows = [CutRow(RowKind.MESSAGE, at, at + 1) for at in (spoken[:head] if fold else spoken)]
        if fold:
            rows.append(CutRow(RowKind.MESSAGES, fold[0], fold[-1] + 1, len(fold)))
            rows += [CutRow(RowKind.MESSAGE, at, at + 1) for at in spoken[len(spoken) - tail :]]
        return rows

    def row(self, y: int) -> CutRow:
        """The row at a height."""
        at = bisect_right(self._starts, y) - 1
        found = self._rows[at]
        if isinstance(found, CutRow):
            return found
        turn = found[0] + y - self._starts[at]
        return CutRow(RowKind.TURN, self.turns.first[turn], self.turns.stop_of(turn))

    def y_of(self, position: int) -> int:
        """The row that a position is part of; -1 where there is none."""
        for at, row in enumerate(self._rows):
            y = self._starts[at]
            if isinstance(row, CutRow):
                if row.kind not in (RowKind.CUT, RowKind.BRANCH) and row.first <= position < row.stop:
                    return y
            elif self.turns.first[row[0]] <= position < self.turns.stop_of(row[1] - 1):
                return y + self.turns.turn_of(position) - row[0]
        return -1

    def fate(self, row: CutRow) -> Fate:
        """The fate of the messages of a row."""
        lead = first_said(self.turns.sizes, row.first)
        if self.plan.nothing or (lead >= self.cut and self.plan.first_kept >= 0):
            return Fate.KEPT
        return Fate.PREFIX if self.history <= lead < self.cut else Fate.SUMMARISED


def by_turn(stubs: Mapping[int, int], turns: PathTurns) -> list[Stub]:
    """Branches as stubs, from their first entries and the positions that they leave."""
    return [Stub(turns.turn_of(position), entry) for entry, position in sorted(stubs.items())]
