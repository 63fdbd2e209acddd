"""Ids of entries: the beginning of the row's own id where that is a UUID, otherwise an id made from its offset."""

from __future__ import annotations

import re
from array import array
from binascii import unhexlify
from typing import TYPE_CHECKING

from leafward.agents.claude.entries.number_columns import places_of, repeated, spread
from leafward.agents.claude.entries.records import Role
from leafward.session.columns import ID_SIZE, Columns, as_key
from leafward.session.entries import Damage

if TYPE_CHECKING:
    from leafward.agents.claude.entries.transcript_rows import Rows

_HEX = re.compile(rb"[0-9a-f]{8}")
_ROUNDS = 3
"""Passes over the entries that share an id, before all entries are gone through one by one."""
_ELSEWHERE = bytes(ID_SIZE)
"""The place of an id that is kept elsewhere, as it has another form."""


class EntryIds:
    """Gives the entries of one transcript their ids; all differ."""

    def __init__(
        self, rows: Rows, columns: Columns, order: array[int], entry: array[int], parts: dict[int, int]
    ) -> None:
        """`order` is the row of each entry, `entry` the first entry of each row, `parts` as in `EntryBuilder`."""
        self._rows, self._columns = rows, columns
        self._order, self._entry, self._parts = order, entry, parts

    def give(self, words: array[int]) -> None:
        """Gives ids to all entries; each begins with the word of its row. `words` has one word for each entry."""
        rows, columns = self._rows, self._columns
        columns.ids += words.tobytes().hex().encode("ascii")
        for index, part in self._parts.items():
            number = int.from_bytes(words[index : index + 1].tobytes(), "big")
            self._call(index, b"%08x" % spread(number, part))
        for row, own in rows.names.items():
            index = self._entry[row]
            if self._order[index] == row:
                plain = own.encode("ascii", "replace") if len(own) == ID_SIZE and own.isascii() else b""
                self._call(index, plain or _ELSEWHERE)
                if not plain:
                    columns.other_ids[index] = own
        row = rows.role.find(Role.BROKEN)
        while row >= 0:
            index = self._entry[row]
            self._call(index, _ELSEWHERE)
            columns.other_ids[index] = f"line@{rows.start[row]}"
            columns.damage[index] = Damage.MALFORMED
            row = rows.role.find(Role.BROKEN, row + 1)
        if self._parts or rows.names or rows.doubled:
            numbers = array("Q", columns.ids)
            self._tell_apart(places_of(numbers, repeated(numbers) - {0}))
        else:
            self._tell_apart([self._entry[row] for row in rows.alike if self._order[self._entry[row]] == row])
        rows.words, rows.alike = array("I"), []
        others = columns.other_ids
        if len(set(others.values())) < len(others):
            taken: set[str] = set()
            for index, name in others.items():
                while name in taken:
                    name += "'"
                others[index] = name
                taken.add(name)

    def _call(self, index: int, name: bytes) -> None:
        self._columns.ids[index * ID_SIZE : (index + 1) * ID_SIZE] = name

    def _tell_apart(self, alike: list[int]) -> None:
        """Gives another id to entries that share one with an earlier entry. Later entries have no influence, so ids last."""
        columns = self._columns
        for _ in range(_ROUNDS):
            if not alike:
                return
            # Nearly always the next id is free: one pass checks all of them.
            free = self._free({_following(self._called(index), index) for index in alike})
            known, taken = set[bytes](), set[int]()
            for index in alike:
                name = self._called(index)
                if name not in known:
                    known.add(name)
                    continue
                name = _following(name, index)
                if name in free:
                    free.remove(name)
                else:
                    taken.add(as_key(name))
                self._call(index, name)
            alike = places_of(array("Q", columns.ids), taken)
        if alike:
            self._tell_rest_apart()

    def _tell_rest_apart(self) -> None:
        """Gives every entry the first id from its own on that no earlier one has.

        Ids that begin with numbers in a row move each other on, one pass for each of them.
        """
        after: dict[bytes, bytes] = {}
        """Each id that an entry has, with one behind it that may be free."""
        for index in range(len(self._order)):
            own = name = self._called(index)
            if name == _ELSEWHERE:
                continue
            passed = []
            while name in after:
                passed.append(name)
                name = after[name]
            after[name] = _following(name, index)
            # Whoever comes to one of these goes on from here at once.
            after.update(dict.fromkeys(passed, name))
            if name != own:
                self._call(index, name)

    def _free(self, names: set[bytes]) -> set[bytes]:
        """The ids of `names` that are free; an id that differs from a taken one only in the case of letters may be missing."""
        every, some = self._columns.ids, b"".join(names)
        try:
            # Two hexadecimal digits, as nearly all ids have, fit in one byte, so that a number holds more of an id.
            numbers, wanted = array("I", unhexlify(every)), array("I", unhexlify(some))
        except ValueError:
            numbers, wanted = array("Q", every), array("Q", some)
        taken = {numbers[place] for place in places_of(numbers, set(wanted))}
        return {name for name, number in zip(names, wanted, strict=True) if number not in taken}

    def _called(self, index: int) -> bytes:
        return bytes(self._columns.ids[index * ID_SIZE : (index + 1) * ID_SIZE])


def _following(name: bytes, index: int) -> bytes:
    """The id of an entry whose own id is taken."""
    return b"%08x" % ((int(name, 16) + 1 if _HEX.fullmatch(name) else index) & 0xFFFFFFFF)
