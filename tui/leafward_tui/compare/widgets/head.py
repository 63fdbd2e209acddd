"""The head of the Compare screen: the fork drawn once, and the names of A and B."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from leafward_tui.compare.model.files import HUES
from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import count, fit, right

if TYPE_CHECKING:
    from leafward_tui.compare.model.compared_sides import HeadEntry
    from leafward_tui.ui.appearance.theme import Ground

_ARM = 10
"""Cells of a branch of the fork, where there is room."""
_UNITS = (("entries", "entry", 9), ("turns", "turn", 7), ("changes", "change", 8))


class CompareHead(Painted):
    """Three rows, two where the screen is low: A above, B below, and the fork they come from."""

    DEFAULT_CSS = "CompareHead { height: 2; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._named: tuple[HeadEntry, HeadEntry] | None = None
        self._forked = False

    def show(self, named: tuple[HeadEntry, HeadEntry], *, forked: bool) -> None:
        """Shows two entries; `forked` where they have a common ancestor."""
        self._named, self._forked = named, forked
        self.refresh()

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """One row of the fork, with the entry that ends there."""
        glyphs, tall = services_of(self).glyphs, self.size.height > 2
        if self._named is None:
            return []
        arm = _ARM if width >= 120 else 4 if width >= 100 else 2
        trunk = 3 if tall else 0
        if tall and y == 1:
            start = [Segment(f" {glyphs.prompt}", ground.leaf), Segment(glyphs.arm * 2, ground.leaf)]
            basis = "+ since the fork" if self._forked else ""
            end = [Segment(glyphs.join_left, ground.leaf), Segment(right(basis, width - 6), ground.faint)]
            return [*start, *end]
        number = y if not tall else y // 2
        if number > 1:
            return []
        one = self._named[number]
        hue = HUES[one.letter]
        corner = glyphs.corners[0] if number == 0 else glyphs.corners[2]
        node = glyphs.leaf if one.leaf else glyphs.prompt_off
        fork = f"{corner}{glyphs.arm * arm}{node}"
        segments = [
            Segment(" " * (1 + trunk), ground.blank),
            Segment(fork, getattr(ground, hue)),
            Segment(f"  {one.letter}  ", getattr(ground, f"strong_{hue}")),
        ]
        used = sum(cell_len(segment.text) for segment in segments)
        figures = _figures(one, self._named, width, ground)
        room = width - used - sum(cell_len(segment.text) for segment in figures) - 2
        words = fit(one.words, room, pad=True, ellipsis=glyphs.ellipsis)
        return [*segments, Segment(words, ground.text), Segment(" ", ground.blank), *figures]


def _numbers(one: HeadEntry) -> tuple[str, str, str]:
    """What the branch adds, in the order of `_UNITS`."""
    entries, turns, edits = (f"+{count(number, zero='0')}" for number in (one.entries, one.turns, one.edits))
    return entries, turns, edits


def _figures(one: HeadEntry, both: tuple[HeadEntry, HeadEntry], width: int, ground: Ground) -> list[Segment]:
    """Name, number of the entry, and figures of the branch, as far as there is room; those of both stand below each other."""
    hue = HUES[one.letter]
    names = [name for name, holds in (("leaf", one.leaf), ("mark", one.mark)) if holds]
    segments = [
        Segment(right(" ".join(names), 10 if len(names) > 1 else 5), getattr(ground, hue)),
        Segment(right(f"#{one.entry:,}" if one.entry >= 0 else "start", 8), ground.text),
    ]
    least = 7 if width >= 140 else 6 if width >= 100 else 5
    columns = zip(*map(_numbers, both), strict=True)
    for (many, single, cells), number, column in zip(_UNITS, _numbers(one), columns, strict=True):
        if width < 100 and many == "entries":
            continue
        unit = single if number == "+1" else many
        segments += [
            Segment(right(number, max(least, *map(len, column))), ground.sub),
            Segment(f" {fit(unit, cells - 1, pad=True)}", ground.faint),
        ]
    segments.append(Segment(right(one.size, 8 if width >= 100 else 0), ground.sub))
    if width >= 120:
        segments.append(Segment(" context" if one.size else " " * 8, ground.faint))
    return segments
