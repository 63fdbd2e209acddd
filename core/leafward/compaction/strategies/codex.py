"""Compaction by Codex's rules: no tail, but the newest user messages within a budget, and the initial context again.

The whole history is summarised. The oldest kept message is cut in the middle if it fits only in part. Before
0.169 the initial context was not given again when the user asked for the compaction, or before a turn.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

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


class _KeptMessages(NamedTuple):
    """The user's newest messages within the budget, in the order of the path."""

    positions: list[int]
    shortened: list[Shortened]
    cut: int
    """The oldest of them, if it is cut in the middle; else -1."""
    pictured: int
    """Messages with images, also those that consist of images."""
    images: int
    """Their images: only the text of a message is kept."""


def _kept(sizes: PathSizes, settings: PlanTerms) -> _KeptMessages:
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
    return _KeptMessages(chosen[::-1], shortened[::-1], cut, pictured, dropped)


def _divide(sizes: PathSizes, settings: PlanTerms) -> Division:
    """Divides the messages of a path by Codex's rules."""
    kept = _kept(sizes, settings)
    end = len(sizes)
    messages = counted(len(kept.positions), "message")
    why = f"Keeps {messages} of the user, the newest within {settings.budget:,} tokens; summarises everything else."
    if kept.cut >= 0:
        why += f" #{kept.cut} is the oldest of them and is cut in the middle."
    division = Division(
        0,
        end,
        end,
        tail=False,
        chosen=array("i", kept.positions),
        shortened=kept.shortened,
        why=why,
        nothing=not sizes.spoken,
    )
    division.diagnostics.append(_placement(sizes, settings, kept.positions))
    if kept.images:
        shown = counted(kept.images, "image")
        messages = counted(kept.pictured, "message")
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
