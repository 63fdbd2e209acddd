"""Hits of a search, in a text and among the places of a screen."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from rich.segment import Segment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.style import Style


def lit(text: str, query: str, style: Style, hit: Style) -> list[Segment]:
    """A text with every occurrence of a query lit, case ignored."""
    return parted(text, 0, spans_of(text, query), style, hit)


def spans_of(text: str, query: str) -> list[tuple[int, int]]:
    """The ranges of a text that match a query, case ignored: first character and the one after the last."""
    low, low_query = text.lower(), query.lower()
    if len(low) != len(text) or not low_query:
        return []
    found = []
    at = low.find(low_query)
    while at >= 0:
        found.append((at, at + len(low_query)))
        at = low.find(low_query, at + len(low_query))
    return found


def parted(text: str, at: int, hits: Sequence[tuple[int, int]], style: Style, hit: Style) -> list[Segment]:
    """A piece of a line that begins at `at`, with the hits of the line lit in it."""
    segments = []
    here, end = at, at + len(text)
    for start, stop in hits:
        first, last = max(start, here), min(stop, end)
        if first < last:
            lit_up = Segment(text[first - at : last - at], hit)
            segments += [Segment(text[here - at : first - at], style), lit_up]
            here = last
    segments.append(Segment(text[here - at :], style))
    return [segment for segment in segments if segment.text]


def hit_beside(hits: Sequence[int], place: int, step: int) -> int | None:
    """The hit after a place, or with a negative step before it, around the ends; None where there is none."""
    if not hits:
        return None
    if step > 0:
        return hits[bisect_right(hits, place) % len(hits)]
    return hits[bisect_left(hits, place) - 1]


def which_hit(hits: Sequence[int], place: int) -> str:
    """`2 of 5` on a hit, `5` beside them."""
    at = bisect_right(hits, place)
    of = f"{at:,} of " if at and hits[at - 1] == place else ""
    return f"{of}{len(hits):,}"


def marked(
    text: str, whole: str, spans: Sequence[tuple[int, int]], base: Style, mark: Style
) -> list[Segment]:
    """`text`, the fitted form of `whole`, with the hits in it marked."""
    if not spans:
        return [Segment(text, base)]
    same = next((at for at, (one, other) in enumerate(zip(text, whole, strict=False)) if one != other), None)
    same = min(len(text), len(whole)) if same is None else same
    pieces = []
    at = 0
    for start, end in spans:
        start, end = min(start, same), min(end, same)
        if end > start:
            pieces += [Segment(text[at:start], base), Segment(text[start:end], mark)]
            at = end
    return [*pieces, Segment(text[at:], base)]
