"""A transcript as far as it was read: a later reading goes on from it, also in another process."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.storage.packed_values import packed, unpacked
from leafward.session.transcript import KeptReading

if TYPE_CHECKING:
    from leafward.agents.claude.entries.transcript_rows import Rows
    from leafward.session.lines.abridged_lines import LongLine

_HERE = "leafward.agents.claude.entries."
CLASSES = frozenset({
    _HERE + "kept_reading:RowsRead", _HERE + "blocks:BlockState", _HERE + "transcript_rows:Rows",
    _HERE + "row_notes:Boundary", _HERE + "row_notes:Microcompaction", _HERE + "row_notes:NamedOffsets",
    _HERE + "row_notes:Pointers", _HERE + "row_notes:RowNotes", _HERE + "session_details:SessionDetails",
})  # fmt: skip
"""The classes that a reading consists of."""


class RowsRead(NamedTuple):
    """The state of a finished reading, from which a later one continues."""

    rows: Rows
    size: int
    """Bytes."""
    identity: tuple[int, int]
    seal: bytes
    """The bytes of the file right before their end."""
    long_lines: dict[int, LongLine]


def kept_reading(read: RowsRead) -> KeptReading | None:
    """A reading for a cache; None where lines are too large. Made-up titles and the last prompt are left out."""
    notes = read.rows.notes
    facts = notes.facts
    if read.long_lines:
        return None
    # Which of the later rows tell a new title depends on the last one.
    names = [
        *facts.folders,
        *notes.changed_outside.values(),
        str(facts.branch),
        *facts.types,
        facts.title or "",
    ]
    names += [name for missing in notes.missing.values() for name in missing]
    texts = facts.agent_name, facts.ai_title, facts.summaries, facts.last_prompt
    by_shapes = read.rows.by_shapes
    facts.agent_name = facts.ai_title = facts.last_prompt = None
    facts.summaries = []
    # A few appended lines are decoded in less time than it takes to import what tells them by their shapes.
    read.rows.by_shapes = False
    try:
        return KeptReading(packed(read), tuple(names))
    finally:
        facts.agent_name, facts.ai_title, facts.summaries, facts.last_prompt = texts
        read.rows.by_shapes = by_shapes


def unpacked_reading(data: bytes) -> RowsRead | None:
    """The reading that was kept; None where it cannot be used."""
    try:
        read = unpacked(data, CLASSES)
    except ValueError:
        return None
    return read if isinstance(read, RowsRead) else None
