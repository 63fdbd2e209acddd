"""Compaction by opencode's rules: prune old tool results first, then summarise all but the newest turns that fit.

Pruning is an option since 1.18 and always happened before; 1.18 also brought the kept tail and the iterative summary.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate, filterfalse, repeat
from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.compaction.measure.measure import STARTS, ContentKind, Counts, PathSizes
from leafward.compaction.strategies.cut_rules import first_said, legal_cut
from leafward.compaction.strategies.division import Diagnostic, Division, count_in, new_shortened
from leafward.compaction.strategies.strategy_rules import StrategyRules
from leafward.context.estimators import Estimator, text_tokens

if TYPE_CHECKING:
    from leafward.compaction.strategies.division import Shortened
    from leafward.compaction.strategies.strategy_rules import PlanTerms

_NEWEST, _BEFORE = "1.18", "1.3"
_RESERVE = 20_000
"""Most tokens that opencode reserves for the reply."""
_TAIL_LEAST, _TAIL_MOST, _TAIL_PERCENT = 2_000, 15_000, 25
"""Tokens of recent turns that opencode keeps: this share of the usable window, within these bounds."""
_PRUNE_PROTECT = 40_000
"""Tokens of the newest tool results that opencode never prunes."""
_PRUNE_MINIMUM = 20_000
"""opencode prunes only if that frees more tokens than this."""
_PRUNE_TURNS = 2
"""Number of last user turns that opencode never prunes."""
_PRUNE_EXEMPT = frozenset({"skill"})
"""Tools whose results opencode never prunes."""

_CLEARED = "[Old tool result content cleared]"
"""Text that replaces a pruned result (opencode 1.18)."""


def _divide(sizes: PathSizes, settings: PlanTerms) -> Division:
    """Divides the messages of a path by opencode's rules."""
    pruned = _pruned(sizes, settings) if settings.prune else []
    if settings.behaviour == _BEFORE:
        end = len(sizes)
        why = "Everything is summarised; 1.3 keeps no tail."
        return Division(0, end, end, tail=False, shortened=pruned, why=why, nothing=not sizes.spoken)
    if settings.cut is not None:
        cut, why = legal_cut(sizes, settings.cut), "You chose this cut."
    else:
        cut, why = _tail(sizes, _without(sizes.counts_by(settings.counting), pruned), settings)
    lead = first_said(sizes, cut)
    history = cut
    if lead < len(sizes) and sizes.parts[lead] not in STARTS:
        before = bisect_left(sizes.starts, cut) - 1
        history = sizes.starts[before] if before >= 0 else cut
    division = Division(
        0,
        history,
        cut,
        split=history < cut,
        tail=cut < len(sizes),
        shortened=pruned,
        why=why,
        nothing=not sizes.spoken,
    )
    if pruned:
        saved = sum(short.tokens - short.left for short in pruned)
        division.diagnostics.append(
            Diagnostic(
                "pruned",
                f"{len(pruned)} old results cleared first, {saved:,} tokens; opencode 1.18 does so on request",
            )
        )
        rest = sizes.context.total - saved
        if sizes.context.total >= settings.usable > rest:
            division.diagnostics.append(
                Diagnostic("prune-suffices", f"pruning alone brings the context down to {rest:,} tokens")
            )
    return division


def _pruned(sizes: PathSizes, settings: PlanTerms) -> list[Shortened]:
    """The results to be cleared, oldest first: those beyond the newest 40,000 tokens, if that frees over 20,000.

    Results in the last two turns, errors and results of exempt tools stay and do not count (opencode 1.18).
    """
    users = [position for position in sizes.starts if sizes.parts[position] == ContentKind.USER]
    if len(users) < _PRUNE_TURNS:
        return []
    tokens = sizes.counts_by(settings.counting).tokens
    left = text_tokens(_CLEARED, settings.counting)
    exempt = {position for position, tool in sizes.tools.items() if tool in _PRUNE_EXEMPT}
    stays = (sizes.failed | exempt).__contains__
    older = list(filterfalse(stays, sizes.results[: bisect_left(sizes.results, users[-_PRUNE_TURNS])]))
    seen = list(accumulate(map(tokens.__getitem__, reversed(older))))
    # Seen from the newest, the first result beyond what is protected is cleared with all that are older.
    protected = bisect_right(seen, _PRUNE_PROTECT)
    freed = seen[-1] - (seen[protected - 1] if protected else 0) if protected < len(seen) else 0
    if freed <= _PRUNE_MINIMUM:
        return []
    cleared = [position for position in older[: len(older) - protected] if tokens[position] > left]
    columns = zip(
        cleared, map(sizes.entries.__getitem__, cleared), map(tokens.__getitem__, cleared), repeat(left)
    )
    return list(map(new_shortened, columns))


def _tail(sizes: PathSizes, counts: Counts, settings: PlanTerms) -> tuple[int, str]:
    """The beginning of the kept tail, and the reason; the end if nothing is kept."""
    end = len(sizes)
    budget, kept, total, turns = settings.budget, end, 0, 0
    for start in reversed(sizes.starts):
        if settings.tail_turns is not None and turns >= settings.tail_turns:
            break
        size = counts.between(start, kept)
        if total + size > budget:
            split = _split(sizes, counts, start, kept, budget - total)
            if split < kept:
                total += counts.between(split, kept)
                parts = (
                    f"{counted(turns, 'whole turn')} and part of another fit"
                    if turns
                    else "Part of the last turn fits"
                )
                return split, f"{parts} into {budget:,} tokens (~{total:,})."
            break
        total, kept, turns = total + size, start, turns + 1
    if kept == end:
        return end, f"Nothing of the last turn fits into {budget:,} tokens: all is summarised."
    if not count_in(sizes, 0, kept):
        return end, f"Everything would fit into {budget:,} tokens, so nothing is kept and all is summarised."
    turns_fit = "The last turn fits" if turns == 1 else f"The last {turns} turns fit"
    return kept, f"{turns_fit} into {budget:,} tokens (~{total:,})."


def _split(sizes: PathSizes, counts: Counts, start: int, stop: int, budget: int) -> int:
    """The first reply of a turn from which on the rest fits; `stop` if there is none."""
    size, found = 0, stop
    for position in range(stop - 1, start, -1):
        size += counts.tokens[position]
        if size > budget:
            break
        if sizes.parts[position] == ContentKind.REPLY:
            found = position
    return found


def _without(counts: Counts, pruned: list[Shortened]) -> Counts:
    """The counts after messages are shortened."""
    if not pruned:
        return counts
    tokens = counts.tokens[:]
    for short in pruned:
        tokens[short.position] = short.left
    return Counts.of(tokens)


RULES = StrategyRules(
    versions=(_NEWEST, _BEFORE),
    estimator=Estimator.OPENCODE,
    budget=lambda usable: min(_TAIL_MOST, max(_TAIL_LEAST, usable * _TAIL_PERCENT // 100)),
    reserve=lambda _window: _RESERVE,
    inclusive=True,
    divide=_divide,
    cleared=_CLEARED,
)
"""The rules of opencode."""
