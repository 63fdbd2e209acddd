"""The rows of one transcript as columns, with their named parents. They live only while the transcript is read."""

from __future__ import annotations

import sys
from array import array
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from leafward.agents.claude.entries.blocks import (
    ASIDE,
    IN_CHAIN,
    BlockColumns,
    BlockState,
    DecodedRow,
    RowBlock,
    SessionCost,
    lines_of,
)
from leafward.agents.claude.entries.number_columns import filled, places_of, repeated, words_for
from leafward.agents.claude.entries.records import (
    KEY,
    LINKED,
    NAME,
    NAMED,
    NO_KEY,
    SIDECHAIN,
    UNTERMINATED,
    Role,
)
from leafward.agents.claude.entries.row_notes import RowNotes

if TYPE_CHECKING:
    from collections.abc import Iterator


_NEAR = 256
"""Rows before a row that are searched first for its parent."""
_LARGE = 1 << 18
"""Bytes from which it pays to import msgspec, which recognises rows by their shapes; where it is loaded already, it always pays."""
_REPLIES = 1024
"""Replies that further rows may belong to, at least."""
_FEW = 16
"""Ids that are searched one by one; more of them are found in one pass over all rows."""
_IS_NAMELESS = bytes(not flags & NAMED for flags in range(256))
_ROLES = bytes(code & (IN_CHAIN - 1) for code in range(256))
_FLAGS = bytes(
    (NAMED | LINKED if code & IN_CHAIN else 0) | (SIDECHAIN if code & ASIDE else 0) for code in range(256)
)


class Rows:
    """All rows of one file while it is being read."""

    def __init__(self) -> None:
        self.start: array[int] = array("q")
        self.role = bytearray()
        self.flags = bytearray()
        self.keys = bytearray()
        self.jumps: array[int] = array("i")
        """Rows whose parent is not the row of the chain before them, ascending."""
        self.above: array[int] = array("i")
        """The parents of these rows; -1 for none, or for a row outside the file."""
        self.parent: array[int] = array("i")
        """The parent of every row, after a call of `spread`."""
        self.reply: array[int] = array("i")
        """The first row of a row's reply, for other rows themselves; filled likewise."""
        self.words = array("I")
        """The first four bytes of each id, made up from the offset of a row without one; complete once they are settled."""
        self.alike: list[int] = []
        """Rows whose word is not unique."""
        self.rejoined: dict[int, int] = {}
        """Further rows of a reply that was not the last one, each with the reply's first row."""
        self.parts: dict[int, int] = {}
        """Rows that make more than one entry."""
        self.typed: list[int] = []
        """Rows of results whose last entry is a prompt."""
        self.names: dict[int, str] = {}
        """Ids that are not UUIDs."""
        self.far_parents: dict[int, bytes] = {}
        """Parents that were not found nearby."""
        self.notes = RowNotes()
        self.inferred: set[int] = set()
        """Rows attached to the row before them in the file, because the named parent was never written."""
        self.kept_until: dict[int, int] = {}
        """Rows at which Claude Code continued from inside a compaction's kept rows, each with the last kept row sent before it."""
        self.left_out: dict[int, str] = {}
        """The beginnings of reply ends that a resumed Claude Code did not send, each with its version."""
        self.cleared_pictures: dict[int, list[int]] = {}
        """By microcompaction, the rows whose pictures it clears first."""
        self.doubled: dict[int, int] = {}
        """Rows whose id an earlier row has, each with that row."""
        self.mended = False
        """Whether rows were reinterpreted: appended rows cannot simply be added then."""
        self.decoded = 0
        """Lines that had to be decoded whole; a work count for tests."""
        self._seed = 0
        self._told_apart: tuple[array[int], list[int]] = array("I"), []
        """The words of the rows that were there before, and those of these rows whose word is not unique."""
        self._open: dict[str, int] = {}
        """The first row of each of the latest replies."""
        self._carried = BlockState()
        self.by_shapes = False
        """Whether rows are recognised by their shapes and not each decoded."""

    def __len__(self) -> int:
        return len(self.role)

    # --- lines ---

    def feed(self, data: bytes, stop: int, at: int) -> None:
        """Reads whole lines, which lie `at` bytes into the file."""
        if not self.by_shapes:
            self.by_shapes = stop >= _LARGE or "msgspec" in sys.modules
        if self.by_shapes:
            block = self._block()
            block.read_lines(data, stop, at)
            if (keys := block.keys()) is not None:
                self.add(block.columns(keys))
                return
        self.decode(data, stop, at)

    def decode(self, data: bytes, stop: int, at: int) -> None:
        """Adds the rows of whole lines, each decoded by itself."""
        block = self._block()
        for line in lines_of(data, stop):
            block.decode(line, at)
            at += len(line)
        self.add(block.columns(block.keys() or b""))

    def read_unterminated(self, line: bytes, at: int) -> None:
        """Reads a last line, which is not terminated."""
        block = self._block()
        block.decode(line, at, UNTERMINATED)
        self.add(block.columns(block.keys() or b""))

    def _block(self) -> RowBlock:
        return RowBlock(replace(self._carried), begun=self.notes.facts.created is not None)

    def add(self, block: BlockColumns) -> None:
        """Adds the rows of a block, which follow the rows before."""
        base, codes, carried = len(self), block.codes, block.carried
        self._carried = carried if carried.last else replace(carried, last=self._carried.last)
        self.start.extend(block.start)
        self.role += codes.translate(_ROLES)
        self.flags += codes.translate(_FLAGS)
        self.keys += block.keys
        self.notes.requests.extend(block.requests)
        self.notes.blobs.extend(block.blobs)
        self.decoded += block.decoded
        for index, remark in block.remarks:
            row = base + index
            if isinstance(remark, DecodedRow):
                self._decoded(row, remark)
            elif isinstance(remark, SessionCost):
                if self.notes.spend(row, remark.total):
                    self.role[row] = Role.COST
            else:
                self.notes.facts.note(remark.facts, Role.PROMPT, row)
        self.notes.pointers.extend(block.pointers, base)
        self.notes.facts.note_prompt(block.prompt)
        for index, key in block.jumps:
            self._jump(base + index, key)
        self._replies(block.replies, block.reply_names, base)
        if len(self._open) > 2 * _REPLIES:
            self._open = dict(islice(self._open.items(), len(self._open) - _REPLIES, None))

    def _jump(self, row: int, key: bytes) -> None:
        """Notes a row whose parent is not the row before it: a row with the given id, or none."""
        above = self._near(key, row) if key != NO_KEY else -1
        if above < 0 and key != NO_KEY:
            self.far_parents[row] = key
        self.jumps.append(row)
        self.above.append(above)

    def _near(self, key: bytes, end: int) -> int:
        """The last of the nearest rows before `end` that has this id; -1 without one."""
        first = max(0, end - _NEAR)
        place = self.keys.rfind(key, first * KEY, end * KEY)
        while place >= 0 and place % KEY:
            place = self.keys.rfind(key, first * KEY, place + KEY - 1)
        return place // KEY

    def _replies(self, rows: array[int], names: list[str], base: int) -> None:
        """Notes rows at which replies begin or continue behind another row."""
        if self._open.keys().isdisjoint(names) and len(set(names)) == len(names):
            # All of them begin here.
            self._open.update(zip(names, map(base.__add__, rows), strict=True))
            return
        stops = [*rows[1:], len(self) - base]
        for row, name, stop in zip(rows, names, stops, strict=True):
            self._reply(base + row, name, base + stop)

    def _reply(self, row: int, name: str, stop: int) -> None:
        """Begins a reply, or continues one: its first row is then an earlier one, also for the following rows up to `stop`."""
        first = self._open.setdefault(name, row)
        if first == row:
            return
        self.role[row] = Role.FURTHER
        while row >= 0:
            self.rejoined[row] = first
            row = self.role.find(Role.FURTHER, row + 1, stop)

    def _decoded(self, row: int, remark: DecodedRow) -> None:
        """Notes one decoded row."""
        body, role, parts = remark.row.body, remark.row.role, remark.row.parts
        if role is Role.TITLE and body.get("customTitle") == self.notes.facts.title:
            # Repeated with every prompt.
            role = Role.BOOKS
        self.role[row], self.flags[row] = role, remark.flags
        if parts > 1:
            self.parts[row] = parts
        if remark.row.typed:
            self.typed.append(row)
        if remark.flags & NAMED and len(str(body["uuid"])) != NAME:
            self.names[row] = str(body["uuid"])
        if self.notes.add(row, body, role):
            self.role[row] = Role.COST

    def take(self, told: BlockColumns) -> bool:
        """Adds lines that a process read; False where they have to be read here, since the session's beginning is unknown."""
        if self.notes.facts.created is None:
            return False
        self.add(told)
        return True

    # --- all of them ---

    def find(self, keys: set[bytes]) -> dict[bytes, int]:
        """The first row of each of some ids."""
        found: dict[bytes, int] = {}
        if len(keys) < _FEW:
            for key in keys:
                if (row := first_of(self.keys, key)) >= 0:
                    found[key] = row
            return found
        for row, key in enumerate(self._every_key()):
            if key in keys:
                found.setdefault(key, row)
        return found

    def _every_key(self) -> Iterator[bytes]:
        keys = bytes(self.keys)
        return (keys[at : at + KEY] for at in range(0, len(keys), KEY))

    def spread(self) -> None:
        """Fills `parent` and `reply`, for readers of any row and not only of the exceptions."""
        count = len(self)
        self.parent, self.reply = array("i", [-1]) * count, array("i", range(count))
        last = reply = -1
        for row, (role, flags) in enumerate(zip(self.role, self.flags, strict=True)):
            if flags & NAMED:
                self.parent[row] = last
                last = row
            if role == Role.REPLY:
                reply = row
            elif role == Role.FURTHER:
                self.reply[row] = self.rejoined.get(row, reply)
        for row, above in zip(self.jumps, self.above, strict=True):
            self.parent[row] = above
        if self.doubled:
            for row, above in enumerate(self.parent):
                self.parent[row] = self.doubled.get(above, above)

    def name(self, seed: int) -> None:
        """Fills `words`, `alike` and `doubled`."""
        with memoryview(self.keys) as keys, keys.cast("I") as quarters, quarters[::4] as firsts:
            words = array("I", firsts.tobytes())
        self._seed = seed
        nameless = bytes(self.flags.translate(_IS_NAMELESS))
        # The key of a row without an id is all zeros.
        self.words = filled(words, words_for(self.start, seed), nameless)
        self.alike = places_of(self.words, self._shared(nameless))
        self._told_apart = self.words, self.alike
        self.doubled = {}
        seen: dict[bytes, int] = {}
        for row in self.alike:
            if self.flags[row] & NAMED:
                first = seen.setdefault(bytes(self.keys[row * KEY : (row + 1) * KEY]), row)
                if first != row:
                    self.doubled[row] = first

    def _shared(self, nameless: bytes) -> set[int]:
        """The words that several rows have."""
        before, alike = self._told_apart
        if before and self.words[: len(before)] == before:
            # Only later rows are compared with all the others.
            later = self.words[len(before) :]
            known = {before[row] for row in (*alike, *places_of(before, set(later)))}
            return known | repeated(later)
        if self.start and self.start[-1] - self.start[0] < 1 << 32:
            return repeated(self.words, nameless)
        return repeated(self.words)

    def make_up(self, row: int) -> None:
        """Makes up a word for a row without an id: words differ within four gigabytes."""
        self.words[row] = words_for(self.start[row : row + 1], self._seed)[0]


def first_of(keys: bytearray, key: bytes) -> int:
    """The first row of an id; -1 where none has it."""
    place = keys.find(key)
    while place >= 0 and place % KEY:
        place = keys.find(key, place + 1)
    return place // KEY
