"""What a search found, in a text and among the places of a screen."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from rich.segment import Segment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.style import Style

__all__ = ["hit_beside", "lit", "which_hit"]


def lit(text: str, query: str, style: Style, hit: Style) -> list[Segment]:
    """A text with every occurrence of a query lit, case ignored."""
    low, wanted = text.lower(), query.lower()
    if len(low) != len(text) or not wanted:
        return [Segment(text, style)]
    segments = []
    at = 0
    while (found := low.find(wanted, at)) >= 0:
        segments += [Segment(text[at:found], style), Segment(text[found : found + len(wanted)], hit)]
        at = found + len(wanted)
    segments.append(Segment(text[at:], style))
    return [segment for segment in segments if segment.text]


def hit_beside(hits: Sequence[int], place: int, step: int) -> int | None:
    """The hit behind a place, or with a negative step before it, around the ends; None where there is none."""
    if not hits:
        return None
    if step > 0:
        return hits[bisect_right(hits, place) % len(hits)]
    return hits[bisect_left(hits, place) - 1]


def which_hit(hits: Sequence[int], place: int) -> str:
    """`2 of 5 ` on a hit, `5 ` beside them."""
    at = bisect_right(hits, place)
    of = f"{at} of " if at and hits[at - 1] == place else ""
    return f"{of}{len(hits):,}"
