"""Entries made from rows: one from most rows, several from some, and one from all rows of a reply."""

from __future__ import annotations

import re
from array import array
from itertools import accumulate, chain, compress, repeat
from operator import mul, sub
from typing import TYPE_CHECKING

from leafward.agents.claude.entries.entry_ids import EntryIds
from leafward.agents.claude.entries.number_columns import RowSelection
from leafward.agents.claude.entries.records import NAMED, REPLIES, Role
from leafward.session.columns import Columns
from leafward.session.entries import Kind

if TYPE_CHECKING:
    from leafward.agents.claude.entries.transcript_rows import Rows


_KINDS: dict[int, Kind] = {
    Role.BROKEN: Kind.MALFORMED,
    Role.UNKNOWN: Kind.UNKNOWN,
    Role.PROMPT: Kind.USER,
    Role.COMMAND: Kind.CUSTOM_MESSAGE,
    Role.INJECTED: Kind.INJECTED,
    Role.ATTACHED: Kind.INJECTED,
    Role.QUEUED: Kind.USER,
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
_KIND_OF = bytes(_KINDS.get(role, Kind.ASSISTANT) for role in range(256))
_IS_FURTHER = bytes(role == Role.FURTHER for role in range(256))
_APART = re.compile(b"(?<![%c%c])%c+" % (Role.REPLY, Role.FURTHER, Role.FURTHER))
"""Further rows of replies that stand behind another row."""
_FURTHER = bytes([Role.FURTHER])
_MAKES = bytes(role != Role.FURTHER for role in range(256))
_ATTACHED = frozenset({Role.ATTACHED, Role.QUEUED})
_IS_ATTACHED = bytes(role in _ATTACHED for role in range(256))
_REPLACING = _ATTACHED | {Role.PROMPT, Role.COMMAND, Role.INJECTED, Role.RESULT, Role.UNKNOWN}


def take_doubles(rows: Rows) -> dict[int, int]:
    """Makes the last of several rows with one id count, at the place of the first; the others become metadata.

    Returns the rows that a later row replaces, each with that.
    """
    instead: dict[int, int] = {}
    for row, first in rows.doubled.items():
        role = rows.role[row]
        if role in REPLIES and rows.role[first] in REPLIES:
            rows.reply[row] = rows.reply[first]
            rows.role[row] = Role.FURTHER
            continue
        if role in _REPLACING and rows.role[first] in _REPLACING and not {row, first} & rows.parts.keys():
            instead[first] = row
            rows.role[first] = role
        rows.role[row] = Role.QUIET
        rows.flags[row] &= ~NAMED
        rows.make_up(row)
        rows.parent[row] = -1
        rows.parts.pop(row, None)
        rows.notes.boundaries.pop(row, None)
    return instead


class RowEntries:
    """The entries of one transcript with their kinds, ids and offsets, but not yet with their parents."""

    def __init__(self, rows: Rows, numbers: array[int], *, aside: bytes | bytearray, in_order: bool) -> None:
        """`numbers` are those from 0 on, at least as many as entries; `aside` marks rows of side lines, where there are any.

        `in_order`: nearly all rows follow the one before them, and `Rows.spread` was not called.
        """
        self.columns = Columns()
        self.order: array[int] = array("i")
        """The row of each entry."""
        self.entry: array[int] = array("i")
        """The first entry of each row."""
        self.parts: dict[int, int] = {}
        """Entries that share a row with others: their number in it, from 1."""
        self.more: dict[int, list[int]] = {}
        """Rows of a reply that do not follow its first one: their offsets, by entry."""
        self.hoisted = bytearray()
        """Entries that are sent ahead of the messages before them."""
        columns, role, count = self.columns, rows.role, len(rows)
        makes, heads = role.translate(_MAKES), None
        if rows.parts:
            many = rows.parts.get
            self.order.extend(row for row in compress(range(count), makes) for _ in range(many(row, 1)))
            behind = accumulate(map(mul, map(many, range(count), repeat(1)), makes), initial=0)
            self.entry.extend(map(sub, behind, role.translate(_IS_FURTHER)))
        else:
            heads = RowSelection(bytes(makes))
            self.order, self.entry = heads.of(numbers), heads.places()

        def of_each(column: array[int]) -> array[int]:
            """The values of a column of rows, for each entry."""
            if heads is not None:
                return heads.of(column)
            return array(column.typecode, map(column.__getitem__, self.order))

        columns.start.extend(of_each(rows.start))
        self.roles = bytes(
            map(role.__getitem__, self.order) if rows.parts else role.translate(None, _FURTHER)
        )
        columns.kind += self.roles.translate(_KIND_OF)
        columns.parent.extend(array("i", [-1]) * len(columns))
        for row, parts in rows.parts.items():
            self.parts.update(
                (self.entry[row] + part, part) for part in range(1, parts) if role[row] != Role.FURTHER
            )
        for row in _apart(rows) if in_order else compress(range(count), role.translate(_IS_FURTHER)):
            first = rows.rejoined.get(row, -1) if in_order else rows.reply[row]
            entry = self.entry[first if first >= 0 else role.rfind(Role.REPLY, 0, row)]
            if entry != self.entry[row]:
                self.more.setdefault(entry, []).append(rows.start[row])
                self.entry[row] = entry
        for row in rows.typed:
            if row in rows.parts:
                columns.kind[self.entry[row] + rows.parts[row] - 1] = Kind.USER
        for row in compress(range(count), aside):
            if role[row] in (Role.PROMPT, Role.QUEUED):
                columns.kind[self.entry[row]] = Kind.CUSTOM_MESSAGE
        if any(one in role for one in _ATTACHED):
            self.hoisted += self.roles.translate(_IS_ATTACHED)
        EntryIds(rows, columns, self.order, self.entry, self.parts).give(of_each(rows.words))


def _apart(rows: Rows) -> list[int]:
    """Further rows of replies that stand apart from their first row; those right behind it belong to the entry before them."""
    runs = (range(*found.span()) for found in _APART.finditer(rows.role))
    return sorted({*rows.rejoined, *chain.from_iterable(runs)})
