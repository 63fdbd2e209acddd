"""Compaction as Codex does it: no tail, but the newest user messages within a budget, and the initial context again.

All of the history is summarised. Of the messages kept, the oldest that still fits in part is cut in the middle. Before
0.169 the initial context was not given again when the user asked for the compaction, or before a turn.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from leafward.compaction.division import Diagnostic, Division, Shortened, entry_at
from leafward.compaction.measure import Part, PathSizes

if TYPE_CHECKING:
    from leafward.compaction.settings import PlanSettings


def divide(sizes: PathSizes, settings: PlanSettings) -> Division:
    """Deals out the messages of a path by Codex's rules."""
    tokens = sizes.counted(settings.counting).tokens
    left = settings.budget
    chosen: list[int] = []
    shortened: list[Shortened] = []
    for position in reversed(sizes.starts):
        if sizes.parts[position] != Part.USER:
            continue
        if left <= 0:
            break
        chosen.append(position)
        if tokens[position] > left:
            shortened.append(Shortened(position, entry_at(sizes, position), tokens[position], left))
            break
        left -= tokens[position]
    chosen.reverse()
    end = len(sizes)
    messages = f"{len(chosen)} message{'' if len(chosen) == 1 else 's'}"
    why = f"The newest {messages} of the user within {settings.budget:,} tokens are kept; everything else is summarised."
    if shortened:
        why += f" #{shortened[0].entry} is the oldest of them and is cut in the middle."
    division = Division(0, end, end, tail=False, chosen=array("i", chosen), shortened=shortened, why=why)
    division.diagnostics.append(_placement(sizes, settings, chosen))
    return division


def _placement(sizes: PathSizes, settings: PlanSettings, chosen: list[int]) -> Diagnostic:
    if settings.behaviour != "0.169":
        return Diagnostic(
            "no-initial-context", "the initial context is not given again after a compaction asked for"
        )
    if chosen:
        place = f"before the last message of the user, #{entry_at(sizes, chosen[-1])}"
    else:
        place = "before the summary"
    return Diagnostic(
        "initial-context", f"the initial context is given again {place}; the summary comes last"
    )


def nothing(sizes: PathSizes) -> bool:
    """Whether there is no history to summarise."""
    return not sizes.spoken
