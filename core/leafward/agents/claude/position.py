"""Where a conversation stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.claude.records import NAMED, NO_KEY, SIDECHAIN

if TYPE_CHECKING:
    from leafward.agents.claude.entry_builder import EntryBuilder


def leaf_of(weaver: EntryBuilder) -> int:
    """The entry the conversation stands at: what the last pointer names, or the last of what goes on from there.

    Without a pointer that holds, the last row of the main line (Claude Code 2.1).
    """
    rows = weaver.rows
    newest = _newest(weaver, 0)
    for pointer in reversed(rows.pointers):
        if pointer.empty:
            later = _newest(weaver, pointer.row + 1)
            return later if later >= 0 else -1
        if pointer.leaf == NO_KEY:
            return newest
        named = rows.find({pointer.leaf}).get(pointer.leaf, -1)
        if named < 0:
            continue
        return _furthest(weaver, named, pointer.row if pointer.exact else 0)
    return newest


def _newest(weaver: EntryBuilder, first: int) -> int:
    rows = weaver.rows
    for row in range(len(rows) - 1, first - 1, -1):
        if rows.flags[row] & NAMED and (weaver.own or not rows.flags[row] & SIDECHAIN):
            # What hangs on the last row may stand before it.
            return _furthest(weaver, row, 0) if weaver.goes_on(row) else weaver.end_of(row)
    if first or not len(weaver.columns):
        return -1
    return weaver.now


def _furthest(weaver: EntryBuilder, named: int, after: int) -> int:
    """The last row of the file that is the named one or lies below it."""
    rows, parent = weaver.rows, weaver.columns.parent
    top = weaver.entry[named]
    below = bytearray(len(parent))
    """What is known of entries: 1 for those below the named one, 2 for others."""
    below[top] = 1
    # Above the named row lies what it hangs on, wherever nothing hangs on later rows.
    first = after if weaver.scattered else max(after, weaver.order[top])
    for row in range(len(rows) - 1, first - 1, -1):
        if row == named or not rows.flags[row] & NAMED:
            continue
        walk: list[int] = []
        at = weaver.entry[row]
        while at >= 0 and not below[at]:
            walk.append(at)
            at = parent[at]
        known = below[at] if at >= 0 else 2
        for one in walk:
            below[one] = known
        if known == 1:
            return weaver.end_of(row)
    return top if after else weaver.end_of(named)
