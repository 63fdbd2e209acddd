"""Compaction by Codex's rules: no tail, but the newest user messages within a budget, and the initial context again.

The whole history is summarised. The oldest kept message is cut in the middle if it fits only in part. Before
0.169 the initial context was not given again when the user asked for the compaction, or before a turn.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.compaction.measure.measure import ContentKind, PathSizes
from leafward.compaction.strategies.division import Diagnostic, Division, Shortened, entry_at
from leafward.compaction.strategies.strategy_rules import StrategyRules
from leafward.context.estimators import CODEX_KEPT_USER_TOKENS, Estimator, image_tokens

if TYPE_CHECKING:
    from leafward.compaction.strategies.strategy_rules import PlanTerms

_RESERVE_PERCENT = 5
"""Codex uses only 95 % of a model's window."""
_NEWEST, _BEFORE = "0.169", "0.125"


def _divide(sizes: PathSizes, settings: PlanTerms) -> Division:
    """Divides the messages of a path by Codex's rules."""
    counting = sizes.counting(settings.counting)
    tokens = sizes.counts[counting].tokens
    left = settings.budget
    chosen: list[int] = []
    shortened: list[Shortened] = []
    cut = -1
    pictured = dropped = 0
    for position in reversed(sizes.starts):
        if sizes.parts[position] != ContentKind.USER:
            continue
        if left <= 0:
            break
        images = sizes.images.get(position, 0)
        size = max(0, tokens[position] - images * image_tokens(counting))
        # Only the text of a message is kept, never its images.
        dropped += images
        pictured += images > 0
        if images and not size:
            continue
        chosen.append(position)
        kept = min(size, left)
        if kept < tokens[position]:
            shortened.append(Shortened(position, entry_at(sizes, position), tokens[position], kept))
        if size > left:
            cut = entry_at(sizes, position)
            break
        left -= size
    chosen.reverse()
    shortened.reverse()
    end = len(sizes)
    messages = counted(len(chosen), "message")
    why = f"Keeps {messages} of the user, the newest within {settings.budget:,} tokens; summarises everything else."
    if cut >= 0:
        why += f" #{cut} is the oldest of them and is cut in the middle."
    division = Division(
        0,
        end,
        end,
        tail=False,
        chosen=array("i", chosen),
        shortened=shortened,
        why=why,
        nothing=not sizes.spoken,
    )
    division.diagnostics.append(_placement(sizes, settings, chosen))
    if dropped:
        shown = counted(dropped, "image")
        messages = counted(pictured, "message")
        text = f"drops {shown} of {messages} of the user: only the text is kept"
        division.diagnostics.append(Diagnostic("images-dropped", text))
    return division


def _placement(sizes: PathSizes, settings: PlanTerms, chosen: list[int]) -> Diagnostic:
    if settings.behaviour != _NEWEST:
        return Diagnostic(
            "no-initial-context", "the initial context is not sent again after a manual compaction"
        )
    if chosen:
        place = f"before the last message of the user, #{entry_at(sizes, chosen[-1])}"
    else:
        place = "before the summary"
    return Diagnostic("initial-context", f"the initial context is sent again {place}; the summary comes last")


RULES = StrategyRules(
    versions=(_NEWEST, _BEFORE),
    estimator=Estimator.CODEX,
    budget=lambda _usable: CODEX_KEPT_USER_TOKENS,
    reserve=lambda window: window * _RESERVE_PERCENT // 100,
    inclusive=True,
    keeps_tail=False,
    divide=_divide,
)
"""The rules of Codex."""
