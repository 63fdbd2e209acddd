"""The entry from which Claude Code continues a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.claude.entries.records import NAMED, NO_KEY, SIDECHAIN, Role

if TYPE_CHECKING:
    from leafward.agents.claude.entries.entry_builder import EntryBuilder


def leaf_of(builder: EntryBuilder) -> int:
    """The entry of the conversation's place.

    The last pointer since the last compaction names a row; where the last row of the file lies below it, that one is the place.
    Behind a pointer that takes back what followed, only later rows count. Without such a pointer the place is the last row of the
    main line. (Claude Code 2.1.332)
    """
    rows = builder.rows
    compaction = rows.role.rfind(Role.BOUNDARY)
    named, taken_back = NO_KEY, 0
    for pointer in reversed(rows.notes.pointers):
        if pointer.row < compaction:
            break
        if named == NO_KEY and pointer.empty:
            return _newest(builder, pointer.row + 1)
        if named not in (NO_KEY, pointer.leaf):
            break
        named = pointer.leaf
        if pointer.exact or named == NO_KEY:
            taken_back = pointer.row
            break
    row = rows.find({named}).get(named, -1) if named != NO_KEY else -1
    boundary = rows.notes.boundaries.get(compaction)
    kept = boundary.tail if boundary is not None else NO_KEY
    of_kept = named == kept and row < compaction
    if row < 0 or (
        kept != NO_KEY and not _may_be_named(builder, row, compaction, taken_back, of_kept=of_kept)
    ):
        return _newest(builder, 0)
    place = builder.entry[row]
    last = _last_row(builder, taken_back)
    # Rows behind a compaction do not go on from those before it, other than from the kept ones.
    barrier = builder.entry[compaction] if row < compaction and not of_kept else -1
    if last >= 0 and _is_below(builder, builder.entry[last], place, barrier):
        return _newest(builder, taken_back)
    if of_kept:
        return builder.entry[max(compaction, rows.role.find(Role.SUMMARY, compaction))]
    return place if taken_back else builder.end_of(row)


def _may_be_named(
    builder: EntryBuilder, row: int, compaction: int, taken_back: int, *, of_kept: bool
) -> bool:
    """Whether a pointer to a row counts behind a compaction that kept rows.

    The rows before it are left out but for the kept ones, of which the last may be named. A pointer that takes nothing back counts
    only while nobody speaks below its row.
    """
    if taken_back:
        return of_kept or row > compaction
    return row > compaction and not builder.goes_on(row)


def _last_row(builder: EntryBuilder, first: int) -> int:
    """The last row of the main line from row `first` on, -1 without any."""
    for row in range(len(builder.rows) - 1, first - 1, -1):
        if _in_main_line(builder, row):
            return row
    return -1


def _in_main_line(builder: EntryBuilder, row: int) -> bool:
    """Whether a row is of the conversation, not of a side line of it."""
    flags = builder.rows.flags[row]
    return bool(flags & NAMED) and (builder.own or not flags & SIDECHAIN)


def _is_below(builder: EntryBuilder, entry: int, top: int, barrier: int) -> bool:
    """Whether an entry is `top` or follows it, and does not follow `barrier`."""
    parent = builder.columns.parent
    while entry >= 0 and entry not in (top, barrier):
        entry = parent[entry]
    return entry == top


def _newest(builder: EntryBuilder, first: int) -> int:
    """The place that the last row from row `first` on tells, -1 without any."""
    row = _last_row(builder, first)
    if row >= 0:
        # The children of the last row may stand before it.
        return _furthest(builder, row) if builder.goes_on(row) else builder.end_of(row)
    return -1 if first or not len(builder.columns) else builder.now


def _furthest(builder: EntryBuilder, named: int) -> int:
    """The last row of the file that is the named one or lies below it."""
    rows, parent = builder.rows, builder.columns.parent
    top = builder.entry[named]
    below = bytearray(len(parent))
    """Known places of entries: 1 below the named one, 2 elsewhere."""
    below[top] = 1
    # The ancestors of the named row lie above it wherever nothing hangs on later rows.
    first = 0 if builder.scattered else builder.order[top]
    for row in range(len(rows) - 1, first - 1, -1):
        if row == named or not _in_main_line(builder, row):
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
    return builder.end_of(named)
