"""Links of the entries that rows make.

Rows are linked by the ids that they name, but not every fork of that chain is a branch: the rows of one reply make one entry,
results of parallel calls stand side by side in the chain, and progress and attachments hang here and there. So entries that
neither a person nor the model wrote are put in one line; only prompts, replies and compactions continue from it in more than
one way.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from itertools import compress
from operator import lt
from typing import TYPE_CHECKING

from leafward.agents.claude.entries.compactions import Compactions
from leafward.agents.claude.entries.inferred_parents import row_before, settle
from leafward.agents.claude.entries.number_columns import ascending
from leafward.agents.claude.entries.records import NAMED, SIDECHAIN, Role
from leafward.agents.claude.entries.row_entries import RowEntries, take_doubles
from leafward.agents.claude.entries.segments import Segments
from leafward.session.entries import BOOKKEEPING, Damage

if TYPE_CHECKING:
    from leafward.agents.claude.entries.transcript_rows import Rows


_SPEAKING = frozenset({Role.PROMPT, Role.REPLY, Role.BOUNDARY, Role.SUMMARY})
"""Roles that make a branch where a second one of them continues from an entry."""
_SPEAKS = bytes(role in _SPEAKING for role in range(256))
_LEFT = frozenset({Role.INJECTED, Role.COMMAND})
"""Roles that are sent only where the conversation continues from them, such as the output of a command."""
_OUTSIDE = frozenset({Role.BROKEN, Role.BOOKS, Role.TITLE, Role.REPLACED, Role.COST})
_IS_NAMED = bytes(bool(flags & NAMED) for flags in range(256))
_IS_ASIDE = bytes(bool(flags & SIDECHAIN) for flags in range(256))
_MOST_TRIES = 2
"""Rows that a compaction in a circle is tried behind: one of them may lead back to it, and all of them for ever."""


class EntryBuilder:
    """The entries of one transcript, and their places in its tree."""

    def __init__(self, rows: Rows, seed: int, *, own: bool) -> None:
        self.rows = rows
        self.own = own
        """Whether the transcript is a sub-agent's own: its rows are not a side line then."""
        self.beside: set[int] = set()
        """Entries of side lines that nobody answered, other than results and attachments: they are shown, but not sent."""
        self.side_lines: list[int] = []
        """The first entries of side lines."""
        self.apart: list[int] = []
        """Entries at which another session begins in the same file."""
        self._stray: list[int] = []
        self._cycles: set[int] = set()
        self._tries: dict[int, int] = {}
        """By compaction in a circle, how often a row was looked for that it follows."""
        self.now = -1
        """The last entry of the main line."""
        damage = settle(rows, seed, own=own)
        self._numbers = ascending(len(rows) + sum(rows.parts.values()))
        """The numbers from 0 on, at least as many as entries."""
        self._named = rows.flags.translate(_IS_NAMED)
        aside = b"" if own else rows.flags.translate(_IS_ASIDE)
        aside = aside if 1 in aside else b""
        self.scattered = any(map(lt, rows.jumps, rows.above))
        """Whether rows have parents further on."""
        jumping = sum(map(self._named.__getitem__, rows.jumps))
        recorded = (
            above for row, above in zip(rows.jumps, rows.above, strict=True) if row not in rows.inferred
        )
        self._linked = max(recorded, default=-1) >= 0 or self._named.count(1) > jumping
        # Rows without an id do not speak.
        all_named = all(compress(self._named, rows.role.translate(_SPEAKS)))
        in_order = all_named and not (rows.mended or self.scattered or aside)
        self.instead: dict[int, int] = {}
        """Rows that a later row with the same id replaces."""
        if not in_order:
            rows.spread()
            self.instead = take_doubles(rows)
            self._named = rows.flags.translate(_IS_NAMED)
        made = RowEntries(rows, self._numbers, aside=aside, in_order=in_order)
        self.columns, self.order, self.entry = made.columns, made.order, made.entry
        self.parts, self.more, self.hoisted = made.parts, made.more, made.hoisted
        self._speaks = made.roles.translate(_SPEAKS)
        self._begun = False
        """Whether a row of the conversation was placed."""
        self._steady = True
        """Whether the next entry continues from the entry placed last, if its parent is the row before it."""
        self._segments = Segments(self.columns.kind, scattered=self.scattered)
        if in_order:
            self._place_in_order()
        else:
            self._place_each()
        self._splice()
        for row, what in damage.items():
            self.columns.damage.setdefault(self.entry[row], what)
        for row in self._cycles:
            self.columns.damage[self.entry[row]] = Damage.CYCLE
        self.costs = {self.entry[row]: spent for row, spent in rows.notes.costs.items()}
        """The cost up to an entry since the last entry that records one, in US dollars."""
        self._numbers = array("i")
        self.compactions = Compactions(rows, self.columns, self.order, self.entry)

    # --- places ---

    def _place_in_order(self) -> None:
        """Places all rows where nearly all follow the one before them: whole runs of such rows at once."""
        rows = self.rows
        above = dict(zip(rows.jumps, rows.above, strict=True))
        row = 0
        for odd in sorted(above.keys() | rows.rejoined.keys()):
            self._go_on(row, odd)
            self._place(odd, above[odd] if odd in above else self._before(odd))
            row = odd + 1
        self._go_on(row, len(rows))

    def _before(self, row: int) -> int:
        """The row of the chain before a row that belongs to it."""
        return self._named.rfind(1, 0, row) if self._named[row] else -1

    def _go_on(self, row: int, stop: int) -> None:
        """Places rows that each follow the one before."""
        while row < stop and not self._steady:
            self._place(row, self._before(row))
            row += 1
        first, end = bisect_left(self.order, row), bisect_left(self.order, stop)
        if first == end:
            return
        if self.now < 0:
            self._segments.begin(first)
            self.now = first
            first += 1
        self._segments.extend(end, array("i", compress(range(first, end), self._speaks[first:end])))
        self.columns.parent[first:end] = self._numbers[first - 1 : end - 1]
        self.now = end - 1

    def _place_each(self) -> None:
        """Places one row after the other."""
        parents = self.rows.parent
        made = bytearray(len(parents))
        for row, above in enumerate(parents):
            if made[row]:
                continue
            if above < 0 or made[above]:
                made[row] = 1
                self._place(row, above)
            else:
                self._place_from(row, made)

    def _place_from(self, row: int, made: bytearray) -> None:
        """Places a row, after its parents where they lie further on in the file."""
        parents = self.rows.parent
        stack = [row]
        open_rows = {row}
        while stack:
            at = stack[-1]
            above = parents[at]
            if made[at]:
                stack.pop()
            elif above >= 0 and not made[above]:
                if above in open_rows:
                    cut = self._cut(stack[stack.index(above) :])
                    del stack[stack.index(cut) + 1 :]
                    open_rows = set(stack)
                else:
                    stack.append(above)
                    open_rows.add(above)
            else:
                stack.pop()
                made[at] = 1
                self._place(at, above)

    def _cut(self, circle: list[int]) -> int:
        """Opens a circle of rows at its last row in the file; returns that row.

        A compaction may name as the row before it one that it kept, which was written only behind its summary, or its rows were
        written late: then it follows the row before it in the file, or before all rows that hang on it. Where no row stands there, as
        in a copy, its parent is in another file. Neither is damage.
        """
        rows = self.rows
        cut = next((row for row in circle if row in rows.notes.boundaries), -1)
        above = -1
        if cut >= 0:
            tries = self._tries[cut] = self._tries.get(cut, 0) + 1
            if tries <= _MOST_TRIES:
                above = row_before(rows, cut)
                if above in circle:
                    above = row_before(rows, min(circle))
            rows.notes.boundaries[cut].missing, rows.notes.boundaries[cut].inferred = above < 0, above >= 0
        else:
            cut = max(circle)
            self._cycles.add(cut)
        rows.parent[cut] = above
        rows.mended = True
        return cut

    def _place(self, row: int, above: int) -> None:
        rows = self.rows
        entry, role, named = self.entry[row], rows.role[row], rows.flags[row] & NAMED
        side = bool(rows.flags[row] & SIDECHAIN) and not self.own
        line = self._segments.of(entry)
        if line >= 0:
            # A further row of a reply.
            if not side:
                self.now = self._segments.tail(line)
            self._steady = False
            return
        if above >= 0:
            parent = self.entry[above]
        elif role in _OUTSIDE or not named or (not side and self._strange_ahead(row)):
            parent = self.now
        elif row in self._cycles or side or row in rows.far_parents or role == Role.BOUNDARY:
            parent = -1
        elif self._linked and row in rows.notes.facts.others:
            # Its first row names no parent: it is another conversation, not a piece of the one before.
            self.apart.append(entry)
            parent = -1
        elif role in (Role.PROMPT, Role.COMMAND):
            # A first prompt, also a second one; without a named parent, one follows the other.
            parent = -1 if self._linked else self.now
        else:
            parent = self.now
        if parent == entry:
            parent = -1
        if parent < 0 and side:
            self.side_lines.append(entry)
        self._begun = self._begun or (bool(named) and role != Role.UNKNOWN)
        self._attach(entry, parent, speaks=role in _SPEAKING)
        last = entry
        if row in rows.parts:
            for last in range(entry + 1, entry + rows.parts[row]):
                self._attach(last, last - 1, speaks=False)
        if not side:
            self.now = last
        self._steady = bool(named) or (self._steady and above < 0)

    def _strange_ahead(self, row: int) -> bool:
        """Whether a row is the first of the conversation and rows of unknown types stand ahead: these are not a branch of it."""
        return not self._begun and self.rows.role.find(Role.UNKNOWN, 0, row) >= 0

    def _attach(self, entry: int, parent: int, *, speaks: bool) -> None:
        segments = self._segments
        if parent < 0:
            segments.begin(entry)
            return
        line = segments.of(parent)
        target, result, solid = segments.ends(line)
        goes_on = segments.is_open(line)
        if not goes_on:
            reached = max(parent, result)
            target = target if reached >= solid else reached
        self.columns.parent[entry] = target
        if goes_on and not speaks:
            segments.join(entry, line)
            return
        if goes_on and target > parent:
            self._leave(range(parent + 1, target + 1), line)
        segments.close(line)
        segments.begin(entry)
        if not speaks:
            self._stray.append(entry)

    def _leave(self, entries: range, line: int) -> None:
        """Marks the output of commands in a line where the conversation continues from an entry before it."""
        role, order, of = self.rows.role, self.order, self._segments.of
        self.beside.update(index for index in entries if role[order[index]] in _LEFT and of(index) == line)

    def _splice(self) -> None:
        """Moves late results and attachments, behind which nobody speaks, into the line that they belong to."""
        columns, segments = self.columns, self._segments
        now = segments.of(self.now) if self.now >= 0 else -1
        strays = [
            head
            for head in self._stray
            if head != now
            and segments.is_open(head)
            and columns.kind[segments.ends(head)[2]] not in BOOKKEEPING
        ]
        if not strays:
            return
        self.scattered = True
        for head in strays:
            self._leave(range(head, segments.tail(head) + 1), head)
        # All entries below one entry move as a group, and there may be thousands: a group is identified by its first parent, and
        # `place` tells its present parent.
        group = array("i", columns.parent)
        place: dict[int, int] = {}
        here: dict[int, int] = {}
        joined: dict[int, int] = {}
        fresh = len(group)
        for head in strays:
            moved = _last_of(joined, group[head])
            target, end = place.get(moved, moved), segments.tail(head)
            group[head] = here[target] = fresh
            place[fresh] = target
            fresh += 1
            own = here.get(end, end)
            if own != moved:
                joined[own] = moved
            here[end], place[moved] = moved, end
        for index, first in enumerate(group):
            if first >= 0:
                last = _last_of(joined, first)
                columns.parent[index] = place.get(last, last)

    def goes_on(self, row: int) -> bool:
        """Whether somebody speaks below the line of a row."""
        return not self._segments.is_open(self._segments.of(self.entry[row]))

    def end_of(self, row: int) -> int:
        """The last entry in the line of a row; the row's own entry where somebody speaks below."""
        entry = self.entry[row]
        return entry if self.goes_on(row) else self._segments.tail(self._segments.of(entry))


def _last_of(joined: dict[int, int], group: int) -> int:
    """The group that a group was finally joined to."""
    while (further := joined.get(group, group)) != group:
        joined[group] = joined.get(further, further)
        group = further
    return group
