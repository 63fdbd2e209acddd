"""Transcripts of Claude Code with compactions and rewinds in short form, each with what the agent goes on from.

`u0 a1 u2 a3 B4[2,3] S5 u6<3 L5!`: prompts, replies and replies of a side line (`x`), each with its number and, unless it is the
one before, the number of its parent; a compaction with the rows that it kept, and its summary; a `last-prompt` row that names a
row, with `!` where it takes back what followed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.claude_transcript import Transcript

_ROW = re.compile(r"([uaxBSL])(\d+)(?:<(\d+))?(?:\[([\d,]+)\])?(!?)")
_SAID = re.compile(r"(?:prompt|reply)\s*(\d+)|(the summary)")

_LEFT_OUT = "u0 a1 u2 a3 u4 a5 B6 S7"
_KEPT = "u0 a1 u2 a3 u4 a5 B6[4,5] S7"
_LATE = "u0 a1 u2 a3 u4 B6[3,4,5] S7"
"""Its last kept row is written behind it."""

PLACES = {
    f"{_LEFT_OUT} u8 a9 L3": "0 1 2 3",
    f"{_LEFT_OUT} u8 a9 L3!": "0 1 2 3",
    f"{_LEFT_OUT} L5 u8<7 a9": "0 1 2 3 4 5",
    f"{_LEFT_OUT} L5 u8<5 a9": "0 1 2 3 4 5 8 9",
    f"{_LEFT_OUT} u8 a9 L7!": "S",
    f"{_LEFT_OUT} u8 a9 L8 u10<7 a11": "S 8",
    "u0 a1 L1! u2 a3 B4 S5 u6": "S 6",
    f"{_KEPT} u8<5 a9 L3!": "S 4 5 8 9",
    f"{_KEPT} u8<5 a9 L5!": "S 4 5",
    f"{_KEPT} u8<5 a9 L5! u10<5 a11": "S 4 5 10 11",
    f"{_KEPT} L5 u8<7 a9": "S 4 5 8 9",
    f"{_KEPT} u8<5 a9 L9 u10<5 a11": "S 4 5 8 9",
    f"{_KEPT} u8<5 a9 L8 u10<5 a11": "S 4 5 10 11",
    f"{_KEPT} u8<5 a9 u10 a11 L9! L9": "S 4 5 8 9",
    f"{_KEPT} u8<5 a9 u10 a11 L9! L8": "S 4 5 8 9 10 11",
    f"{_LEFT_OUT} L7 u8 a9 x10": "S 8 9",
    f"{_LATE} a5<7 u8 a9": "S 3 4 5 8 9",
    f"{_LATE} a5<4 u8 a9": "S 3 4 5 8 9",
    f"{_LATE} a5<4 u8 a9 L4! u10<4 a11": "S 3 4 10 11",
    f"{_LATE} a5<4 u8<3 a9": "S 3 8 9",
    f"{_LATE} a5<4 B8[4,5] S9 u10<5 a11": "S 4 5 10 11",
}
"""What Claude Code 2.1.165 to 2.1.332 send of each: the numbers of prompts and replies, and `S` for the summary."""


def write(transcript: Transcript, sketch: str) -> None:
    """Appends the rows of a sketch."""
    rows = [found.groups() for token in sketch.split() if (found := _ROW.fullmatch(token)) is not None]
    assert len(rows) == len(sketch.split()), sketch
    # A compaction may name rows that are written behind it.
    ids = {
        row[1]: transcript.id_of(place)
        for place, row in enumerate(rows, transcript.number + 1)
        if row[0] != "L"
    }
    last = ""
    for kind, number, above, kept, taken_back in rows:
        if kind == "L":
            named = {"lastPrompt": "go", "leafUuid": ids[number]}
            transcript.row("last-prompt", **named, **({"explicit": True} if taken_back else {}))
            continue
        transcript.tip = ids.get(above or last)
        if kind == "u":
            transcript.prompt(f"prompt {number}")
        elif kind == "B":
            listed = [ids[one] for one in kept.split(",")] if kept else []
            # The summary comes behind it, and its id is the one that the kept rows follow.
            anchor = transcript.id_of(transcript.number + 2)
            said = {"preservedMessages": {"anchorUuid": anchor, "uuids": listed, "allUuids": listed}}
            metadata = {"trigger": "auto", "preTokens": 900, **(said if listed else {})}
            transcript.row(
                "system",
                subtype="compact_boundary",
                content="Conversation compacted",
                parentUuid=None,
                logicalParentUuid=transcript.tip,
                compactMetadata=metadata,
            )
        elif kind == "S":
            transcript.prompt("the summary", isCompactSummary=True)
        else:
            transcript.reply(f"reply {number}", isSidechain=kind == "x")
        last = number


def numbers(texts: Iterable[str]) -> str:
    """What is said in some texts, as in `PLACES`."""
    return " ".join(found[1] or "S" for text in texts for found in _SAID.finditer(text))
