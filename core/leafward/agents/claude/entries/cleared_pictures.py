"""Pictures and documents of messages that Claude Code 2.1.38 to 2.1.68 sends no more once they are answered.

Its microcompaction puts `[image]` or `[document]` in the place of each, in every request behind the first reply, and writes a row
each time. The row names none of them: they are those of the user's rows above it that a reply follows, back to the last compaction.
A result of a call keeps its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.agents.claude.entries.records import NAMED, REPLIES, Role
from leafward.agents.claude.entries.row_notes import PICTURES

if TYPE_CHECKING:
    from leafward.agents.claude.entries.transcript_rows import Rows

_IS_NAMED = bytes(bool(flags & NAMED) for flags in range(256))


def without_pictures(content: object) -> list[Any]:
    """Blocks of a message as they are sent where its pictures are cleared."""
    return [
        {"type": "text", "text": f"[{part['type']}]"}
        if isinstance(part, dict) and part.get("type") in PICTURES
        else part
        for part in (content if isinstance(content, list) else [content])
    ]


def clear_pictures(rows: Rows) -> None:
    """Finds the rows that each microcompaction clears first, and makes as many entries of it as it clears rows and results."""
    notes = rows.notes
    if not notes.pictures:
        return
    above = dict(zip(rows.jumps, rows.above, strict=True))
    named = rows.flags.translate(_IS_NAMED)
    waiting: dict[int, list[int]] = {}
    """By microcompaction, the rows with pictures above it that nothing had answered yet."""
    for row, found in notes.microcompactions.items():
        if not found.pictures:
            continue
        answered: list[int] = []
        unanswered: list[int] = []
        replied, seen, at = False, set(), row
        while at not in seen:
            seen.add(at)
            at = above[at] if at in above else named.rfind(1, 0, at)
            if at < 0 or rows.role[at] == Role.BOUNDARY:
                break
            replied = replied or rows.role[at] in REPLIES
            of_it = waiting.get(at, [at] if at in notes.pictures else [])
            (answered if replied else unanswered).extend(of_it)
            if at in waiting:
                break
        waiting[row] = unanswered
        rows.cleared_pictures[row] = sorted(answered)
        parts = found.results + len(answered)
        rows.role[row] = Role.CLEARED if parts else Role.QUIET
        rows.parts.pop(row, None)
        if parts > 1:
            rows.parts[row] = parts
