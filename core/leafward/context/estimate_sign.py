"""The sign of an estimate: `~` if the provider counted fewer tokens for a whole context than are estimated for a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.entries import Kind

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

AHEAD = 64
"""Entries in which the reply to a system prompt is looked for."""


def estimate_sign(reported: array[int], kinds: Sequence[int], spans: Sequence[range], tokens: int) -> str:
    """The sign before the estimated tokens of some entries: `~` or nothing.

    `reported` is the column of `EntryMetrics`. Of entries without a reply, only a system prompt is compared with the next reply:
    entries after others may be on another branch.
    """
    counted = max((max(reported[span.start : span.stop], default=0) for span in spans), default=0)
    if not counted and spans and kinds[spans[0].start] == Kind.SYSTEM:
        behind = spans[-1].stop
        counted = next((one for one in reported[behind : behind + AHEAD] if one), 0)
    return "~" if 0 < counted < tokens else ""
