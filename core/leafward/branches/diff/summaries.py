"""The summaries of two entries, section by section: stored ones, or made on the spot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.compaction.branch_summary import left_branch, summarize_branch
from leafward.compaction.stored_summary.summary_comparison import SummaryDiff, compare_summaries, summary_at
from leafward.files.tool_calls import listed_tools
from leafward.session.entries import NO_ENTRY, SUMMARIES, EntryIndex, Kind
from leafward.summaries.summarizers.extractive.summarizer import Extractive

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.branches.diff.sides import Side, Sides


@dataclass(frozen=True, slots=True)
class SideSummary:
    """The summary of one branch."""

    text: str
    """Empty where there is nothing to summarise."""
    entry: EntryIndex
    """The entry that stores it; -1 where the extractive summariser made it on the spot."""


@dataclass(frozen=True, slots=True)
class SummaryDifference:
    """Two summaries and their differences."""

    a: SideSummary
    b: SideSummary
    difference: SummaryDiff


def compare_sides(sides: Sides, *, stop: Callable[[], bool] = lambda: False) -> SummaryDifference:
    """The summaries of both sides. A stored one is used where a side has it. Raises Cancelled once `stop` turns true."""
    a, b = summaries_of(sides, stop=stop)
    return SummaryDifference(a, b, compare_summaries(a.text, b.text, sides.session.cwd))


def summaries_of(sides: Sides, *, stop: Callable[[], bool]) -> tuple[SideSummary, SideSummary]:
    """The summary of each side. Raises Cancelled once `stop` turns true."""
    a = _of(sides, sides.a, sides.b, stop)
    return a, _of(sides, sides.b, sides.a, stop)


def _stored_in(sides: Sides, side: Side) -> EntryIndex:
    """The last entry of a side that stores a summary of the side's own work; -1 where none does.

    A branch summary describes the branch that was abandoned for this one, so it counts only where it is the side's entry.
    """
    kinds = sides.session.columns.kind
    if side.entry >= 0 and kinds[side.entry] in SUMMARIES:
        return side.entry
    return next((EntryIndex(at) for at in reversed(side.entries) if kinds[at] == Kind.COMPACTION), NO_ENTRY)


def _of(sides: Sides, side: Side, other: Side, stop: Callable[[], bool]) -> SideSummary:
    entry = _stored_in(sides, side)
    if entry >= 0:
        return SideSummary(summary_at(sides.session, entry), entry)
    branch = left_branch(sides.session, side.entry, other.entry, table=listed_tools(sides.session), stop=stop)
    if branch is None:
        return SideSummary("", NO_ENTRY)
    return SideSummary(summarize_branch(branch, Extractive(), stop=stop).text, NO_ENTRY)
