"""A session in a database as far as it was read: another process goes on from it. It holds no text of the conversation.

Rows of a database change in place, so going on has to prove that the rows of before are the same. opencode sets `time_updated` with
every write of a row (1.2 to 1.18.33). A row that was written since is compared byte for byte; of all the others the number is
compared, the sum of these times and that of their bytes, and some byte for byte. What does not fit is read whole.
"""

from __future__ import annotations

import re
from os import urandom
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from leafward.agents.opencode.entries.roles import Role
from leafward.agents.opencode.storage.records import (
    EVENT,
    MESSAGE,
    PART,
    STORED,
    UNKNOWN,
    dumped,
    number_in,
    object_in,
)
from leafward.agents.opencode.storage.row_changes import (
    has_removed,
    last_event,
    later_rows,
    rows_in_sum,
    tells_writing,
)
from leafward.agents.storage.packed_values import packed, unpacked
from leafward.session.entries import object_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.agents.opencode.entries.entry_builder import EntryBuilder, EntryNames
    from leafward.agents.opencode.lineage import ForkParent
    from leafward.agents.opencode.storage.database import Database
    from leafward.agents.opencode.storage.records import Info
    from leafward.agents.opencode.storage.row_changes import WrittenRows
    from leafward.agents.opencode.storage.row_seals import RowSeals

CLASSES = frozenset({
    "leafward.session.columns:Columns",
    "leafward.agents.opencode.kept_records:KeptRecords",
    "leafward.agents.opencode.storage.row_seals:RowSeals",
    "leafward.agents.opencode.kept_records:Snapshot",
    "leafward.agents.opencode.storage.row_changes:WrittenRows",
    "leafward.agents.opencode.entries.entry_builder:EntryBuilder",
    "leafward.agents.opencode.entries.entry_builder:EntryNames",
    "leafward.agents.opencode.lineage:ForkParent",
})  # fmt: skip
"""The classes that a reading consists of."""
_COMPARED = 256
"""Rows of before that are compared byte for byte, besides those that were written since."""
_COMPACTED = re.compile(rb',\s*"compacted":\s*(\d{1,18})(?=[,}])')


class Changed(Exception):
    """The rows of before are not the same: the session has to be read whole."""


class Snapshot(NamedTuple):
    """A reading at a message, ahead of the last ones, which may still change."""

    entries: int
    records: int
    spooled: int
    """Bytes of these records."""
    last: tuple[int, str]
    """Time and id of the message."""
    names: EntryNames
    private: tuple[str, ...]
    """Whatever else in it may be private."""
    builder: bytes


class KeptRecords(NamedTuple):
    """A reading up to a message, with what proves that it still counts."""

    name: bytes
    """A random one, which the readings have that went on from each other."""
    snapshot: Snapshot
    event: int
    """The number of the session's last event."""
    version: str
    source: ForkParent | None
    seals: RowSeals
    rows: WrittenRows
    """All rows of messages and parts, in sum."""
    newest: int
    """When the last of them was written."""

    def builder(self) -> EntryBuilder:
        """The builder as it was. Raises Changed for bytes that hold none."""
        from leafward.agents.opencode.entries.entry_builder import EntryBuilder

        try:
            made = unpacked(self.snapshot.builder, CLASSES)
        except ValueError as error:
            raise Changed from error
        if not isinstance(made, EntryBuilder):
            raise Changed
        made.take_names(self.snapshot.names)
        return made

    def record(self, base: Database) -> Callable[[int], bytes]:
        """A function that gives a record by its number, from the database."""
        seals = self.seals

        def data(number: int) -> bytes:
            table, row = seals.table[number], seals.row[number]
            query = f"SELECT CAST(data AS BLOB) FROM {STORED[table]} WHERE rowid = ?"  # noqa: S608  # names of our own
            found: bytes = next(iter(base.ask(query, row)), (b"",))[0]
            if table == EVENT:
                body = object_in(found)
                return dumped(object_at(body, "part") or object_at(body, "info"))
            return found

        return data


def snapshot(builder: EntryBuilder, last: tuple[int, str], seals: RowSeals) -> Snapshot | None:
    """A reading as it is now, behind the message `last`; None where nothing could go on from there."""
    if builder.stored or builder.columns.damage or builder.hidden or Role.SYSTEM in builder.role:
        return None
    if UNKNOWN in seals.written or 0 in builder.times:
        return None
    records = builder.records
    try:
        with builder.bare():
            made = packed(builder)
    except RecursionError:
        return None
    names = builder.names()
    if names.ids.count("\n") != len(builder.columns) - 1:
        return None
    private = (builder.folder, *builder.unknown)
    return Snapshot(len(builder.columns), len(records.start), records.spool.size, last, names, private, made)


def kept_records(
    found: Snapshot,
    seals: RowSeals,
    event: int,
    info: Info,
    source: ForkParent | None,
    earlier: KeptRecords | None,
) -> KeptRecords:
    """A reading up to a snapshot, in the state of the database that was read; `earlier`: what it went on from."""
    first = seals.first(found.records)
    name = earlier.name if earlier is not None else urandom(16)
    return KeptRecords(name, found, event, info.version, source, first, first.rows(), max(first.written))


def unpacked_records(data: bytes) -> KeptRecords | None:
    """The reading that was packed; None for bytes that hold none."""
    try:
        kept = unpacked(data, CLASSES)
    except ValueError:
        return None
    return kept if isinstance(kept, KeptRecords) else None


def take_up(base: Database, info: Info, kept: KeptRecords) -> tuple[EntryBuilder, RowSeals]:
    """The builder of an earlier reading, and the seals of its records as they are now. Raises Changed, sqlite3.Error."""
    if not tells_writing(base, info.id) or info.version != kept.version:
        raise Changed
    if last_event(base, info.id) < kept.event or has_removed(base, info.id, kept.event):
        raise Changed
    builder, seals = kept.builder(), kept.seals.first(kept.snapshot.records)
    left, looked_at = kept.rows, set[int]()
    for table in (MESSAGE, PART):
        found, later = rows_in_sum(base, info.id, table, kept.newest)
        left = left.without(*found)
        rows = list(later_rows(base, info.id, table, later, kept.snapshot.last))
        numbers = seals.numbers(table, {one.row for one in rows if one.data is not None})
        for one in rows:
            if not isinstance(one.written, int):
                raise Changed
            left = left.without(-1, -one.written, -one.size)
            if one.data is None:
                continue
            if (number := numbers.get(one.row, -1)) < 0:
                raise Changed
            left = left.without(1, seals.written[number], seals.size[number])
            looked_at.add(number)
            if one.size != seals.size[number] or crc32(one.data) != seals.crc[number]:
                _take_change(builder, kept, number, one.data)
            seals.replace(number, one.written, one.data)
    if any(left):
        raise Changed
    data_of = kept.record(base)
    for number in range(0, len(seals.row), max(1, len(seals.row) // _COMPARED)):
        if number not in looked_at and crc32(data_of(number)) != seals.crc[number]:
            raise Changed
    return builder, seals


def _take_change(builder: EntryBuilder, kept: KeptRecords, number: int, data: bytes) -> None:
    """Takes in another content of a record of before. Raises Changed where entries may come of it that are not there.

    opencode writes what changed in the files to the prompt of the turn, and when an output was pruned to its call (1.18.33).
    """
    if kept.seals.table[number] == MESSAGE:
        if builder.is_prompt(number) and object_in(data).get("role") == "user":
            return
        raise Changed
    for found in _COMPACTED.finditer(data):
        old = data[: found.start()] + data[found.end() :]
        if len(old) == kept.seals.size[number] and crc32(old) == kept.seals.crc[number]:
            state = object_at(object_in(data), "state")
            time = number_in(object_at(state, "time"), "compacted") or 0
            if time >= kept.snapshot.last[0] and builder.prune(number, time):
                return
    raise Changed
