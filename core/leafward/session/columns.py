"""The values kept of each entry, as columns, and the links between entries.

An entry costs 21 bytes: the offset of its line, its kind, its id and the index of its parent. Ids that are not pi's eight
characters lie in a dictionary beside the columns.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward.session.entries import BOOKKEEPING_BYTES, DAMAGE_TEXT, NO_ENTRY, Damage, EntryId, EntryIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ID_SIZE = 8
"""Bytes of an id in the id column."""


_OFTEN = 256
"""Single look-ups of ids after which all ids are indexed by their numbers."""


_MOST_BEFORE = 256
"""Bookkeeping entries at the beginning of a file that are looked through for its first entry of the conversation."""
_BEFORE_IS_MISSING = (Damage.ORPHAN, Damage.MISSING_BASE)
MIDWAY = "begins in the middle"
MIDWAY_TEXT = f"the session {MIDWAY}: what came before is not in this file"


_MOST_BOOKS = 4096
"""Bookkeeping entries that are skipped on the way up."""


@dataclass(slots=True)
class Columns:
    """The stored values of each entry, by its index: 21 bytes an entry for files that pi wrote."""

    start: array[int] = field(default_factory=lambda: array("q"))
    """Byte offset of the line."""
    kind: bytearray = field(default_factory=bytearray)
    ids: bytearray = field(default_factory=bytearray)
    """Eight bytes an entry; zeros where the id is not 8 plain characters and lies in `other_ids`."""
    parent: array[int] = field(default_factory=lambda: array("i"))
    """Index of the parent; -1 for a root."""
    other_ids: dict[int, str] = field(default_factory=dict)
    damage: dict[int, Damage] = field(default_factory=dict)
    own: list[int] = field(default_factory=list)
    """Entries that are notes of Leafward's (`entries.is_own`), in order."""
    _others: tuple[int, dict[str, int]] = field(default_factory=lambda: (0, {}), repr=False, compare=False)
    """`other_ids` inverted, made on first use, with the number of ids that it covers."""
    searched: int = field(default=0, repr=False, compare=False)
    """Full scans of all ids for one id; counted for tests."""
    _plain: tuple[int, int, dict[int, int]] = field(
        default_factory=lambda: (0, 0, {}), repr=False, compare=False
    )
    """The number of entries covered, that of look-ups, and the index by the id as a number once those are many."""

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def entries(self) -> int:
        """The number of entries that screens and verbs state: all except Leafward's notes."""
        return len(self.kind) - len(self.own)

    def entries_in(self, spans: Iterable[range]) -> int:
        """The number of those entries in some spans."""
        own = self.own
        return sum(
            len(span) - (bisect_left(own, span.stop) - bisect_left(own, span.start)) if own else len(span)
            for span in spans
        )

    def without_notes(self, entries: Iterable[int]) -> array[int]:
        """Some entries without Leafward's notes."""
        own = frozenset(self.own)
        if not own and isinstance(entries, array):
            return entries
        return array("i", (index for index in entries if index not in own))

    def digest(self, count: int) -> bytes:
        """A digest of the first entries: of their kinds, ids and parents."""
        # Loading it takes some milliseconds, and the first tree needs none.
        from hashlib import blake2b

        digest = blake2b(self.kind[:count], digest_size=16)
        digest.update(self.ids[: count * ID_SIZE])
        digest.update(self.parent[:count].tobytes())
        if self.other_ids:
            digest.update(repr([self.other_ids.get(index) for index in range(count)]).encode())
        return digest.digest()

    @property
    def damaged(self) -> int:
        """The number of damaged entries."""
        return sum(1 for _ in self.damaged_entries())

    def damaged_entries(self) -> Iterator[int]:
        """The damaged entries.

        A last line that only lacks its newline is not one: it is whole, and an agent may still be writing. Nor is a
        beginning in the middle, as an excerpt has it.
        """
        first = self._first_said() if self.damage else NO_ENTRY
        for at, one in self.damage.items():
            if one is not Damage.UNTERMINATED and not (at <= first and one in _BEFORE_IS_MISSING):
                yield at

    @property
    def begins_midway(self) -> bool:
        """Whether the session begins in the middle: what came before its first entry is not in the file."""
        first = self._first_said() if self.damage else NO_ENTRY
        return any(at <= first and one in _BEFORE_IS_MISSING for at, one in self.damage.items())

    def is_midway(self, index: int) -> bool:
        """Whether the session begins in the middle with an entry."""
        return self.damage.get(index) in _BEFORE_IS_MISSING and index <= self._first_said()

    def damage_text(self, index: int) -> str:
        """The damage of an entry in words; empty for an entry without any."""
        damage = self.damage.get(index)
        if damage is None:
            return ""
        return MIDWAY_TEXT if self.is_midway(index) else DAMAGE_TEXT[damage]

    def _first_said(self) -> int:
        """The first entry of the conversation in the file; of a file with more bookkeeping before it, that many entries."""
        head = self.kind[:_MOST_BEFORE]
        return len(head) - len(head.lstrip(BOOKKEEPING_BYTES))

    @property
    def is_settled(self) -> bool:
        """Whether nothing is damaged but broken lines, and no other entry has an id of another form: what is appended changes neither."""
        damage = self.damage
        return damage.keys() == self.other_ids.keys() and set(damage.values()) <= {Damage.MALFORMED}

    def said_above(self, index: int, most: int) -> Iterator[int]:
        """Conversation entries above an entry, the nearest first, at most `most`.

        A command that runs for minutes has hundreds of rows of progress before its result in Claude Code (2.1.14 to 2.1.49).
        """
        parents, kinds, books = self.parent, self.kind, _MOST_BOOKS
        at = parents[index]
        while at >= 0 and most and books:
            if kinds[at] in BOOKKEEPING_BYTES:
                books -= 1
            else:
                yield at
                most -= 1
            at = parents[at]

    def id_at(self, index: int) -> EntryId | None:
        """The id of an entry; None for -1, which is not an entry."""
        return self.id(index) if index > NO_ENTRY else None

    def id(self, index: int) -> EntryId:
        """The id of an entry."""
        other = self.other_ids.get(index)
        if other is not None:
            return EntryId(other)
        return EntryId(self.ids[index * ID_SIZE : (index + 1) * ID_SIZE].decode("ascii"))

    def index(self, entry_id: str, before: int | None = None) -> EntryIndex:
        """The entry with an id, the last one where several have it (pi 1.5.2); -1 where none has."""
        if self.other_ids:
            found = self._other(entry_id)
            if before is not None and found >= before:
                earlier = (
                    index for index, name in self.other_ids.items() if name == entry_id and index < before
                )
                found = max(earlier, default=-1)
            if found >= 0:
                return EntryIndex(found)
        if len(entry_id) != ID_SIZE or not entry_id.isascii():
            return EntryIndex(-1)
        key = entry_id.encode("ascii")
        end = len(self.ids) if before is None else before * ID_SIZE
        if before is None and (index := self._known(key)) is not None:
            return EntryIndex(index)
        self.searched += 1
        at = self.ids.rfind(key, 0, end)
        while at >= 0 and at % ID_SIZE:
            at = self.ids.rfind(key, 0, at + ID_SIZE - 1)
        return EntryIndex(at // ID_SIZE if at >= 0 else -1)

    def index_above(self, entry_id: str, below: int) -> EntryIndex:
        """The entry that `index` gives, found sooner where it stands shortly before `below` in the file."""
        found = self.index(entry_id, before=below)
        # Where several entries have one id, each of them is damaged.
        return found if found >= 0 and found not in self.damage else self.index(entry_id)

    def _known(self, key: bytes) -> int | None:
        """The last entry with a plain id, from an index once there are many look-ups; None where a search is needed.

        A search for each look-up would take quadratic time.
        """
        total, lookups, found = self._plain
        if total != len(self.kind):
            total, lookups, found = len(self.kind), 0, {}
        if lookups == _OFTEN:
            found = {number: index for index, number in enumerate(array("Q", bytes(self.ids)))}
        self._plain = total, lookups + 1, found
        if lookups < _OFTEN:
            return None
        index = found.get(int.from_bytes(key, sys.byteorder), -1)
        # Damage removes ids and adds none.
        return index if index < 0 or self.ids.startswith(key, index * ID_SIZE) else None

    def _other(self, entry_id: str) -> int:
        """The last entry with an id from the dictionary; -1 where none has it."""
        made_of, names = self._others
        if made_of != len(self.other_ids):
            names = {}
            for index, name in self.other_ids.items():
                names[name] = max(index, names.get(name, -1))
            self._others = len(self.other_ids), names
        found = names.get(entry_id, -1)
        if found >= 0 and self.other_ids.get(found) == entry_id:
            return found
        # Damage renames entries without adding any.
        return max((index for index, name in self.other_ids.items() if name == entry_id), default=-1)

    def starting_with(self, prefix: str) -> list[EntryIndex]:
        """Entries whose ids start with `prefix`, at most two: with two, the prefix is ambiguous."""
        found = {other: index for index, other in self.other_ids.items() if other.startswith(prefix)}
        if prefix.isascii() and 0 < len(prefix) <= ID_SIZE:
            key = prefix.encode("ascii")
            at = self.ids.find(key)
            while at >= 0 and len(found) < 2:
                if at % ID_SIZE == 0:
                    found[self.ids[at : at + ID_SIZE].decode("ascii")] = at // ID_SIZE
                at = self.ids.find(key, at + 1)
        return [EntryIndex(index) for index in list(found.values())[:2]]


def as_key(entry_id: bytes | str) -> int:
    """The number that an id's eight bytes make in the id column; -1 where the id has another length."""
    raw = entry_id.encode("utf-8", "replace") if isinstance(entry_id, str) else entry_id
    return int.from_bytes(raw, sys.byteorder) if len(raw) == ID_SIZE else -1


def link(
    columns: Columns, first: int, jumps: list[tuple[int, bytes | str]], orphans: dict[int, bytes | str]
) -> None:
    """Resolves the parents in `jumps` (entry, parent's id), marks the unresolved ones and cuts cycles.

    `first` is the first new entry; `orphans` holds the unresolved parents so far and is updated.
    """
    changed = _mark_duplicates(columns, first)
    references = [*jumps, *orphans.items()]
    forward = False
    for (index, parent_id), parent in zip(references, look_up(columns, references), strict=True):
        columns.parent[index] = parent
        if parent < 0:
            orphans[index] = parent_id
            columns.damage.setdefault(index, Damage.ORPHAN)
        elif orphans.pop(index, None) is not None:
            changed |= index < first
            if columns.damage.get(index) is Damage.ORPHAN:
                del columns.damage[index]
        forward |= parent >= index
    if forward or changed:
        cut_cycles(columns)


NEAR = 256
"""Entries before a referring entry that are searched first for the one it names."""


def look_up(columns: Columns, references: list[tuple[int, bytes | str]]) -> list[int]:
    """The last entry with the id in each pair of an entry and an id; -1 where none has it.

    Nearly all ids belong to an entry shortly before; the rest cost one search each where they are few, else one pass over
    all ids.
    """
    if columns.damage and Damage.DUPLICATE_ID in columns.damage.values():
        found = [-1] * len(references)
    else:
        found = [_near(columns.ids, index, name) for index, name in references]
    missed = [at for at, entry in enumerate(found) if entry < 0]
    if not missed:
        return found
    find = _finder(columns, [references[at] for at in missed])
    for at in missed:
        found[at] = find(references[at][1])
    return found


def _near(ids: bytearray, index: int, name: bytes | str) -> int:
    """The entry with an id among the last ones before `index`; -1 where it is not there."""
    if len(name) != ID_SIZE or not name.isascii():
        return -1
    key = name.encode("ascii") if isinstance(name, str) else name
    first = max(0, index - NEAR) * ID_SIZE
    at = ids.rfind(key, first, index * ID_SIZE)
    while at >= 0 and at % ID_SIZE:
        at = ids.rfind(key, first, at + ID_SIZE - 1)
    return at // ID_SIZE


def _finder(columns: Columns, references: list[tuple[int, bytes | str]]) -> Callable[[bytes | str], int]:
    """A look-up of ids that suits the number of `references`: one search each, or one pass over all ids."""
    few = 16
    if len(references) < few:
        return lambda name: columns.index(name if isinstance(name, str) else name.decode("utf-8", "replace"))
    keys = {as_key(parent_id) for _, parent_id in references}
    hits = {number: index for index, number in enumerate(array("Q", bytes(columns.ids))) if number in keys}
    others = {name: index for index, name in columns.other_ids.items()}

    def find(parent_id: bytes | str) -> int:
        if others:
            name = parent_id if isinstance(parent_id, str) else parent_id.decode("utf-8", "replace")
            if name in others:
                return others[name]
        return hits.get(as_key(parent_id), -1)

    return find


def _numbers(ids: bytearray) -> array[int]:
    """A number for each id: equal ids have equal numbers, and different ids different ones, except that case is ignored."""
    try:
        # pi's ids are hexadecimal digits: their numbers are half as long, and a set takes them in half the time.
        return array("I", bytes.fromhex(ids.decode("ascii")))
    except ValueError:
        return array("Q", bytes(ids))


def _doubled(columns: Columns, first: int) -> list[int]:
    """Entries from `first` on whose id an earlier entry has as well."""
    total = len(columns)
    few = 16
    if total - first < few:
        return [
            index
            for index in range(first, total)
            if columns.index(columns.id(EntryIndex(index)), before=index) >= 0
        ]
    others = columns.other_ids.values()
    plain = len(set(_numbers(columns.ids))) - bool(others)
    if plain + len(set(others)) == total:
        return []
    seen: set[str] = set()
    doubled = []
    for index in range(total):
        name = columns.id(EntryIndex(index))
        if name in seen:
            doubled.append(index)
        seen.add(name)
    return doubled


_PASSING = (None, Damage.ORPHAN, Damage.UNTERMINATED)
"""Damage that later lines may repair; it does not hide permanent damage."""


def _mark_duplicates(columns: Columns, first: int) -> bool:
    """Marks entries that share an id; the last one takes the children of the others (pi 1.5.2)."""
    moved: dict[int, int] = {}
    for index in _doubled(columns, first):
        earlier = columns.index(columns.id(EntryIndex(index)), before=index)
        for one in (earlier, index):
            if columns.damage.get(one) in _PASSING:
                columns.damage[one] = Damage.DUPLICATE_ID
        moved[earlier] = index
    if not moved:
        return False
    for shared in sorted(moved, reverse=True):
        # What stands later is known already: a chain of thousands is followed once.
        moved[shared] = moved.get(moved[shared], moved[shared])
    columns.parent[:] = array("i", [moved.get(parent, parent) for parent in columns.parent])
    return True


def cut_cycles(columns: Columns) -> None:
    """Makes a root of the entry that closes a cycle: the cycle's last one in file order."""
    parent = columns.parent
    state = bytearray(len(parent))
    for start in range(len(parent)):
        walk: list[int] = []
        at = start
        while at >= 0 and state[at] == 0:
            state[at] = 1
            walk.append(at)
            at = parent[at]
        if at >= 0 and state[at] == 1:
            closing = max(walk[walk.index(at) :])
            parent[closing] = -1
            columns.damage[closing] = Damage.CYCLE
        for index in walk:
            state[index] = 2
