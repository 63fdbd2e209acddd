"""What was read of a thread of one file, to go on from in another process. It holds no text but names of models and ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.agents.packed_values import packed, unpacked

if TYPE_CHECKING:
    from leafward.agents.codex.assembly import Assembly
    from leafward.agents.codex.chain import Thread
    from leafward.agents.codex.entries.entry_builder import EntryBuilder

_HERE = "leafward.agents.codex.entries."
CLASSES = frozenset({
    "leafward.session.columns:Columns", "leafward.agents.codex.kept_thread:KeptThread", _HERE + "entry_builder:EntryBuilder",
    _HERE + "call_ends:CallEnds", _HERE + "compaction_entries:CompactionEntries", _HERE + "compactions:KeptMessages",
    _HERE + "current_path:Course", _HERE + "entry_ids:SegmentIds", _HERE + "message_keys:MessageIndex",
    _HERE + "prompts:Prompts", _HERE + "responses:Responses", _HERE + "rollbacks:Rollbacks",
    _HERE + "rollbacks:Sent", _HERE + "settings:Contexts",
})  # fmt: skip
"""What a reading is made of."""


class KeptThread(NamedTuple):
    """The entries of a thread, without the texts that the file tells again."""

    builder: EntryBuilder
    end: int
    """Bytes of the file that were read."""
    items: list[tuple[int, int]]
    """Offset and size of each item of the last reply."""


def packed_thread(made: Assembly) -> bytes | None:
    """What was read of a thread; None where a later reading cannot go on from there."""
    if not made.is_plain:
        return None
    builder, (piece,) = made.builder, made.pieces
    responses, system = builder.responses, builder.system
    start = builder.columns.start[responses.reply] if responses.items else piece.end
    region, places, at = piece.rollout.at(start, piece.end - start), [], 0
    for item in responses.items:
        at = region.find(item, at)
        if at < 0:
            return None
        places.append((start + at, len(item)))
    if system != _instructions(made.chain.metas.get(piece.segment.path, {})):
        return None
    items, opening = responses.items, responses.opening
    responses.items, responses.opening, builder.system = [], None, None
    try:
        return packed(KeptThread(builder, piece.end, places))
    finally:
        responses.items, responses.opening, builder.system = items, opening, system


def take_packed(made: Assembly, data: bytes, thread: Thread) -> bool:
    """Lets an empty assembly take over what was read; False where that cannot be used."""
    try:
        kept = unpacked(data, CLASSES)
    except ValueError:
        return False
    if not isinstance(kept, KeptThread) or not made.take(kept.builder, kept.end, thread):
        return False
    (piece,) = made.pieces
    kept.builder.system = _instructions(made.chain.metas.get(piece.segment.path, {}))
    kept.builder.responses.items = [piece.rollout.at(*place) for place in kept.items]
    return True


def _instructions(meta: dict[str, Any]) -> str | None:
    """The system prompt in the description at the beginning of a file; None without one."""
    instructions = meta.get("base_instructions")
    text = instructions.get("text") if isinstance(instructions, dict) else None
    return text if isinstance(text, str) and text else None
