"""Compaction by pi's rules: keep the newest messages within a budget, summarise the rest, split a turn if necessary.

The rules are those of 1.5.2, and of 0.73 and 0.58 where they differed. With `PlanSettings.corrected` the faults of 1.5.2
are mended and reported: a turn reported as split although the tail begins with one, and results at the end of the path that
make the tail larger than 1.25 budgets.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.config import KEEP_RECENT, PI_RESERVE
from leafward.base.figures import counted
from leafward.compaction.measure.measure import QUIET, STARTS, ContentKind, PathSizes
from leafward.compaction.strategies.cut_rules import first_said, legal_cut
from leafward.compaction.strategies.division import (
    Diagnostic,
    Division,
    PiAnswer,
    Shortened,
    count_in,
    entry_at,
)
from leafward.compaction.strategies.strategy_rules import StrategyRules
from leafward.context.estimators import Estimator
from leafward.session.entries import Kind

if TYPE_CHECKING:
    from leafward.compaction.measure.measure import Counts
    from leafward.compaction.strategies.strategy_rules import PlanTerms

_TAIL_LIMIT = 1.25
"""A tail larger than this many budgets is a fault, unless its first entry alone makes it so large."""

_MESSAGES = bytes(
    [
        ContentKind.USER,
        ContentKind.BASH,
        ContentKind.CUSTOM,
        ContentKind.REPLY,
        ContentKind.RESULT,
        ContentKind.SYSTEM,
        ContentKind.OTHER,
    ]
)
"""Parts that are `message` entries."""


@dataclass(frozen=True, slots=True)
class _Version:
    """Differences between pi's versions."""

    counted: bytes
    """Parts that count towards the budget."""
    passed: bytes
    """Parts over which a cut moves back."""
    starts: bytes
    """Parts that begin a turn."""
    whole: bytes
    """Parts with which a tail may begin without its turn being reported as split."""
    falls_back_to_last: bool
    """Whether the last possible cut is taken, not the first, if results at the end exceed the budget."""
    keeps_kept: bool
    """Whether entries kept by the last compaction are considered."""
    skips_empty: bool
    """Whether nothing to summarise means no plan."""
    skips_recovery: bool
    """Whether attempts at the end that were edited out move the cut past the message before them."""


_ALL = bytes(part for part in ContentKind if part not in QUIET)
_OLD_STARTS = bytes([ContentKind.USER, ContentKind.BASH, ContentKind.NOTE])
_OLD_QUIET = bytes([ContentKind.SILENT, ContentKind.NOTE])
_OLD = _Version(_MESSAGES, _OLD_QUIET, _OLD_STARTS, bytes([ContentKind.USER]), False, True, False, False)
_VERSIONS = {
    "1.5.2": _Version(
        _ALL, bytes([ContentKind.SILENT, ContentKind.OMITTED]), STARTS, STARTS, True, True, True, True
    ),
    "0.73": _OLD,
    "0.58": _Version(
        _MESSAGES, _OLD_QUIET, _OLD_STARTS, bytes([ContentKind.USER]), False, False, False, False
    ),
}


def _divide(sizes: PathSizes, settings: PlanTerms) -> Division:
    """Divides the messages of a path by pi's rules."""
    rules = _VERSIONS[settings.behaviour]
    start = 0 if rules.keeps_kept else sizes.kept
    counts = sizes.counts_by(settings.counting)
    if settings.cut is not None:
        cut, why, forced = (
            _moved(sizes, rules, legal_cut(sizes, settings.cut), start),
            "You chose this cut.",
            False,
        )
    else:
        cut, why, forced = _cut(sizes, counts, rules, start, settings.budget)
    history = _history(sizes, rules, cut, start)
    division = Division(start, cut if history < 0 else history, cut, split=history >= 0, why=why)
    division.nothing = rules.skips_empty and not count_in(sizes, start, cut)
    if settings.mends:
        _mend_split(sizes, division, start)
        if forced:
            _mend_tail(sizes, counts, division, settings.budget)
        elif settings.cut is None:
            _tell_large_entry(sizes, counts, division, settings.budget)
    if start:
        division.diagnostics.append(
            Diagnostic(
                "kept-lost", f"what the last compaction kept ({count_in(sizes, 0, start)} messages) is lost"
            )
        )
    return division


def _all_tokens(total: int) -> str:
    """The first half of a sentence: `All ~1,204 tokens of messages fit`."""
    return (
        "The only token fits"
        if total == 1
        else f"All ~{total:,} tokens of messages fit"
        if total
        else "There are no tokens: it fits"
    )


def _cut(sizes: PathSizes, counts: Counts, rules: _Version, start: int, budget: int) -> tuple[int, str, bool]:
    """The beginning of the tail, the reason, and whether the results at the end forced it."""
    parts, tokens = sizes.parts, counts.tokens
    first = bisect_left(sizes.cuts, start)
    if first == len(sizes.cuts):
        return start, "There is no place for a cut here.", False
    total, reached = 0, -1
    for position in range(len(sizes) - 1, start - 1, -1):
        if tokens[position] and parts[position] in rules.counted:
            total += tokens[position]
            if total >= budget:
                reached = position
                break
    if reached < 0:
        return (
            _moved(sizes, rules, sizes.cuts[first], start),
            f"{_all_tokens(total)} into the {budget:,} to keep.",
            False,
        )
    found = bisect_left(sizes.cuts, reached, first)
    forced = found == len(sizes.cuts)
    if forced:
        found = len(sizes.cuts) - 1 if rules.falls_back_to_last else first
    cut = sizes.cuts[found]
    why = (
        f"Counted back from the end, {budget:,} tokens are reached at #{sizes.entries[reached]} (~{total:,})"
    )
    if forced:
        why += f"; there is no place for a cut after it, so the {'last' if rules.falls_back_to_last else 'first'} one is taken"
    elif cut == reached:
        why += ", where what is kept begins"
    else:
        why += f"; #{sizes.entries[cut]} is the next place for a cut"
    if rules.skips_recovery and _recovers(sizes, cut):
        cut += 1
        why += "; what follows it are attempts that were edited out"
    back = _moved(sizes, rules, cut, start)
    if back < cut:
        why += f"; entries without text right before it, from #{sizes.entries[back]} on, are kept with it"
    return back, why + ".", forced


def _moved(sizes: PathSizes, rules: _Version, cut: int, start: int) -> int:
    """A cut moved back over the parts that the rules pass over."""
    while cut > start and sizes.parts[cut - 1] in rules.passed:
        cut -= 1
    return cut


def _history(sizes: PathSizes, rules: _Version, cut: int, start: int) -> int:
    """The beginning of the turn that the cut splits, before 1.5.2 possibly the cut itself; -1 if no turn is split."""
    parts = sizes.parts
    if cut < len(sizes) and parts[cut] in rules.whole:
        return -1
    at = bisect_right(sizes.starts, cut) - 1
    while at >= 0 and parts[sizes.starts[at]] not in rules.starts:
        at -= 1
    return sizes.starts[at] if at >= 0 and sizes.starts[at] >= start else -1


def _recovers(sizes: PathSizes, cut: int) -> bool:
    """Whether a message is followed only by attempted replies that were edited out, and by quiet entries (pi 1.5.2)."""
    parts, entries = sizes.parts, sizes.entries
    rest = range(cut + 1, len(sizes))
    if any(parts[position] not in (ContentKind.SILENT, ContentKind.OMITTED) for position in rest):
        return False
    omitted = {entries[position] for position in rest if parts[position] == ContentKind.OMITTED}
    kinds = sizes.context.messages.kinds
    if not any(kinds[entry] == Kind.ASSISTANT for entry in omitted):
        return False
    return not any(
        not edit.removes and edit.target not in omitted
        for position, made in sizes.edits.items()
        if position > cut
        for edit in made
    )


def _mend_split(sizes: PathSizes, division: Division, start: int) -> None:
    """Corrects a false split: a tail whose first message begins a turn splits none, even after a quiet entry."""
    lead = first_said(sizes, division.cut)
    if not division.split or lead >= len(sizes) or sizes.parts[lead] not in STARTS:
        return
    before, prefix = count_in(sizes, start, division.history), count_in(sizes, division.history, division.cut)
    division.history, division.split = division.cut, False
    answer = PiAnswer(entry_at(sizes, division.cut), split_turn=True, summarize=before, turn_prefix=prefix)
    division.diagnostics.append(
        Diagnostic(
            "false-split",
            f"no turn is split: the tail begins with a turn, at #{sizes.entries[lead]}",
            f"pi would count the turn before it as split, because #{sizes.entries[division.cut]} has no text, and "
            f"summarise {counted(prefix, 'message')} of it as the beginning of a turn",
            answer,
        )
    )


def _mend_tail(sizes: PathSizes, counts: Counts, division: Division, budget: int) -> None:
    """Cuts results at the end in the middle, the largest first, until the tail fits, if they alone exceed the budget."""
    size = counts.between(division.cut, len(sizes))
    if size <= _TAIL_LIMIT * budget:
        return
    results = sizes.results[bisect_left(sizes.results, division.cut) :]
    room = budget - (size - sum(counts.tokens[position] for position in results))
    level = _level(sorted(counts.tokens[position] for position in results), room)
    for position in results:
        if counts.tokens[position] > level:
            division.shortened.append(
                Shortened(position, entry_at(sizes, position), counts.tokens[position], level)
            )
    left = size - sum(short.tokens - short.left for short in division.shortened)
    short = len(division.shortened)
    division.diagnostics.append(
        Diagnostic(
            "tail-over-budget",
            f"{counted(short, 'result')} at the end cut in the middle: the tail keeps {left:,} of "
            f"~{size:,} tokens (budget {budget:,})",
            f"pi would keep all ~{size:,} tokens of the tail{_times(size, budget)}",
        )
    )


def _tell_large_entry(sizes: PathSizes, counts: Counts, division: Division, budget: int) -> None:
    """Adds a remark if the first entry of the tail makes it larger than 1.25 budgets, which is pi's rule and stays."""
    size = counts.between(division.cut, len(sizes))
    if size > _TAIL_LIMIT * budget and count_in(sizes, 0, division.cut):
        lead = first_said(sizes, division.cut)
        division.diagnostics.append(
            Diagnostic(
                "large-first-entry",
                f"the tail keeps ~{size:,} tokens{_times(size, budget)}, because its first message, "
                f"#{sizes.entries[lead]}, is ~{counts.tokens[lead]:,}; without it ~{size - counts.tokens[lead]:,} would be kept",
            )
        )


def _times(size: int, budget: int) -> str:
    return f", {size / budget:.1f} times the budget" if budget else " with a budget of 0"


_LEAST_LEFT = 200
"""Least tokens that a result keeps when it is cut in the middle."""


def _level(ascending: list[int], room: int) -> int:
    """The size to which larger results are cut so that all fit into `room`."""
    for done, smallest in enumerate(ascending):
        share = room // (len(ascending) - done)
        if smallest > share:
            return max(_LEAST_LEFT, share)
        room -= smallest
    return max(ascending, default=0)


RULES = StrategyRules(
    versions=tuple(_VERSIONS),
    estimator=Estimator.PI,
    budget=lambda _usable: KEEP_RECENT,
    reserve=lambda _window: PI_RESERVE,
    configured=True,
    inclusive=False,
    divide=_divide,
    bounds_files=False,
)
"""The rules of pi."""
