"""The reminder after a compaction: that there was one, and how to continue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.compaction.injection.values import (
    STATIC,
    Contribution,
    OfferedBullet,
    SourceKind,
    SourceRef,
    Tier,
    from_entry,
)

if TYPE_CHECKING:
    from leafward.compaction.injection.builders.builder_input import BuildInput

_COUNTED = SourceRef(SourceKind.DERIVED, note="counted")
_FIRST = "Read a file again before changing it: what was read before the compaction is gone, only its name is left."


def recovery(inputs: BuildInput) -> Contribution:
    """The reminder; empty on a path without a compaction. A compaction is recognised by its entry, never guessed from text."""
    past = inputs.found.compactions
    if not past:
        return Contribution()
    last = past[-1]
    times = "once" if len(past) == 1 else f"{len(past)} times"
    when = f", last on {last.timestamp[:10]}" if last.timestamp[:4].isdigit() else ""
    replaced = "its first entry" if last.replaced == 1 else f"its first {last.replaced} entries"
    text = f"This path was compacted {times} before{when}; a summary replaces {replaced}."
    # The last one first, as the sentence is about it.
    items = [
        OfferedBullet(
            text, (_COUNTED, *(from_entry(one.entry, note="compaction") for one in reversed(past)))
        ),
        OfferedBullet(_FIRST, (STATIC,), Tier.LAST, rank=1),
    ]
    lost = inputs.found.lost_thread
    if lost is not None:
        guess = f"A guess from its words: after that the agent had lost the thread (“{lost[1]}”)."
        items.insert(1, OfferedBullet(guess, (from_entry(lost[0], note="heuristic"),), Tier.SECOND, rank=2))
    return Contribution({"recovery.reminder": tuple(items)})
