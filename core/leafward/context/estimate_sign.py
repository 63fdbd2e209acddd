"""The sign in front of an estimate: `~` where a provider counted less for a whole context than is estimated of a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.entries import Kind

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

AHEAD = 64
"""Entries in which the reply to a system prompt is looked for."""


def estimate_sign(reported: array[int], kinds: Sequence[int], spans: Sequence[range], tokens: int) -> str:
    """What stands in front of the tokens that are estimated of some entries.

    `reported` is the column of `EntryMetrics`. Of entries without a reply only a system prompt is held against the next one: what
    else comes behind them may lie on another branch.
    """
    counted = max((max(reported[span.start : span.stop], default=0) for span in spans), default=0)
    if not counted and spans and kinds[spans[0].start] == Kind.SYSTEM:
        behind = spans[-1].stop
        counted = next((one for one in reported[behind : behind + AHEAD] if one), 0)
    return "~" if 0 < counted < tokens else ""
