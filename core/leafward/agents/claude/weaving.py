"""Rows to entries and their links.

Rows hang together by the ids they name, but not every fork of that chain is a branch: the rows of one reply make one entry,
results of calls made together stand side by side in the chain, and progress and attachments hang here and there. So what
neither a person nor the model says is put in one line; only prompts, replies and compactions go on from it in more than
one way.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.claude.records import Role
from leafward.agents.claude.rows import KEY, NAMED, SIDECHAIN
from leafward.columns import ID_SIZE, Columns
from leafward.entries import BOOKKEEPING, Damage, Kind

if TYPE_CHECKING:
    from leafward.agents.claude.rows import Boundary, Rows

_ODD = 0x9E3779B1
"""Spreads offsets over all ids; odd, so that different offsets have different ids."""

_KINDS = {
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
    Role.REPLACED: Kind.CONTEXT_EDIT,
    Role.CLEARED: Kind.CONTEXT_EDIT,
}
_SPEAKING = frozenset({Role.PROMPT, Role.REPLY, Role.BOUNDARY, Role.SUMMARY})
"""What makes a branch where it goes on from an entry a second time."""
_OUTSIDE = frozenset({Role.BROKEN, Role.BOOKS, Role.TITLE, Role.REPLACED})


class Kept(NamedTuple):
    """The entries beside a summary, in the order of the context."""

    before: tuple[int, ...]
    after: tuple[int, ...]


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
        self.order: array[int] = array("i")
        """The row of each entry."""
        self._seed = seed
        self._segment: array[int] = array("i")
        self._tail: array[int] = array("i")
        self._result: array[int] = array("i")
        self._solid: array[int] = array("i")
        self._closed = bytearray()
        self._stray: list[int] = []
        self._head: array[int] = array("i")
        self._made = bytearray()
        self._cycles: set[int] = set()
        self._linked = any(above >= 0 for above in rows.parent)
        self._now = -1
        damage = rows.settle()
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
        self._compactions()

    # --- entries and their ids ---

    def _make_entries(self) -> None:
        rows, columns = self.rows, self.columns
        roles = rows.role
        last = -1
        for row, role in enumerate(roles):
            first = rows.reply[row]
            if role == Role.REPLY and first != row:
                entry = self.entry[first]
                self.entry.append(entry)
                if last != entry:
                    self.more.setdefault(entry, []).append(rows.start[row])
                continue
            last = len(columns)
            self.entry.append(last)
            side = rows.flags[row] & SIDECHAIN and not self.own
            kind = _KINDS[Role(role)]
            if role == Role.PROMPT and side:
                kind = Kind.CUSTOM_MESSAGE
            for part in range(rows.parts.get(row, 1)):
                if part:
                    self.parts[len(columns)] = part
                columns.start.append(rows.start[row])
                columns.kind.append(kind)
                columns.parent.append(-1)
                self.order.append(row)
                self.hoisted.append(role == Role.ATTACHED)
        if not any(self.hoisted):
            self.hoisted = bytearray()

    def _name(self) -> None:
        """Ids: the beginning of the row's own where that is a UUID, else made from where it lies."""
        rows, columns = self.rows, self.columns
        ids = columns.ids
        for index, row in enumerate(self.order):
            part = self.parts.get(index, 0)
            own = rows.names.get(row)
            if rows.role[row] == Role.BROKEN:
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
        if len(set(array("Q", bytes(ids)))) + len(set(columns.other_ids.values())) <= len(columns):
            self._tell_apart()

    def _tell_apart(self) -> None:
        """Gives another id to entries that share one with an earlier one."""
        columns = self.columns
        seen: set[str] = set()
        for index in range(len(columns)):
            name = str(columns.id(index))
            while name in seen:
                if index in columns.other_ids:
                    name += "'"
                    columns.other_ids[index] = name
                else:
                    name = f"{((int(name, 16) if _is_hex(name) else 0) + 1) & 0xFFFFFFFF:08x}"
                    columns.ids[index * ID_SIZE : (index + 1) * ID_SIZE] = name.encode()
            seen.add(name)

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
        return cut

    def _place(self, row: int) -> None:
        rows = self.rows
        entry, role = self.entry[row], Role(rows.role[row])
        side = bool(rows.flags[row] & SIDECHAIN) and not self.own
        if self._segment[entry] >= 0:
            # A further row of a reply.
            if not side:
                self._now = self._tail[self._segment[entry]]
            return
        above = rows.parent[row]
        if above >= 0:
            parent = self.entry[above]
        elif role in _OUTSIDE or not rows.flags[row] & NAMED:
            parent = self._now
        elif row in self._cycles or side or row in rows.wanted or role is Role.BOUNDARY:
            parent = -1
        elif role is Role.PROMPT or role is Role.COMMAND:
            # A first prompt, also a second one; where nothing names a parent, one follows the other.
            parent = -1 if self._linked else self._now
        else:
            parent = self._now
        if parent == entry:
            parent = -1
        self._attach(entry, parent, speaks=role in _SPEAKING)
        for index in range(entry + 1, entry + rows.parts.get(row, 1)):
            self._attach(index, index - 1, speaks=False)
        if not side:
            self._now = entry + rows.parts.get(row, 1) - 1

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
        self._head.append(entry)
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
        now = self._segment[self._now] if self._now >= 0 else -1
        strays = [
            head
            for head in self._stray
            if not self._closed[segment := self._segment[head]]
            and segment != now
            and columns.kind[self._solid[segment]] not in BOOKKEEPING
        ]
        if not strays:
            return
        below: dict[int, list[int]] = {}
        for index, above in enumerate(columns.parent):
            if above >= 0:
                below.setdefault(above, []).append(index)
        for head in strays:
            segment = self._segment[head]
            target = columns.parent[head]
            end = self._tail[segment]
            for index in below.get(target, ()):
                if index != head and columns.parent[index] == target and self._segment[index] != segment:
                    columns.parent[index] = end
            below[end] = [index for index in below.get(target, ()) if index != head] + below.get(end, [])
            below[target] = [head]

    # --- compactions ---

    def _compactions(self) -> None:
        """What every compaction keeps; a boundary without a summary stands for itself."""
        rows, columns = self.rows, self.columns
        if not rows.boundaries and Kind.COMPACTION not in columns.kind:
            return
        wanted = {key for one in rows.boundaries.values() for key in (*one.kept, one.anchor)}
        wanted |= {
            key for one in rows.boundaries.values() if one.segment and not one.kept for key in one.segment
        }
        found = rows.find(wanted)
        claimed: set[int] = set()
        for entry in [index for index, kind in enumerate(columns.kind) if kind == Kind.COMPACTION]:
            between: list[int] = []
            at = columns.parent[entry]
            while (
                at >= 0
                and rows.role[self.order[at]] != Role.BOUNDARY
                and columns.kind[at] in (Kind.INJECTED, Kind.CUSTOM)
            ):
                between.append(at)
                at = columns.parent[at]
            row = self.order[at] if at >= 0 else -1
            if row in rows.boundaries:
                claimed.add(row)
                self._keep(entry, row, rows.boundaries[row], between[::-1], found)
            else:
                self.kept[entry] = Kept((), ())
        for row, boundary in rows.boundaries.items():
            if row not in claimed:
                entry = self.entry[row]
                columns.kind[entry] = Kind.COMPACTION
                self._keep(entry, row, boundary, [], found)

    def _keep(
        self, entry: int, row: int, boundary: Boundary, between: list[int], found: dict[bytes, int]
    ) -> None:
        self.boundary[entry] = self.rows.start[row]
        kept = self._entries([found[key] for key in boundary.kept if key in found])
        if not boundary.kept and boundary.segment is not None:
            kept = self._stretch(*(found.get(key, -1) for key in boundary.segment))
        said = [index for index in between if self.columns.kind[index] not in BOOKKEEPING]
        anchor = found.get(boundary.anchor, -1)
        place = self.entry[anchor] if anchor >= 0 else -1
        if kept and (anchor == row or place in between):
            ahead = [index for index in said if place in between and between.index(index) <= between.index(place)]
            rest = [index for index in said if index not in ahead]
            self.kept[entry] = Kept((*ahead, *kept, *rest), ())
        else:
            self.kept[entry] = Kept(tuple(said), tuple(kept))

    def _entries(self, rows: list[int]) -> list[int]:
        """The entries of some rows that say something, each once."""
        found: dict[int, None] = {}
        for row in rows:
            for index in range(self.entry[row], self.entry[row] + self.rows.parts.get(row, 1)):
                if self.columns.kind[index] not in BOOKKEEPING:
                    found.setdefault(index)
        return list(found)

    def _stretch(self, head: int, tail: int) -> list[int]:
        """The entries from one row up to another, which lies below it."""
        if head < 0 or tail < 0:
            return []
        found: list[int] = []
        at, first = self.entry[tail], self.entry[head]
        while at >= 0:
            if self.columns.kind[at] not in BOOKKEEPING:
                found.append(at)
            if at == first:
                return found[::-1]
            at = self.columns.parent[at]
        return []

    # --- where it stands ---

    def leaf(self) -> int:
        """The entry the conversation stands at: what the last pointer names, or the last of what goes on from there.

        Without a pointer that holds, the last row of the main line (Claude Code 2.1).
        """
        rows = self.rows
        newest = self._newest(0)
        for pointer in reversed(rows.pointers):
            if pointer.empty:
                later = self._newest(pointer.row + 1)
                return later if later >= 0 else -1
            if pointer.leaf == bytes(KEY):
                return newest
            named = rows.find({pointer.leaf}).get(pointer.leaf, -1)
            if named < 0:
                continue
            return self._furthest(named, pointer.row if pointer.exact else 0)
        return newest

    def _newest(self, first: int) -> int:
        rows = self.rows
        for row in range(len(rows) - 1, first - 1, -1):
            if rows.flags[row] & NAMED and (self.own or not rows.flags[row] & SIDECHAIN):
                return self._end(row)
        if first or not len(self.columns):
            return -1
        return self._now

    def _end(self, row: int) -> int:
        """The last entry in the line of a row."""
        entry = self.entry[row]
        segment = self._segment[entry]
        return entry if self._closed[segment] else self._tail[segment]

    def _furthest(self, named: int, after: int) -> int:
        """The last row of the file that is the named one or lies below it."""
        rows, parent = self.rows, self.columns.parent
        top = self.entry[named]
        mark = bytearray(len(parent))
        mark[top] = 1
        for index in range(len(parent)):
            walk: list[int] = []
            at = index
            while at >= 0 and not mark[at]:
                walk.append(at)
                at = parent[at]
            known = mark[at] if at >= 0 else 2
            for one in walk:
                mark[one] = known
        for row in range(len(rows) - 1, named, -1):
            if row > after and rows.flags[row] & NAMED and mark[self.entry[row]] == 1:
                return self._end(row)
        return top if after else self._end(named)


def _is_hex(name: str) -> bool:
    return all(letter in "0123456789abcdef" for letter in name)
