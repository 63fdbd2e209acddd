"""Sessions of a project whose folder was renamed, begun anew: previewed and written beside the screen. May raise LeafwardError."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from leafward_tui.ui.cells import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.base.config import Config
    from leafward.branches.relocation import Relocation
    from leafward.catalog import Card
    from leafward_tui.ui.services import Job

__all__ = ["Relocated", "relocate_project"]


class Relocated(NamedTuple):
    """What became of the sessions of a project, or would."""

    made: int
    there: int
    skipped: int
    healed: int
    """Of those that were made: sessions that could not go on as they are."""
    reasons: tuple[str, ...]
    """Of each session that cannot go on in the new folder: its title, and why."""

    def words(self) -> str:
        """What was done, for a toast."""
        parts = [f"began {counted(self.made, 'session')}"]
        if self.there:
            parts.append(f"{self.there:,} already there")
        if self.reasons:
            parts.append(f"{len(self.reasons):,} not possible: {self.reasons[0]}")
        return "; ".join(parts)


def relocate_project(
    cards: Sequence[Card], old: str, new: str, config: Config, job: Job, *, write: bool
) -> Relocated:
    """Begins the sessions of a folder anew in another one; without `write` only says what would become of them."""
    from leafward.branches.relocation import Outcome, moves, relocate

    done: list[Relocation] = []
    for one in relocate(moves(cards, old, new), config, os.environ, write=write):
        done.append(one)
        job.give_way()

    def number(outcome: Outcome) -> int:
        return sum(one.outcome is outcome for one in done)

    reasons = tuple(f"{one.move.card.title}: {one.reason}" for one in done if one.outcome is Outcome.REFUSED)
    healed = sum(any(remark.code == "healed" for remark in one.remarks) for one in done)
    return Relocated(number(Outcome.MADE), number(Outcome.THERE), number(Outcome.SKIPPED), healed, reasons)
