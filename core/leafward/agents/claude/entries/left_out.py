"""Ends of replies that Claude Code left out when it continued from inside them.

A resumed version before 2.1.80 continues from the row with the latest time; where rows of one reply have the same time, that is
the first of them. The prompt then hangs, for example, on the thinking of the last reply, and the text behind that thinking is
no longer sent. Later versions send every row of a reply as soon as they meet one of its rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.claude.entries.records import NAMED, REPLIES, SIDECHAIN, Role, message_of, rows_in
from leafward.agents.claude.entries.versions import numbers_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.agents.claude.entries.transcript_rows import Rows
    from leafward.session.entries import Body

LEFT_OUT = (
    "Claude Code {} went on before these words and did not send them; versions from 2.1.80 on send them"
)
"""The note on words that were left out, with the version."""
LEFT_OUT_CODE = "left-out"
"""The code of that note."""
_WHOLE = (2, 1, 80)
"""The first version that sends replies whole; 2.1.79 does not yet."""
_ANYWHERE = frozenset({Role.QUIET, Role.BOOKS, Role.TITLE, Role.COST, Role.UNKNOWN})
"""Roles that tell nothing about the rows around them."""
_ANSWERS = frozenset({Role.RESULT, Role.REPLY, Role.FURTHER})


def leave_out(rows: Rows, line: Callable[[int], bytes]) -> None:
    """Makes such rows replies of their own, which the prompt follows; `line` reads the row at an offset.

    Rows with calls stay: their results may hang on any of them.
    """
    named = set(rows.above)
    for place, (row, parent) in enumerate(zip(rows.jumps, rows.above, strict=True)):
        if parent < 0 or rows.role[parent] not in REPLIES or rows.role[row] in _ANSWERS:
            continue
        behind = _behind(rows, parent, row)
        if not behind or not named.isdisjoint(behind):
            continue
        version = _decoded(line(rows.start[row])).get("version")
        if _is_whole(version) or any(_calls(_decoded(line(rows.start[one]))) for one in behind):
            continue
        rows.role[behind[0]] = Role.REPLY
        rows.rejoined.pop(behind[0], None)
        rows.rejoined.update((one, behind[0]) for one in behind[1:] if one in rows.rejoined)
        rows.above[place] = behind[-1]
        rows.left_out[behind[0]] = str(version)


def _behind(rows: Rows, parent: int, row: int) -> list[int]:
    """The rows of a reply behind one of its rows, if the next row of the chain begins something else; empty otherwise."""
    found: list[int] = []
    first = rows.rejoined.get(parent, rows.role.rfind(Role.REPLY, 0, parent + 1))
    for other in range(parent + 1, row + 1):
        if not rows.flags[other] & NAMED or (other != row and rows.role[other] in _ANYWHERE):
            continue
        further = rows.role[other] == Role.FURTHER and not rows.flags[other] & SIDECHAIN
        if not further or rows.rejoined.get(other, first) != first:
            return found if other == row else []
        found.append(other)
    return []


def _decoded(line: bytes) -> Body:
    return next(rows_in(line), {})


def _is_whole(version: object) -> bool:
    """Whether a version sends replies whole; an unknown version counts as one that does."""
    numbers = numbers_of(version)
    return numbers is None or numbers >= _WHOLE


def _calls(body: Body) -> bool:
    content = message_of(body).get("content")
    parts = content if isinstance(content, list) else ()
    return any(isinstance(part, dict) and part.get("type") not in ("text", "thinking") for part in parts)
