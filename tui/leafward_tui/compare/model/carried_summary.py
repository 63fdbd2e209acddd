"""Branch summaries of one side that the other carries, and the facts that they lack."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.base.safe_text import safe_line
from leafward.compaction.stored_summary.summary_comparison import compare_summaries, summary_at
from leafward.session.entries import EntryIndex, Kind
from leafward.session.headlines.entry_headline import summarised_messages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.branches.diff.sides import Sides
    from leafward.branches.diff.summaries import SummaryDifference
    from leafward_tui.compare.model.compared_sides import HeadEntry


class CarriedSummary(NamedTuple):
    """A branch summary of one side that the other carries."""

    holder: str
    """The letter of the side that has it."""
    entry: EntryIndex
    stands_for: int
    """Number of summarised messages, summaries among them."""
    missing: tuple[str, ...]
    """Facts of the branch that it lacks, the heaviest first, safe."""


def carried_over(sides: Sides, stop: Callable[[], bool]) -> tuple[CarriedSummary, ...]:
    """Branch summaries of one side on the other; their missing facts are empty yet."""
    session = sides.session
    kinds = session.columns.kind
    found = []
    for holder, here, there in (("B", sides.b, sides.a), ("A", sides.a, sides.b)):
        of = set(there.entries)
        for at in here.entries:
            if kinds[at] != Kind.BRANCH_SUMMARY or stop():
                continue
            body = session.body(EntryIndex(at)) or {}
            if session.columns.index(str(body.get("fromId"))) in of:
                found.append(
                    CarriedSummary(holder, EntryIndex(at), summarised_messages(session, at, body), ())
                )
    return tuple(found)


def with_missing(
    sides: Sides, carried: Sequence[CarriedSummary], summaries: SummaryDifference
) -> tuple[CarriedSummary, ...]:
    """The carried summaries, each with the facts that it lacks out of those of its branch's own summary."""
    found = []
    for one in carried:
        summary = summaries.a.text if one.holder == "B" else summaries.b.text
        lacks = compare_summaries(
            summary, summary_at(sides.session, one.entry), sides.session.cwd
        ).only_before
        found.append(one._replace(missing=tuple(safe_line(fact.text, 200) for fact in lacks)))
    return tuple(found)


def pinnable(
    carried: Sequence[CarriedSummary] | None,
    summaries: SummaryDifference | None,
    named: tuple[HeadEntry, HeadEntry],
) -> tuple[str, ...]:
    """Facts of one branch that can be pinned where the other is: those that a carried summary lacks.

    Without a carried summary, those of the summary of the branch without the leaf that the other summary lacks.
    """
    if carried:
        return tuple(dict.fromkeys(fact for one in carried for fact in one.missing))
    if summaries is None:
        return ()
    facts = summaries.difference.only_after if named[0].leaf else summaries.difference.only_before
    return tuple(dict.fromkeys(safe_line(fact.text, 200) for fact in facts))


def lacking(carried: Sequence[CarriedSummary] | None, named: tuple[HeadEntry, HeadEntry]) -> str:
    """The branch that has the facts of `pinnable`, and the one that lacks them."""
    holders = {one.holder for one in carried or ()} or {"A" if named[0].leaf else "B"}
    if len(holders) > 1:
        return "that one branch has and the other lacks"
    (holder,) = holders
    return f"of {'B' if holder == 'A' else 'A'} that {holder} lacks"
