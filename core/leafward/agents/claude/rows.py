"""The rows of one transcript as columns, and which row names which as its parent. They live only while it is read."""

from __future__ import annotations

import math
from array import array
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.claude.facts import Facts
from leafward.agents.claude.records import (
    BEGINS,
    Role,
    bulk_type,
    key_of,
    message_of,
    row_of,
)
from leafward.agents.claude.shapes import Shapes, key_in, outside, pointer
from leafward.agents.lines import seams
from leafward.entries import Damage
from leafward.scan import decode_line

if TYPE_CHECKING:
    from leafward.agents.claude.records import Row
    from leafward.agents.claude.shapes import End
    from leafward.entries import Body

KEY = 16
"""Bytes of a row's id."""
_NEAR = 256
"""Rows before one among which its parent is looked for first."""
_REPLIES = 1024
"""Replies that further rows may belong to."""

SIDECHAIN = 1
LINKED = 2
"""It names a parent, be it in this file or not."""
NAMED = 4
"""It has an id."""
GLUED = 8
UNTERMINATED = 16

_NO_KEY = bytes(KEY)
_ROOM = 1 << 8
_NONE = array("i", [-1]) * _ROOM
_CHAINED = b'{"parentUuid":'
_POINTS = b'{"type":"last-prompt",'


class Pointer(NamedTuple):
    """A row that says where the conversation stands."""

    row: int
    leaf: bytes
    """The row it names; zeros where it names none."""
    empty: bool
    """It says that everything was taken back."""
    exact: bool
    """What follows the named row so far was taken back."""


@dataclass(slots=True)
class Boundary:
    """What a compaction says it kept."""

    anchor: bytes = _NO_KEY
    """The row that what is kept comes behind."""
    kept: list[bytes] = field(default_factory=list)
    """The rows that are kept, in order."""
    segment: tuple[bytes, bytes] | None = None
    """The first and the last of them, where the rest is not named."""
    missing: bool = False
    """What came before it is not in this file."""


class Rows:
    """All rows of one file while they are taken in."""

    def __init__(self) -> None:
        self.start: array[int] = array("q")
        self.role = bytearray()
        self.flags = bytearray()
        self.keys = bytearray()
        self.parent: array[int] = array("i")
        """The row above; -1 for none, or for one that is looked for."""
        self.reply: array[int] = array("i")
        """The first row of the same reply."""
        self.parts: dict[int, int] = {}
        """Rows that make more than one entry."""
        self.names: dict[int, str] = {}
        """Ids that are no UUIDs."""
        self.wanted: dict[int, bytes] = {}
        """Parents that were not found near."""
        self.boundaries: dict[int, Boundary] = {}
        self.pointers: list[Pointer] = []
        self.costs: dict[int, float] = {}
        """What was spent since the row before that says so, in US dollars."""
        self.facts = Facts()
        self.requests: dict[str, int] = {}
        """Recorded requests: where each stands."""
        self.blobs: dict[str, int] = {}
        """Recorded messages, the same."""
        self.doubled: dict[int, int] = {}
        """Rows whose id an earlier one has: each with that one."""
        self.mended = False
        """Rows were taken for others than they say: what is appended cannot simply be added."""
        self._spent = 0.0
        self._room = 0
        """Rows that the columns have room for; `settle` cuts them to what there is."""
        self._open: OrderedDict[str, int] = OrderedDict()
        self._shapes = Shapes()
        self._last = b""
        """The id of the last row that was told by its bytes, as it is written."""
        self._last_row = -1
        self._end: End | None = None
        """The last keys that were noted."""
        self.decoded = 0
        """Lines that had to be decoded whole; work counted for tests."""

    def __len__(self) -> int:
        return len(self.role)

    def take(self, data: bytes, start: int, end: int, at: int, *, whole: bool = True) -> None:
        """One line, which lies `at` bytes into the file."""
        known = whole and not self._shapes.holes(data)
        if data.startswith(_CHAINED, start):
            if known and self._chained(data, start, end, at):
                return
        else:
            bulk = bulk_type(data, start, end)
            if bulk is not None:
                if bulk == "api-request-blob":
                    self._blob(data, start, end, at)
                self._add(Role.BOOKS, at)
                return
            if known and self._outside(data, start, end, at):
                return
        self.decoded += 1
        body = decode_line(data[start:end])
        if body is not None:
            self.row(row_of(body), at, 0 if whole else UNTERMINATED)
            return
        for first, stop in seams(data, start, end, BEGINS):
            piece = data[first:stop]
            body = decode_line(piece)
            place = at + first - start
            if body is not None:
                self.row(row_of(body), place, GLUED if first > start else 0)
            elif piece.strip():
                self._add(Role.BROKEN, place)

    def _outside(self, data: bytes, start: int, end: int, at: int) -> bool:
        """Takes in a row outside the chain that is told by its bytes; False for any other."""
        if data.startswith(_POINTS, start):
            pointed = pointer(data, start, end)
            if pointed is None:
                return False
            leaf, prompt = pointed
            self.pointers.append(Pointer(len(self.role), leaf, empty=False, exact=False))
            self.facts.asked(prompt)
            self._add(Role.BOOKS, at)
            return True
        found = outside(data, start, end)
        if found is None:
            return False
        kind, name = found
        if kind:
            self.requests[name.decode("ascii")] = at
        self.facts.skip()
        self._add(Role.BOOKS, at)
        return True

    def _chained(self, data: bytes, start: int, end: int, at: int) -> bool:
        """Takes in a row of the chain that is told by its bytes; False for any other."""
        facts = self.facts
        shape = self._shapes.chained(data, start, end) if facts.created is not None else None
        if shape is None:
            return False
        role, above, name, key, reply, said = shape
        flags, parent, above_key = NAMED, -1, _NO_KEY
        if above is not None:
            flags = NAMED | LINKED
            if above == self._last:
                parent = self._last_row
            else:
                found = key_in(above)
                if found is None:
                    return False
                above_key = found
                parent = self._near(above_key, len(self.role))
        index = self._add(role, at)
        self.flags[index] = flags
        self.keys[index * KEY : (index + 1) * KEY] = key
        if parent >= 0:
            self.parent[index] = parent
        elif above is not None:
            self.wanted[index] = above_key
        if reply is not None:
            self.reply[index] = self._reply_of(index, reply.decode("ascii"))
        if said is self._end:
            facts.again(copied=said.copied)
        else:
            facts.note(said.body, Role.PROMPT)
            self._end = said
        self._last, self._last_row = name, index
        return True

    def _blob(self, data: bytes, start: int, end: int, at: int) -> None:
        place = data.find(b'"hash":"', start, min(end, start + 400))
        if place >= 0:
            self.blobs[data[place + 8 : place + 72].decode("ascii", "replace")] = at

    def _add(self, role: Role, at: int) -> int:
        index = len(self.role)
        if index >= self._room:
            self._grow()
        self.start.append(at)
        self.role.append(role)
        return index

    def _grow(self) -> None:
        """Makes room for rows: that is cheaper at once than column by column for each."""
        self._room = len(self.role) + _ROOM
        self.flags.extend(bytes(_ROOM))
        self.keys.extend(bytes(_ROOM * KEY))
        self.parent.extend(_NONE)
        self.reply.extend(_NONE)

    def _cut(self) -> None:
        count = self._room = len(self.role)
        del self.flags[count:], self.keys[count * KEY :], self.parent[count:], self.reply[count:]

    def row(self, row: Row, at: int, flags: int) -> None:
        """One decoded row."""
        body, role = row.body, row.role
        if role is Role.TITLE and body.get("customTitle") == self.facts.title:
            # Said again with every prompt.
            role = Role.BOOKS
        self.facts.note(body, role)
        self._end = None
        index = self._add(role, at)
        if row.parts > 1:
            self.parts[index] = row.parts
        name = body.get("uuid")
        key = key_of(name)
        if body.get("isSidechain") is True:
            flags |= SIDECHAIN
        if key != _NO_KEY:
            flags |= NAMED
            self.keys[index * KEY : (index + 1) * KEY] = key
            if len(str(name)) != 36:
                self.names[index] = str(name)
        above = key_of(body.get("parentUuid"))
        if role is Role.BOUNDARY:
            above = self._boundary(index, body) if above == _NO_KEY else above
        if above != _NO_KEY:
            flags |= LINKED
            self.parent[index] = self._near(above, index)
            if self.parent[index] < 0:
                self.wanted[index] = above
        self.flags[index] = flags
        if role is Role.REPLY:
            self.reply[index] = self._reply(index, body)
        elif role is Role.BOOKS:
            self._books(index, body, at)

    def _near(self, key: bytes, end: int) -> int:
        """The last of some rows before one that has this id; -1 where none has."""
        first = max(0, end - _NEAR)
        place = self.keys.rfind(key, first * KEY, end * KEY)
        while place >= 0 and place % KEY:
            place = self.keys.rfind(key, first * KEY, place + KEY - 1)
        return place // KEY

    def _reply(self, index: int, body: Body) -> int:
        """The first row of the reply that a row is part of."""
        name = message_of(body).get("id")
        if not isinstance(name, str) or not name or message_of(body).get("model") == "<synthetic>":
            return index
        return self._reply_of(index, name)

    def _reply_of(self, index: int, name: str) -> int:
        first = self._open.setdefault(name, index)
        if first != index and (self.flags[first] ^ self.flags[index]) & SIDECHAIN:
            return index
        if len(self._open) > _REPLIES:
            self._open.popitem(last=False)
        return first

    def _boundary(self, index: int, body: Body) -> bytes:
        """Notes what a compaction kept; returns what it hangs on."""
        said = body.get("compactMetadata")
        said = said if isinstance(said, dict) else {}
        found = Boundary()
        kept = said.get("preservedMessages")
        segment = said.get("preservedSegment")
        if isinstance(segment, dict):
            found.anchor = key_of(segment.get("anchorUuid"))
            found.segment = key_of(segment.get("headUuid")), key_of(segment.get("tailUuid"))
        if isinstance(kept, dict):
            found.anchor = key_of(kept.get("anchorUuid"))
            listed = kept.get("allUuids") or kept.get("uuids")
            found.kept = [key_of(one) for one in (listed if isinstance(listed, list) else ())]
        self.boundaries[index] = found
        return key_of(body.get("logicalParentUuid"))

    def _books(self, index: int, body: Body, at: int) -> None:
        kind = body.get("type")
        if kind == "last-prompt" and "leafUuid" in body:
            leaf = key_of(body.get("leafUuid"))
            empty = body.get("leafUuid") is None and body.get("explicit") is True
            self.pointers.append(Pointer(index, leaf, empty, body.get("rewound") is True))
        elif kind == "cost-state":
            self._cost(index, body.get("totalCostUSD"))
        elif kind == "api-request" and isinstance(body.get("id"), str):
            self.requests[body["id"]] = at
        elif kind == "api-request-blob" and isinstance(body.get("hash"), str):
            self.blobs[body["hash"]] = at

    def _cost(self, index: int, total: object) -> None:
        """A running total; one that is less than before begins anew."""
        if isinstance(total, bool) or not isinstance(total, (int, float)) or not math.isfinite(total):
            return
        more = total - self._spent if total >= self._spent else total
        self._spent = total
        if more > 0:
            self.costs[index] = more
            self.role[index] = Role.COST

    def find(self, keys: set[bytes]) -> dict[bytes, int]:
        """The rows of some ids, the first of each, in one pass."""
        found: dict[bytes, int] = {}
        if not keys:
            return found
        view = bytes(self.keys)
        for index in range(len(self.role)):
            key = view[index * KEY : (index + 1) * KEY]
            if key in keys:
                found.setdefault(key, index)
        return found

    def settle(self) -> dict[int, Damage]:
        """Resolves the parents that lie far off or further on; returns what is wrong with rows."""
        self._shapes.rest()
        self._cut()
        damage: dict[int, Damage] = {}
        doubled = self.doubled = self._doubled()
        self.mended = bool(doubled)
        if self.wanted:
            found = self.find(set(self.wanted.values()))
            for index, key in self.wanted.items():
                self.parent[index] = found.get(key, -1)
                if index in self.boundaries:
                    self.boundaries[index].missing = self.parent[index] < 0
                elif self.parent[index] < 0:
                    damage[index] = Damage.ORPHAN
        for index, first in doubled.items():
            damage[index] = damage[first] = Damage.DUPLICATE_ID
        if doubled:
            for index, above in enumerate(self.parent):
                self.parent[index] = doubled.get(above, above)
        for index, flags in enumerate(self.flags):
            if flags & GLUED:
                damage[index] = Damage.GLUED
            if flags & UNTERMINATED:
                damage[index] = Damage.UNTERMINATED
        return damage

    def _doubled(self) -> dict[int, int]:
        """Rows whose id an earlier row has: each with that one."""
        alike = repeated(array("Q", self.keys)[::2])
        if not alike - {0}:
            return {}
        view = bytes(self.keys)
        seen: dict[bytes, int] = {}
        found: dict[int, int] = {}
        for index, flags in enumerate(self.flags):
            if flags & NAMED:
                first = seen.setdefault(view[index * KEY : (index + 1) * KEY], index)
                if first != index:
                    found[index] = first
        return found


_BUCKETS = 8
_FEW = 1 << 14


def repeated(numbers: array[int]) -> set[int]:
    """The numbers that occur more than once. Taken in parts, as a set of all of them is larger than everything else."""
    found: set[int] = set()
    buckets = [numbers]
    if len(numbers) > _FEW:
        buckets = [array("Q") for _ in range(_BUCKETS)]
        adding = [bucket.append for bucket in buckets]
        for number in numbers:
            adding[number % _BUCKETS](number)
    for some in buckets:
        seen = set(some)
        if len(seen) < len(some):
            for number in some:
                if number in seen:
                    seen.remove(number)
                else:
                    found.add(number)
    return found
