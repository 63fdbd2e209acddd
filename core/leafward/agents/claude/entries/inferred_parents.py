"""Parents of rows once all are read: distant ones, and inferred ones for rows that name one that was never written or cannot be followed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import compress, pairwise
from typing import TYPE_CHECKING

from leafward.agents.claude.entries.cleared_pictures import clear_pictures
from leafward.agents.claude.entries.records import GLUED, NAMED, NO_KEY, SIDECHAIN, UNTERMINATED, Role
from leafward.agents.claude.entries.transcript_rows import first_of
from leafward.session.entries import Damage

if TYPE_CHECKING:
    from collections.abc import Collection

    from leafward.agents.claude.entries.row_notes import Boundary
    from leafward.agents.claude.entries.transcript_rows import Rows

_SAID_BY_NOBODY = frozenset(
    {Role.QUIET, Role.INJECTED, Role.ATTACHED, Role.RESULT, Role.CLEARED, Role.SUMMARY}
)


_SPOKEN = frozenset({Role.PROMPT, Role.REPLY, Role.FURTHER, Role.BOUNDARY, Role.SUMMARY})


_WRONG = bytes(bool(flags & (GLUED | UNTERMINATED)) for flags in range(256))


def settle(rows: Rows, seed: int = 0, *, own: bool = False) -> dict[int, Damage]:
    """Names rows that were all read, and finds parents that are distant or further on; returns the damage of rows.

    `own`: the file is a sub-agent's, whose rows are no side line in it.
    """
    damage: dict[int, Damage] = {}
    rows.name(seed)
    rows.mended = bool(rows.doubled)
    _follow_stored_anew(rows)
    if rows.far_parents:
        found, boundaries = rows.find(set(rows.far_parents.values())), rows.notes.boundaries
        for row, key in rows.far_parents.items():
            above = rows.above[bisect_left(rows.jumps, row)] = found.get(key, -1)
            if row in boundaries:
                boundaries[row].missing, boundaries[row].inferred = above < 0, False
            elif above < 0:
                damage[row] = Damage.ORPHAN
    _infer_parents(rows, damage, own=own)
    _mend_ends(rows)
    _follow_summaries(rows)
    _expand(rows)
    _sum_up_anew(rows)
    clear_pictures(rows)
    for row, first in rows.doubled.items():
        damage[row] = damage[first] = Damage.DUPLICATE_ID
    wrong = rows.flags.translate(_WRONG)
    for row in compress(range(len(rows)), wrong) if 1 in wrong else ():
        damage[row] = Damage.UNTERMINATED if rows.flags[row] & UNTERMINATED else Damage.GLUED
    return damage


def _expand(rows: Rows) -> None:
    """Marks the row right below a command as injected: it spells the command out, and copies of 1.0 do not mark it as such."""
    for row in rows.notes.requests_by_command:
        below = next((at for at in range(row + 1, len(rows)) if rows.flags[at] & NAMED), -1)
        if below < 0 or rows.role[below] != Role.PROMPT:
            continue
        at = bisect_left(rows.jumps, below)
        jumps = at < len(rows.jumps) and rows.jumps[at] == below
        if not jumps or rows.above[at] == row:
            rows.role[below] = Role.INJECTED


def _sum_up_anew(rows: Rows) -> None:
    """Takes a prompt right below a compaction that has its summary already for another summary of it.

    `/rewind` to the summary (2.0.14 to 2.1.48) puts the summary's text into the prompt: the text that is sent then stands in its place,
    and nothing of before the compaction is sent.
    """
    for row, above in zip(rows.jumps, rows.above, strict=True):
        if (
            above in rows.notes.boundaries
            and rows.role[row] == Role.PROMPT
            and rows.role.find(Role.SUMMARY, above, row) >= 0
        ):
            rows.role[row] = Role.SUMMARY


def _infer_parents(rows: Rows, lost: Collection[int], *, own: bool) -> None:
    """Attaches rows whose named parent was never written to the row before them in the file, as Claude Code does (2.1.197).

    Where more than five seconds passed, Claude Code leaves out everything before the row (2.1.332); that is remarked on.

    Compactions of 2.1.33 to 2.1.49, at least, name a row that was only ever in memory, and so do rows of hooks. A row with none
    before it stays a beginning: its parent lies in another file. Side lines begin at the parent that they name.
    """
    named = [
        row for row in lost if own or not rows.flags[row] & SIDECHAIN or rows.role[row] in _SAID_BY_NOBODY
    ]
    for row in sorted({*rows.notes.boundaries, *named}):
        at = bisect_left(rows.jumps, row)
        if at == len(rows.jumps) or rows.jumps[at] != row:
            continue
        boundary, named_above = rows.notes.boundaries.get(row), rows.above[at]
        head, tail = (boundary.segment if boundary is not None else None) or (NO_KEY, NO_KEY)
        above = first_of(rows.keys, tail) if tail != NO_KEY else -1
        # The kept rows end with the row that the compaction follows.
        follows = 0 <= above < row
        if named_above >= 0:
            if follows and named_above < first_of(rows.keys, head):
                # "Summarize up to here" names the row before those that it kept (2.1.332).
                rows.above[at] = above
            continue
        rows.above[at] = above if follows else row_before(rows, row)
        if rows.above[at] >= 0:
            rows.inferred.add(row)
        if boundary is not None and rows.above[at] >= 0:
            # What it kept tells its place, whatever row of a hook it names.
            boundary.missing, boundary.inferred = False, not follows


def _follow_summaries(rows: Rows) -> None:
    """Attaches rows to the summary of a compaction where they name a row that it kept, which lies before it.

    The kept rows come behind the summary, and Claude Code reads them as hanging there. The next row names the last kept row,
    unless something else was added with the compaction. After a move back to an earlier kept row, the summary and the rows kept
    up to that row are sent (tried with 2.1.332).
    """
    if rows.doubled and rows.notes.boundaries:
        _follow_copies(rows)
    found = rows.find(
        {key for one in rows.notes.boundaries.values() for key in (one.anchor, one.tail)} - {NO_KEY}
    )
    edges = [*sorted(rows.notes.boundaries), len(rows.flags)]
    for row, stop in pairwise(edges):
        boundary = rows.notes.boundaries[row]
        summary, tail = found.get(boundary.anchor, -1), found.get(boundary.tail, -1)
        if not (0 <= tail < stop and row < summary < stop) or rows.role[summary] != Role.SUMMARY:
            continue
        kept: set[int] | None = None
        # The next compaction may name one of them too.
        for place in range(bisect_right(rows.jumps, summary), bisect_right(rows.jumps, stop)):
            above = rows.doubled.get(rows.above[place], rows.above[place])
            if not 0 <= above < row or rows.flags[rows.jumps[place]] & SIDECHAIN:
                continue
            if above != tail:
                kept = _kept_rows(rows, boundary, tail) if kept is None else kept
                if above not in kept:
                    continue
                if rows.jumps[place] not in kept:
                    rows.kept_until[rows.jumps[place]] = above
            rows.above[place] = summary


def _follow_copies(rows: Rows) -> None:
    """Notes the rows whose parent was written again right before them: the copy replaces the first one, elsewhere."""
    jumps = set(rows.jumps)
    for row in rows.doubled:
        below = next((at for at in range(row + 1, len(rows.flags)) if rows.flags[at] & NAMED), -1)
        if below >= 0 and below not in jumps and below not in rows.doubled:
            at = bisect_left(rows.jumps, below)
            rows.jumps.insert(at, below)
            rows.above.insert(at, row)


def _kept_rows(rows: Rows, boundary: Boundary, tail: int) -> set[int]:
    """The rows that a compaction kept: those that it lists, else those from its first to its last one."""
    if boundary.kept or boundary.segment is None:
        return set(rows.find(set(boundary.kept)).values())
    head, above = first_of(rows.keys, boundary.segment[0]), dict(zip(rows.jumps, rows.above, strict=True))
    kept: set[int] = set()
    at = tail
    while at >= 0 and at not in kept:
        kept.add(at)
        if at == head:
            return kept
        at = above[at] if at in above else row_before(rows, at, copies=True)
    return set()


def going_on(rows: Rows, starts: Collection[int]) -> set[int]:
    """The rows among `starts` in which or below which somebody speaks: they do not merely stand ahead of the conversation."""
    found = {row for row in starts if rows.role[row] in _SPOKEN}
    if len(found) == len(starts):
        return found
    above = dict(zip(rows.jumps, rows.above, strict=True))
    start_of, last = {row: row for row in starts}, -1
    for row in range(min(starts), len(rows.flags)):
        if not rows.flags[row] & NAMED:
            continue
        start = start_of.get(above.get(row, last), -1)
        if start >= 0 and row not in start_of:
            start_of[row] = start
            if rows.role[row] in _SPOKEN:
                found.add(start)
        last = row
    return found


def _mend_ends(rows: Rows) -> None:
    """Attaches the last kept row of a compaction below the first kept one, where it names a row from before that.

    A second `/compact` in one process of 2.1.26x writes the silent end of the turn behind a row from before the first `/compact`.
    """
    for row, boundary in rows.notes.boundaries.items():
        head, tail = boundary.segment or (NO_KEY, NO_KEY)
        first, last = first_of(rows.keys, head), first_of(rows.keys, tail)
        if not 0 <= first < last < row or rows.role[last] != Role.QUIET:
            continue
        at = bisect_left(rows.jumps, last)
        jumps = at < len(rows.jumps) and rows.jumps[at] == last
        above = rows.above[at] if jumps else row_before(rows, last, copies=True)
        if rows.doubled.get(above, above) >= first:
            continue
        if not jumps:
            rows.jumps.insert(at, last)
            rows.above.insert(at, -1)
        rows.above[at] = row_before(rows, last)
        boundary.inferred = True


def row_before(rows: Rows, row: int, *, copies: bool = False) -> int:
    """The last row of the same line of the conversation before a row in the file; -1 without one.

    Rows whose id an earlier row has count only with `copies`.
    """
    side = rows.flags[row] & SIDECHAIN
    for other in range(row - 1, -1, -1):
        flags = rows.flags[other]
        if flags & NAMED and flags & SIDECHAIN == side and (copies or other not in rows.doubled):
            return other
    return -1


def _follow_stored_anew(rows: Rows) -> None:
    """Attaches rows to the prompt that they follow where it was written again under another id (Claude Code 2.1.332).

    They name the id under which it was sent. Claude Code reads a file from the last compaction on: the first copy counts where no
    compaction lies between, else the nearest copy ahead of the row.
    """
    if not rows.notes.stored_anew:
        return
    boundaries, found = sorted(rows.notes.boundaries), rows.find(set(rows.notes.stored_anew.values()))
    by_key: dict[bytes, list[int]] = {}
    for row, sent_as in sorted(rows.notes.stored_anew.items()):
        first = found.get(sent_as, -1)
        if not 0 <= first < row or bisect_right(boundaries, first) < bisect_left(boundaries, row):
            by_key.setdefault(sent_as, []).append(row)
    by_first = {found[key]: copies for key, copies in by_key.items() if key in found}
    for place in range(bisect_right(rows.jumps, min(rows.notes.stored_anew)), len(rows.jumps)):
        row = rows.jumps[place]
        copies = by_key.get(rows.far_parents.get(row, NO_KEY)) or by_first.get(rows.above[place])
        ahead = bisect_left(copies, row) if copies else 0
        if copies and ahead:
            rows.above[place] = copies[ahead - 1]
            rows.far_parents.pop(row, None)
