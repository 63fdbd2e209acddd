"""The drawing of an overview: signs and inks of its lines. Pure; `widgets.strip` puts it on the screen.

Weight and signs tell the state first: the part dropped by a proposed move is a dashed axis under dimmer bars, the added
part is heavy and ends in a filled turn. The leaf itself stays where it is.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from leafward_tui.explorer.model.axis import Axis
from leafward_tui.ui.text.cells import count, exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward_tui.explorer.model.overview import Detour, Fork, Overview, Sample, SideBranch
    from leafward_tui.ui.appearance.glyphs import Glyphs

_LABELS = {
    4: ("", "context", "path", "branches"),
    3: ("context", "path", "branches"),
    2: ("context", "path"),
    1: ("context",),
}
_LABELLED_FROM = {4: 60, 3: 60, 2: 60, 1: 36}
"""Cells of width below which there are no labels, by the number of lines."""
_LEFT = 11
"""The cell where the axis begins beside labels: an edge, the longest label, a gap. On one line the gap is narrower."""
_RIGHT = (2, 3)
"""Free cells at the right: on one line, where the leaf stands in the first of them, and on several lines."""
_CROWDED = 3
"""One column in this many may have a branch before only the longest branches are drawn."""
_LEAST_SCALE = 16_000
"""The least tokens of a full bar, so that a young session does not look full."""

_Ink = str
"""The name of a style of the ground."""


class Drawing(NamedTuple):
    """Signs and inks of the strip's lines, and the places of its turns."""

    signs: tuple[str, ...]
    """A string of one sign a cell for each line."""
    inks: tuple[tuple[_Ink, ...], ...]
    axis: Axis
    left: int
    """The cell of the first column."""
    pitch: tuple[int, int] = (1, 1)
    """Numbers of cells and of columns that correspond to each other."""
    branches: tuple[tuple[range, SideBranch], ...] = ()
    """The cells of each branch in the last line."""

    def turn_at(self, x: int) -> range:
        """The turns in the column nearest to a cell; empty where there is no axis."""
        if not self.axis.columns:
            return range(0)
        cells, columns = self.pitch
        column = ((x - self.left + 1) * columns - 1) // cells
        return self.axis.span(max(0, min(self.axis.columns - 1, column)))


class _Canvas:
    """Lines of cells, drawn over each other."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.signs = [[" "] * width for _ in range(height)]
        self.inks: list[list[_Ink]] = [["blank"] * width for _ in range(height)]

    def put(self, x: int, y: int, text: str, ink: _Ink) -> None:
        """Draws signs of one cell each from a cell on, clipped at the edges."""
        for sign in text:
            if 0 <= x < self.width:
                self.signs[y][x], self.inks[y][x] = sign, ink
            x += 1


def draw(
    overview: Overview | None,
    width: int,
    height: int,
    glyphs: Glyphs,
    detour: Detour | None = None,
    hits: Sequence[int] = (),
) -> Drawing:
    """The strip in `width` cells and `height` lines: bars, axis and branches in 4 and 3, bars and axis in 2, bars in 1.

    `hits` are the turns that a search found, ascending. On one line the leaf stands right after the last bar.
    """
    canvas = _Canvas(width, height)
    height = min(height, 4)
    labelled = height > 0 and width >= _LABELLED_FROM[height]
    left = (_LEFT if height > 1 else _LEFT - 2) if labelled else 1
    if labelled:
        goes_off = detour is not None and detour.entered
        nothing_hangs = overview is not None and not overview.hanging and not goes_off
        for y, label in enumerate(_LABELS[height]):
            if not (label == "branches" and nothing_hangs):
                canvas.put(1, y, label, "faint")
    painter = _Painter(canvas, left, width - left - _RIGHT[height > 1], height, glyphs, detour, hits)
    if overview is not None and len(overview) and painter.room > 0 and height:
        painter.fit(overview)
        painter.choose()
        painter.bars()
        if height == 4 and labelled:
            canvas.put(1, 0, f"to {count(painter.scale, zero='0')}", "faint")
        if height > 1:
            painter.line(height - 1 if height == 2 else height - 2)
        if height > 2:
            painter.branches(height - 1)
    return Drawing(
        tuple("".join(line) for line in canvas.signs),
        tuple(tuple(line) for line in canvas.inks),
        painter.axis,
        left,
        painter.pitch,
        tuple(painter.drawn),
    )


class _Painter:
    """Draws an overview on a canvas, part by part."""

    def __init__(
        self,
        canvas: _Canvas,
        left: int,
        room: int,
        height: int,
        glyphs: Glyphs,
        detour: Detour | None,
        hits: Sequence[int],
    ) -> None:
        self.canvas = canvas
        self.left = left
        self.room = room
        self.height = height
        self.glyphs = glyphs
        self.detour = detour
        self.hits = hits
        self.pitch = (1, 1)
        self.gaps = False
        self.axis = Axis(0, 0)
        self.forks: dict[int, Fork] = {}
        """Branches by the cell where they leave the axis."""
        self.more = ""
        """The number of branches that are not drawn, as text."""
        self.drawn: list[tuple[range, SideBranch]] = []

    def fit(self, overview: Overview) -> None:
        """Chooses the distance of columns: with gaps where there is room for path and branches, else without."""
        self.overview = overview
        self.sample: Sample = overview.resample(self.room)
        extent = self.sample.extent if self.height > 2 else len(overview)
        widest = max(len(overview), extent if extent <= self.room else 0)
        self.gaps = self.height > 1 and 2 * widest - 1 <= self.room
        if self.gaps:
            self.pitch = (2, 1)
        elif self.height > 1 and widest < self.room:
            self.pitch = (self.room, widest)
        self.axis = self.sample.axis
        self.scale = max(_LEAST_SCALE, *self.sample.bars)
        self.last = self.x(len(overview) - 1)
        # A compaction in the last turn keeps its sign.
        self.leaf = self.last + (self.height == 1 or bool(self.sample.compacted[-1]))
        self.fork = self.last if self.detour is None else self.x(self.detour.turn)
        self.marks = self._marks()

    def x(self, turn: int) -> int:
        """The cell of a turn; the first one for entries before it."""
        return self.cell(self.axis.column(turn)) if turn >= 0 else self.left

    def cell(self, column: int) -> int:
        """The cell of a column, the first where it has two."""
        cells, columns = self.pitch
        return self.left + column * cells // columns

    def stays(self, x: int) -> bool:
        """Whether the content of a cell stays on the path."""
        if self.detour is None:
            return True
        return x <= self.fork and self.detour.turn >= 0

    def _marks(self) -> dict[int, tuple[str, _Ink]]:
        """Marks on the axis, by cell; the stronger mark of a column wins. A hit underlines a compaction."""
        glyphs, sample = self.glyphs, self.sample
        found: dict[int, tuple[str, _Ink]] = {}
        for column, failed in enumerate(sample.failed if self.height > 1 else b""):
            if failed:
                found[self.cell(column)] = (glyphs.error, "bad")
        for column, compactions in enumerate(sample.compacted):
            if compactions:
                sign = glyphs.compaction if compactions == 1 else str(compactions)
                found[self.cell(column)] = (sign, "memory")
        for column in range(self.axis.columns):
            span = self.axis.span(column)
            at = bisect_left(self.hits, span.start)
            if at < len(self.hits) and self.hits[at] < span.stop:
                x = self.cell(column)
                found[x] = (found[x][0], "hit") if sample.compacted[column] else (glyphs.crumb, "warn")
        if self.height > 1:
            found[self.leaf] = (glyphs.leaf, "leaf")
        return found

    def bars(self) -> None:
        """Draws the size of the context after each turn."""
        rows = 2 if self.height > 3 else 1
        for column, size in enumerate(self.sample.bars):
            x = self.cell(column)
            ink = "faint" if self.stays(x) else "edge"
            if rows == 1 and self.height == 1 and self.detour is not None and x == self.fork:
                ink = "ghost"
            for y, sign in enumerate(self.glyphs.column(size, self.scale, rows)):
                self.canvas.put(x, y, sign * (1 if self.gaps else self.cell(column + 1) - x), ink)
        if self.height == 1:
            for x, (sign, ink) in self.marks.items():
                if ink == "warn":
                    # Where most turns have a hit, their signs would leave no bar.
                    sign, ink = self.canvas.signs[0][x], "hit"
                self.canvas.put(x, 0, sign, ink)
            self.canvas.put(self.leaf, 0, self.glyphs.leaf, "leaf")

    def line(self, y: int) -> None:
        """Draws the path: heavy as far as it stays, dashed where it would be dropped, with its marks."""
        canvas, glyphs, detour = self.canvas, self.glyphs, self.detour
        for x in range(self.left, self.last + 1):
            stays = self.stays(x)
            canvas.put(x, y, glyphs.axis if stays else glyphs.axis_left, "leaf" if stays else "faint")
        for x in self.forks:
            canvas.put(x, y, glyphs.axis_branch, "leaf" if self.stays(x) else "faint")
        for x, (sign, ink) in self.marks.items():
            canvas.put(x, y, sign, ink)
        if detour is None:
            return
        if not detour.entered:
            self._arrive(self.fork, y)
            return
        if self.fork < self.last:
            canvas.put(self.fork, y, glyphs.axis_taken, "ghost")
        if self.height == 2:
            # There is no line for branches: the entered turns stand on the axis, in place of the turns they replace.
            end = self._end(detour.turn + detour.entered, self.fork)
            canvas.put(self.fork + 1, y, glyphs.arm_taken * (end - self.fork - 1), "ghost")
            canvas.put(self.leaf, y, glyphs.leaf, "leaf")
            self._arrive(end, y)

    def _arrive(self, x: int, y: int) -> None:
        """Draws the destination of a move on the axis; the leaf itself is never covered."""
        if x != self.leaf:
            self.canvas.put(x, y, self.glyphs.prompt, "ghost")

    def _end(self, turn: int, after: int) -> int:
        """The cell of a tip: that of its turn, right of the start of its branch, and on the screen."""
        return min(max(self.x(turn), after + 1), self.left + self.room - 1)

    def choose(self) -> None:
        """Chooses the branches to draw: all, or the longest where turns share columns and many columns have branches."""
        self.forks = {self.cell(column): fork for column, fork in self.sample.forks.items()}
        if not self.axis.shared or len(self.forks) <= self.axis.columns // _CROWDED:
            return
        self.more = f"  {exact(len(self.overview.hanging))} more"
        edge = self.left + self.room - len(self.more)
        free = bytearray(b"\1" * max(0, edge + 1))
        chosen: dict[int, Fork] = {}
        for x in sorted(self.forks, key=lambda x: (-len(self.forks[x].longest.heads), x)):
            fork = self.forks[x]
            stop = min(self._end(fork.longest.end, x) + 2, len(free))
            if x < edge and free.count(1, x, stop) == stop - x:
                free[x:stop] = bytes(stop - x)
                chosen[x] = fork._replace(number=1)
        self.forks = chosen
        unseen = f"{exact(len(self.overview.hanging) - len(chosen))} more"
        self.more = unseen.rjust(len(self.more))

    def branches(self, y: int) -> None:
        """Draws each branch below its turn, cut with dashes where the next one begins."""
        canvas, glyphs, detour = self.canvas, self.glyphs, self.detour
        edge = self.left + self.room - len(self.more)
        canvas.put(edge, y, self.more, "faint")
        taken = range(0)
        end = tip = self.fork
        if detour is not None and detour.entered:
            end = self._end(detour.turn + detour.entered, self.fork)
            tip = self._end(detour.turn + detour.entered + detour.beyond, end) if detour.beyond else end
            taken = range(self.fork, tip + 1)
        places = [x for x in sorted(self.forks) if x not in taken and x < edge]
        for number, x in enumerate(places):
            longest, leaving = self.forks[x]
            behind = [start for start in (*places[number + 1 : number + 2], *taken[:1]) if start > x]
            room = min([edge, *(start - 1 for start in behind)]) - x
            self._hang(x, y, longest, leaving - 1, room)
        if taken:
            canvas.put(self.fork, y, glyphs.drop_taken + glyphs.arm_taken * (end - self.fork - 1), "ghost")
            canvas.put(end, y, glyphs.prompt, "ghost")
            if tip > end:
                canvas.put(end + 1, y, glyphs.arm * (tip - end - 1), "faint")
                canvas.put(tip, y, glyphs.prompt_off, "sub")
            if self.fork in self.forks:
                self.drawn.append((taken, self.forks[self.fork].longest))

    def _hang(self, x: int, y: int, branch: SideBranch, others: int, room: int) -> None:
        """Draws one branch, and the number of the others at the same place."""
        glyphs = self.glyphs
        length = max(1, self.x(branch.end) - x)
        if length < room:
            text = glyphs.drop + glyphs.arm * (length - 1)
            self.canvas.put(x, y, text, "faint")
            self.canvas.put(x + length, y, glyphs.prompt_off, "sub")
            more = f"+{others}"
            if others and length + 1 + len(more) <= room:
                self.canvas.put(x + length + 1, y, more, "faint")
        else:
            self.canvas.put(x, y, (glyphs.drop + glyphs.dashes * (room - 1))[: max(1, room)], "faint")
        self.drawn.append((range(x, x + max(1, min(length + 1, room))), branch))
