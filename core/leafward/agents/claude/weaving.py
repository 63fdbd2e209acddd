"""Rows to entries and their links.

Rows hang together by the ids they name, but not every fork of that chain is a branch: the rows of one reply make one entry,
results of calls made together stand side by side in the chain, and progress and attachments hang here and there. So what
neither a person nor the model says is put in one line; only prompts, replies and compactions go on from it in more than
one way.
"""

from __future__ import annotations

import re
from array import array
from binascii import hexlify
from typing import TYPE_CHECKING

from leafward.agents.claude.compacted import find_kept
from leafward.agents.claude.records import Role
from leafward.agents.claude.rows import KEY, NAMED, SIDECHAIN, repeated
from leafward.columns import ID_SIZE, Columns, as_key
from leafward.entries import BOOKKEEPING, Damage, Kind

if TYPE_CHECKING:
    from leafward.agents.claude.compacted import Kept
    from leafward.agents.claude.rows import Rows

_HEX = re.compile(rb"[0-9a-f]{8}")
_ODD = 0x9E3779B1
"""Spreads offsets over all ids; odd, so that different offsets have different ids."""

_KINDS: dict[int, Kind] = {
    Role.BROKEN: Kind.MALFORMED,
    Role.UNKNOWN: Kind.UNKNOWN,
    Role.PROMPT: Kind.USER,
    Role.COMMAND: Kind.CUSTOM_MESSAGE,
    Role.INJECTED: Kind.INJECTED,
    Role.ATTACHED: Kind.INJECTED,
    Role.RESULT: Kind.TOOL_RESULT,
    Role.REPLY: Kind.ASSISTANT,
    Role.BOUNDARY: Kind.CUSTOM,
    Role.SUMMARY: Kind.COMPACTION,
    Role.QUIET: Kind.CUSTOM,
    Role.BOOKS: Kind.CUSTOM,
    Role.TITLE: Kind.SESSION_INFO,
    Role.COST: Kind.USAGE,
    Role.REPLACED: Kind.CONTEXT_EDIT,
    Role.CLEARED: Kind.CONTEXT_EDIT,
}
# Compared with bytes of a column, a million times: a plain number costs a fifth of a member of an enumeration.
_PROMPT, _COMMAND, _ATTACHED = int(Role.PROMPT), int(Role.COMMAND), int(Role.ATTACHED)
_REPLY, _BOUNDARY, _BROKEN = int(Role.REPLY), int(Role.BOUNDARY), int(Role.BROKEN)
_SPEAKING = frozenset({Role.PROMPT, Role.REPLY, Role.BOUNDARY, Role.SUMMARY})
"""What makes a branch where it goes on from an entry a second time."""
_REPLACING = frozenset({Role.PROMPT, Role.COMMAND, Role.INJECTED, Role.ATTACHED, Role.RESULT, Role.UNKNOWN})
_OUTSIDE = frozenset({Role.BROKEN, Role.BOOKS, Role.TITLE, Role.REPLACED, Role.COST})


class Weaver:
    """The entries of one transcript while they are made."""

    def __init__(self, rows: Rows, seed: int, *, own: bool) -> None:
        self.rows = rows
        self.columns = Columns()
        self.own = own
        """Whether the transcript is a sub-agent's own: its rows are no side line then."""
        self.entry: array[int] = array("i")
        """The first entry of each row."""
        self.parts: dict[int, int] = {}
        """Entries that stand in one row with others: the how-manieth of it, from 1."""
        self.more: dict[int, list[int]] = {}
        """Rows of a reply that do not lie behind its first one: their offsets, by entry."""
        self.kept: dict[int, Kept] = {}
        self.boundary: dict[int, int] = {}
        """The boundary row of each compaction: its offset, by entry."""
        self.hoisted = bytearray()
        """Entries that are sent ahead of the messages before them."""
        self.costs: dict[int, float] = {}
        """What was spent up to an entry since the one before that says so, in US dollars."""
        self.order: array[int] = array("i")
        """The row of each entry."""
        self._seed = seed
        self._segment: array[int] = array("i")
        self._tail: array[int] = array("i")
        self._result: array[int] = array("i")
        self._solid: array[int] = array("i")
        self._closed = bytearray()
        self._stray: list[int] = []
        self._made = bytearray()
        self._cycles: set[int] = set()
        self.instead: dict[int, int] = {}
        """Rows that a later one of the same id stands for."""
        self.now = -1
        """The last entry of the main line."""
        damage = rows.settle()
        self._linked = any(above >= 0 for above in rows.parent)
        self._take_doubles()
        self._make_entries()
        self._name()
        self._segment = array("i", [-1]) * len(self.columns)
        self._made = bytearray(len(rows))
        for row, above in enumerate(rows.parent):
            if self._made[row]:
                continue
            if above < 0 or self._made[above]:
                self._made[row] = 1
                self._place(row)
            else:
                self._place_from(row)
        self._splice()
        for row, what in damage.items():
            self.columns.damage.setdefault(self.entry[row], what)
        for row in self._cycles:
            self.columns.damage[self.entry[row]] = Damage.CYCLE
        self.costs = {self.entry[row]: spent for row, spent in rows.costs.items()}
        find_kept(self)

    # --- entries and their ids ---

    def _take_doubles(self) -> None:
        """Of rows with one id the last counts, at the place of the first; what is left of it only keeps books."""
        rows = self.rows
        for row, first in rows.doubled.items():
            role = rows.role[row]
            if role == Role.REPLY and rows.role[first] == Role.REPLY:
                rows.reply[row] = rows.reply[first]
                continue
            if role in _REPLACING and rows.role[first] in _REPLACING and not {row, first} & rows.parts.keys():
                self.instead[first] = row
                rows.role[first] = role
            rows.role[row] = Role.QUIET
            rows.flags[row] &= ~NAMED
            rows.parent[row] = -1
            rows.parts.pop(row, None)
            rows.boundaries.pop(row, None)

    def _make_entries(self) -> None:
        rows, columns, entries = self.rows, self.columns, self.entry
        starts, kinds, order, hoisted = columns.start, columns.kind, self.order, self.hoisted
        parts = rows.parts
        last = -1
        for row, (role, first, start) in enumerate(zip(rows.role, rows.reply, rows.start, strict=True)):
            if role == _REPLY and first != row:
                entry = entries[first]
                entries.append(entry)
                if last != entry:
                    self.more.setdefault(entry, []).append(start)
                continue
            last = len(kinds)
            entries.append(last)
            kind = _KINDS[role]
            if role == _PROMPT and rows.flags[row] & SIDECHAIN and not self.own:
                kind = Kind.CUSTOM_MESSAGE
            starts.append(start)
            kinds.append(kind)
            order.append(row)
            hoisted.append(role == _ATTACHED)
            if row not in parts:
                continue
            for part in range(1, parts[row]):
                self.parts[len(kinds)] = part
                starts.append(start)
                kinds.append(kind)
                order.append(row)
                hoisted.append(role == _ATTACHED)
        columns.parent.extend(array("i", [-1]) * len(kinds))
        if not any(self.hoisted):
            self.hoisted = bytearray()

    def _name(self) -> None:
        """Ids: the beginning of the row's own where that is a UUID, else made from where it lies."""
        rows, columns = self.rows, self.columns
        ids, flags, keys, parts = columns.ids, rows.flags, rows.keys, self.parts
        # What has its key's beginning for an id: a row with a UUID, or the first of several results in it.
        odd = rows.names.keys() | {row for row, role in enumerate(rows.role) if role == _BROKEN}
        for index, row in enumerate(self.order):
            if flags[row] & NAMED and index not in parts and row not in odd:
                ids += hexlify(keys[row * KEY : row * KEY + 4])
                continue
            part = parts.get(index, 0)
            own = rows.names.get(row)
            if rows.role[row] == _BROKEN:
                ids.extend(bytes(ID_SIZE))
                columns.other_ids[index] = f"line@{rows.start[row]}"
                columns.damage[index] = Damage.MALFORMED
            elif own is not None and not part:
                plain = own.encode("ascii", "replace") if len(own) == ID_SIZE and own.isascii() else b""
                ids.extend(plain or bytes(ID_SIZE))
                if not plain:
                    columns.other_ids[index] = own
            else:
                if rows.flags[row] & NAMED:
                    number = int.from_bytes(rows.keys[row * KEY : row * KEY + 4], "big")
                else:
                    number = self._seed + rows.start[row] * _ODD
                ids.extend(b"%08x" % ((number + part * _ODD) & 0xFFFFFFFF))
        self._tell_apart(repeated(array("Q", ids)) - {0})
        others = columns.other_ids
        if len(set(others.values())) < len(others):
            taken: set[str] = set()
            for index, name in others.items():
                while name in taken:
                    name += "'"
                others[index] = name
                taken.add(name)

    def _tell_apart(self, alike: set[int]) -> None:
        """Gives another id to entries that share one with an earlier one: what follows has no say, so ids last."""
        if not alike:
            return
        columns = self.columns
        first, given = set(alike), set[int]()
        for index, number in enumerate(array("Q", columns.ids)):
            if number in first and number not in given:
                first.remove(number)
                continue
            if number not in alike and number not in given:
                continue
            place = index * ID_SIZE
            name = bytes(columns.ids[place : place + ID_SIZE])
            while columns.index(name.decode("ascii"), before=index) >= 0:
                following = int(name, 16) + 1 if _HEX.fullmatch(name) else index
                name = b"%08x" % (following & 0xFFFFFFFF)
            columns.ids[place : place + ID_SIZE] = name
            given.add(as_key(name))

    # --- places ---

    def _place_from(self, row: int) -> None:
        """Places a row, after those it hangs on where they lie further on in the file."""
        stack = [row]
        open_rows = {row}
        while stack:
            at = stack[-1]
            above = self.rows.parent[at]
            if self._made[at]:
                stack.pop()
            elif above >= 0 and not self._made[above]:
                if above in open_rows:
                    cut = self._cut(stack[stack.index(above) :])
                    del stack[stack.index(cut) + 1 :]
                    open_rows = set(stack)
                else:
                    stack.append(above)
                    open_rows.add(above)
            else:
                stack.pop()
                self._made[at] = 1
                self._place(at)

    def _cut(self, circle: list[int]) -> int:
        """Opens a circle of rows at the last of it in the file; returns that row.

        A copy of a compaction has what was kept behind the summary, and what it hung on nowhere else: that is no damage.
        """
        rows = self.rows
        cut = next((row for row in circle if row in rows.boundaries), -1)
        if cut >= 0:
            rows.boundaries[cut].missing = True
        else:
            cut = max(circle)
            self._cycles.add(cut)
        rows.parent[cut] = -1
        rows.mended = True
        return cut

    def _place(self, row: int) -> None:
        rows = self.rows
        entry, role = self.entry[row], rows.role[row]
        side = bool(rows.flags[row] & SIDECHAIN) and not self.own
        if self._segment[entry] >= 0:
            # A further row of a reply.
            if not side:
                self.now = self._tail[self._segment[entry]]
            return
        above = rows.parent[row]
        if above >= 0:
            parent = self.entry[above]
        elif role in _OUTSIDE or not rows.flags[row] & NAMED:
            parent = self.now
        elif row in self._cycles or side or row in rows.wanted or role == _BOUNDARY:
            parent = -1
        elif role in (_PROMPT, _COMMAND):
            # A first prompt, also a second one; where nothing names a parent, one follows the other.
            parent = -1 if self._linked else self.now
        else:
            parent = self.now
        if parent == entry:
            parent = -1
        self._attach(entry, parent, speaks=role in _SPEAKING)
        last = entry
        if row in rows.parts:
            for last in range(entry + 1, entry + rows.parts[row]):
                self._attach(last, last - 1, speaks=False)
        if not side:
            self.now = last

    def _attach(self, entry: int, parent: int, *, speaks: bool) -> None:
        columns = self.columns
        if parent < 0:
            self._begin(entry, -1)
            return
        segment = self._segment[parent]
        tail, solid = self._tail[segment], self._solid[segment]
        if not self._closed[segment]:
            target = tail
        else:
            reached = max(parent, self._result[segment])
            target = tail if reached >= solid else reached
        columns.parent[entry] = target
        if speaks:
            self._closed[segment] = 1
            self._begin(entry, target)
        elif self._closed[segment]:
            self._begin(entry, target)
            self._stray.append(entry)
        else:
            self._segment[entry] = segment
            self._tail[segment] = entry
            self._weigh(entry, segment)

    def _begin(self, entry: int, parent: int) -> None:
        """A new line of entries."""
        self.columns.parent[entry] = parent
        segment = len(self._tail)
        self._segment[entry] = segment
        self._tail.append(entry)
        self._result.append(-1)
        self._solid.append(entry)
        self._closed.append(0)
        self._weigh(entry, segment)

    def _weigh(self, entry: int, segment: int) -> None:
        kind = self.columns.kind[entry]
        if kind == Kind.TOOL_RESULT:
            self._result[segment] = entry
        if kind not in BOOKKEEPING:
            self._solid[segment] = entry

    def _splice(self) -> None:
        """Puts late results and attachments, after which nobody speaks, into the line they belong to."""
        columns = self.columns
        now = self._segment[self.now] if self.now >= 0 else -1
        strays = [
            head
            for head in self._stray
            if not self._closed[segment := self._segment[head]]
            and segment != now
            and columns.kind[self._solid[segment]] not in BOOKKEEPING
        ]
        if not strays:
            return
        # What hangs on one entry moves as a whole, and thousands may do so: it is known by the entry it hung on first, and
        # `place` says where that group hangs now.
        group = array("i", columns.parent)
        place: dict[int, int] = {}
        here: dict[int, int] = {}
        joined: dict[int, int] = {}
        fresh = len(group)
        for head in strays:
            moved = _last_of(joined, group[head])
            target, end = place.get(moved, moved), self._tail[self._segment[head]]
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
        return bool(self._closed[self._segment[self.entry[row]]])

    def end_of(self, row: int) -> int:
        """The last entry in the line of a row; its own where somebody speaks below."""
        entry = self.entry[row]
        return entry if self.goes_on(row) else self._tail[self._segment[entry]]


def _last_of(joined: dict[int, int], group: int) -> int:
    """The group that one was joined to in the end."""
    while (further := joined.get(group, group)) != group:
        joined[group] = joined.get(further, further)
        group = further
    return group
