"""The place of a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.claude.records import NAMED, NO_KEY, SIDECHAIN

if TYPE_CHECKING:
    from leafward.agents.claude.entry_builder import EntryBuilder


def leaf_of(builder: EntryBuilder) -> int:
    """The entry of the conversation's place: the entry that the last pointer names, or the last one that continues from there.

    Without a valid pointer, the last row of the main line (Claude Code 2.1).
    """
    rows = builder.rows
    newest = _newest(builder, 0)
    for pointer in reversed(rows.notes.pointers):
        if pointer.empty:
            later = _newest(builder, pointer.row + 1)
            return later if later >= 0 else -1
        if pointer.leaf == NO_KEY:
            return newest
        row = rows.find({pointer.leaf}).get(pointer.leaf, -1)
        if row < 0:
            continue
        return _furthest(builder, row, pointer.row if pointer.exact else 0)
    return newest


def _newest(builder: EntryBuilder, first: int) -> int:
    rows = builder.rows
    for row in range(len(rows) - 1, first - 1, -1):
        if rows.flags[row] & NAMED and (builder.own or not rows.flags[row] & SIDECHAIN):
            # The children of the last row may stand before it.
            return _furthest(builder, row, 0) if builder.goes_on(row) else builder.end_of(row)
    if first or not len(builder.columns):
        return -1
    return builder.now


def _furthest(builder: EntryBuilder, named: int, after: int) -> int:
    """The last row of the file that is the named one or lies below it."""
    rows, parent = builder.rows, builder.columns.parent
    top = builder.entry[named]
    below = bytearray(len(parent))
    """Known places of entries: 1 below the named one, 2 elsewhere."""
    below[top] = 1
    # The ancestors of the named row lie above it wherever nothing hangs on later rows.
    first = after if builder.scattered else max(after, builder.order[top])
    for row in range(len(rows) - 1, first - 1, -1):
        if row == named or not rows.flags[row] & NAMED:
            continue
        walk: list[int] = []
        at = builder.entry[row]
        while at >= 0 and not below[at]:
            walk.append(at)
            at = parent[at]
        known = below[at] if at >= 0 else 2
        for one in walk:
            below[one] = known
        if known == 1:
            return builder.end_of(row)
    return top if after else builder.end_of(named)
