"""Lines of a session file as entries: which lines are read together, an entry's values, and older versions' lines today."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from leafward.session.entries import (
    NATIVE_ROLE,
    NATIVE_TYPE,
    NO_ENTRY,
    Body,
    Damage,
    EntryId,
    EntryIndex,
    Kind,
    object_at,
)

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator

    from leafward.session.columns import Columns

_BLOCK = 1 << 20
"""Bytes that are read at once, unless a line is longer."""

_BETWEEN = 16 << 10
"""Bytes between two wanted lines that are read along, so that one call fetches both.

Each call releases the interpreter to another thread and takes it back before that thread is awake: many short ones in a row
make it wait a hundred times longer than necessary.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry, decoded. Version 1 and 2 entries look as pi's migration to version 3 would make them."""

    index: EntryIndex
    id: EntryId
    parent: EntryId | None
    """None for a root."""
    kind: Kind
    body: Body
    """The line as an object; empty for a malformed line."""
    offset: int
    """Byte offset of the line."""
    damage: Damage | None
    raw: bytes
    """The line as it stands in the file; for a line that is too large, the abridged one."""

    @property
    def type(self) -> str:
        """The native type; `malformed` for a line that is not an entry."""
        if self.kind is Kind.UNKNOWN:
            return str(self.body.get("type", "unknown"))
        return NATIVE_TYPE[self.kind]

    @property
    def role(self) -> str | None:
        """The role of a message, None for every other type."""
        if self.kind is Kind.UNKNOWN:
            role = self.message.get("role")
            return role if isinstance(role, str) else None
        return NATIVE_ROLE.get(self.kind)

    @property
    def message(self) -> Body:
        """The message of a `message` entry, else an empty object."""
        return object_at(self.body, "message")

    @property
    def timestamp(self) -> str | None:
        """The entry's own time, ISO 8601 as written."""
        stamp = self.body.get("timestamp")
        return stamp if isinstance(stamp, str) else None


def read_together(entries: Iterable[int], starts: array[int]) -> Iterator[list[EntryIndex]]:
    """Entries in the order given, in lists whose lines one call reads; `starts` are offsets in bytes."""
    block: list[int] = []
    limit = last = -1
    for index in entries:
        start = starts[index]
        near = index == last + 1 or (index > last and start - starts[last + 1] <= _BETWEEN)
        if near and start < limit:
            block.append(index)
        else:
            if block:
                yield cast("list[EntryIndex]", block)
            block, limit = [index], start + _BLOCK
        last = index
    if block:
        yield cast("list[EntryIndex]", block)


def side_by_side(together: list[EntryIndex], most: int) -> Iterator[list[EntryIndex]]:
    """Entries in ascending order by runs without a gap, of at most `most` each."""
    for start in range(0, len(together), most):
        some = together[start : start + most]
        begin = 0
        if some[-1] - some[0] >= len(some):
            for end in range(1, len(some)):
                if some[end] != some[end - 1] + 1:
                    yield some[begin:end]
                    begin = end
        yield some[begin:]


def migrated(body: Body, index: EntryIndex, columns: Columns, version: int) -> Body:
    """A version 1 or 2 entry as pi 1.5.2's migration makes it; `body` is changed."""
    if version < 2:
        body["id"] = columns.id(index)
        parent = columns.parent[index]
        body["parentId"] = columns.id(EntryIndex(parent)) if parent >= 0 else None
        line = body.pop("firstKeptEntryIndex", None)
        if isinstance(line, int) and body.get("type") == "compaction":
            kept = _entry_of_line(line, columns.kind)
            if kept >= 0:
                body["firstKeptEntryId"] = columns.id(kept)
    message = body.get("message")
    if isinstance(message, dict) and message.get("role") == "hookMessage":
        message["role"] = "custom"
    return body


def _entry_of_line(line: int, kinds: bytearray) -> EntryIndex:
    """The entry that a version 1 line number names: parsed lines from 0, the header among them."""
    if line < 1:
        return NO_ENTRY
    if Kind.MALFORMED not in kinds:
        return EntryIndex(line - 1) if line <= len(kinds) else NO_ENTRY
    whole = [index for index, kind in enumerate(kinds) if kind != Kind.MALFORMED]
    return EntryIndex(whole[line - 1]) if line <= len(whole) else NO_ENTRY
