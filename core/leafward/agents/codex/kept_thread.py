"""A thread as far as it was read: another process goes on from it. It holds no text but names of models and ids.

A thread that somebody went back in, or that is a fork, lies in several files, of which only the last one grows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.storage.packed_values import packed, unpacked

if TYPE_CHECKING:
    from leafward.agents.codex.assembly import Assembly, ReadSegment
    from leafward.agents.codex.chain import Thread
    from leafward.agents.codex.entries.entry_builder import EntryBuilder

_HERE = "leafward.agents.codex.entries."
CLASSES = frozenset({
    "leafward.session.columns:Columns", "leafward.session.entries:Damage",
    "leafward.agents.codex.kept_thread:KeptThread", "leafward.agents.codex.assembly:ReadSegment",
    _HERE + "entry_builder:EntryBuilder",
    _HERE + "call_ends:CallEnds", _HERE + "compaction_entries:CompactionEntries", _HERE + "compactions:KeptMessages",
    _HERE + "current_path:Course", _HERE + "entry_ids:SegmentIds", _HERE + "message_keys:MessageIndex",
    _HERE + "prompts:Prompts", _HERE + "responses:Responses", _HERE + "rollbacks:Rollbacks",
    _HERE + "rollbacks:Sent", _HERE + "settings:Contexts",
})  # fmt: skip
"""The classes that a reading consists of."""


class KeptThread(NamedTuple):
    """The entries of a thread, without the texts that the file tells again."""

    builder: EntryBuilder
    segments: tuple[ReadSegment, ...]
    """The segments in the order of reading."""
    inherited: int
    items: list[tuple[int, int]]
    """Offset and size of each item of the last reply, in the last segment."""
    instructions: int
    """The number of the segment whose description has the system prompt; -1: no segment has one."""


def packed_thread(made: Assembly) -> bytes | None:
    """The reading of a thread; None where a later reading cannot go on from there."""
    if not made.is_plain:
        return None
    builder, piece = made.builder, made.pieces[-1]
    responses, system = builder.responses, builder.system
    start = builder.columns.start[responses.reply] - piece.begin if responses.items else piece.end
    instructions = _segment_with(made, system)
    if start < 0 or (instructions < 0 and system is not None):
        return None
    region, places, at = piece.rollout.at(start, piece.end - start), [], 0
    for item in responses.items:
        at = region.find(item, at)
        if at < 0:
            return None
        places.append((start + at, len(item)))
    items, opening = responses.items, responses.opening
    responses.items, responses.opening, builder.system = [], None, None
    try:
        return packed(KeptThread(builder, made.read_segments(), made.inherited, places, instructions))
    finally:
        responses.items, responses.opening, builder.system = items, opening, system


def take_packed(made: Assembly, data: bytes, thread: Thread) -> bool:
    """Lets an empty assembly take over what was read; False where that cannot be used."""
    try:
        kept = unpacked(data, CLASSES)
    except ValueError:
        return False
    if not isinstance(kept, KeptThread) or not made.take(kept.builder, kept.segments, thread):
        return False
    made.inherited = kept.inherited
    if kept.instructions >= 0:
        kept.builder.system = _instructions(made, kept.instructions)
    kept.builder.responses.items = [made.pieces[-1].rollout.at(*place) for place in kept.items]
    return True


def _segment_with(made: Assembly, system: str | None) -> int:
    """The number of the last segment whose description has this system prompt; -1 where none has it, or where there is none."""
    numbers = range(len(made.pieces) - 1, -1, -1)
    return next((one for one in numbers if system is not None and _instructions(made, one) == system), -1)


def _instructions(made: Assembly, number: int) -> str | None:
    """The system prompt in the description at the beginning of a segment; None without one."""
    meta = made.chain.metas.get(made.pieces[number].segment.path, {})
    instructions = meta.get("base_instructions")
    text = instructions.get("text") if isinstance(instructions, dict) else None
    return text if isinstance(text, str) and text else None
