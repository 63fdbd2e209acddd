"""Single facts of one branch carried to the leaf: a branch summary that holds nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.cancellation import unless_cancelled
from leafward.base.errors import Refused
from leafward.branches.diff.summaries import SideSummary
from leafward.branches.transfer.summary_merge import MergeDraft, MergedSection
from leafward.compaction.stored_summary.pins import as_sentences, clean_pins
from leafward.session.entries import NO_ENTRY
from leafward.session.journal.placement import place_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.branches.diff.sides import Sides

SECTION = "Critical Context"
"""The heading above pinned facts."""
_NOTHING = SideSummary("", NO_ENTRY)


def draft_pins(sides: Sides, facts: Iterable[str], stop: Callable[[], bool] = lambda: False) -> MergeDraft:
    """A branch summary of some facts, to stand at the leaf. Nothing is written; `apply_merge` appends it.

    Each fact becomes one line without secrets; a bare token becomes the sentence that holds it on either branch. Raises
    Refused where none is left, Cancelled once `stop` turns true.
    """
    session = sides.session
    for side in (sides.a, sides.b):
        facts = as_sentences(session, side.entry, facts)
    entries = sorted({index for side in (sides.a, sides.b) for index in session.tree.path(side.entry)})
    bodies = unless_cancelled(session.bodies(entries), stop)
    lines = clean_pins(facts, (body for _, body in bodies if body is not None))
    if not lines:
        raise Refused("no fact to pin")
    place = place_at(session, session.leaf)
    return MergeDraft(
        sides,
        _NOTHING,
        _NOTHING,
        _NOTHING,
        (MergedSection(SECTION, tuple(f"- {line}" for line in lines)),),
        (),
        (),
        (),
        place,
    )
