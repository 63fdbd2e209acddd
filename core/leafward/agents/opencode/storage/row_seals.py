"""Seals: each tells one record of a session in a database from any other."""

from __future__ import annotations

from array import array
from contextlib import suppress
from typing import TYPE_CHECKING
from zlib import crc32

from leafward.agents.opencode.storage.records import EVENT
from leafward.agents.opencode.storage.row_changes import WrittenRows

if TYPE_CHECKING:
    from leafward.agents.opencode.storage.records import StoredRow

_FEW = 6
"""Rows that are looked for one by one; more of them are found in one pass over all records."""


class RowSeals:
    """The seal of each record of a session: the place where it is stored, the time when it was written, its bytes."""

    def __init__(self) -> None:
        self.table = bytearray()
        self.row = array("q")
        self.size = array("i")
        """Both are columns of `Records`, which adds to them."""
        self.written = array("q")
        self.crc = array("I")

    def add(self, one: StoredRow) -> None:
        """Adds a record, but for its row and size."""
        self.table.append(one.table)
        self.written.append(one.written)
        self.crc.append(crc32(one.data))

    def first(self, count: int) -> RowSeals:
        """Those of the first records."""
        found = RowSeals()
        found.table, found.row, found.written = self.table[:count], self.row[:count], self.written[:count]
        found.size, found.crc = self.size[:count], self.crc[:count]
        return found

    def numbers(self, table: int, rows: set[int]) -> dict[int, int]:
        """The numbers of the records that lie in some rows of a table, by row."""
        found: dict[int, int] = {}
        if len(rows) > _FEW:
            pairs = ((row, number) for number, row in enumerate(self.row) if row in rows)
            return {row: number for row, number in pairs if self.table[number] == table}
        for row in rows:
            number = -1
            with suppress(ValueError):
                while row not in found:
                    number = self.row.index(row, number + 1)
                    if self.table[number] == table:
                        found[row] = number
        return found

    def replace(self, number: int, written: int, data: bytes) -> None:
        """Notes what a record is now."""
        self.written[number], self.size[number], self.crc[number] = written, len(data), crc32(data)

    def rows(self) -> WrittenRows:
        """The rows of messages and parts, in sum."""
        pairs = zip(self.table, self.size, strict=True) if EVENT in self.table else ()
        of_events = [size for table, size in pairs if table == EVENT]
        return WrittenRows(len(self.row) - len(of_events), sum(self.written), sum(self.size) - sum(of_events))
