"""Which rows of a layout are on show: folded runs and branches, or a filter with stubs for what it hides. Pure.

A fold or a filter never touches the layout. Folding counts visible lines per piece (a run of plain rows, or one landmark)
and keeps their prefix sums, so a line is found by bisection however long the session is.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import accumulate, compress
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from leafward_tui.graph import Layout


class LineKind(Enum):
    """What a line on show is."""

    ROW = auto()
    FOLDED_RUN = auto()
    FOLDED_BRANCH = auto()
    ARCHIVED = auto()
    """A branch put away: one line with a count."""
    HIDDEN = auto()
    """A stub for rows that a filter leaves out."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line on show."""

    kind: LineKind
    row: int
    """Its row; the first one it stands for."""
    rows: int = 1
    """Rows it stands for."""


class Lines(Protocol):
    """Lines of a layout that are on show."""

    layout: Layout
    lanes: int
    """Lanes that the lines on show need."""

    def __len__(self) -> int: ...

    def line(self, y: int) -> Line:
        """The line at a height, 0 at the top."""

    def y_of(self, row: int) -> int:
        """The line a row is on; the one that stands for it where it is folded or hidden. -1 in an empty layout."""


@dataclass(slots=True)
class Folds:
    """What is folded, by entries, so that it outlives a new layout."""

    runs: set[int] = field(default_factory=set)
    """Entries that the first row of a folded run begins with."""
    branches: set[int] = field(default_factory=set)
    """First entries of folded branches."""


class Pieces:
    """A layout cut at its landmarks: runs of plain rows that can be folded, and rows that cannot."""

    def __init__(self, layout: Layout, landmarks: Collection[int] = ()) -> None:
        self.layout = layout
        fixed = {*layout.landmarks, *(row for row in landmarks if row >= 0)}
        cuts = {0}
        cuts.update(fixed)
        cuts.update(row + 1 for row in fixed)
        branch = -1
        for row, of in zip(layout.stretch_row, layout.stretch_branch, strict=True):
            if of != branch:
                cuts.add(row)
                branch = of
        cuts.discard(len(layout))
        self.first: array[int] = array("i", sorted(cuts)) if len(layout) else array("i")
        """First row of each piece."""
        stops = [*self.first[1:], len(layout)]
        self.count: array[int] = array(
            "i", [stop - first for first, stop in zip(self.first, stops, strict=False)]
        )
        self.fixed = fixed

    def of_row(self, row: int) -> int:
        """The piece a row lies in."""
        return bisect_right(self.first, row) - 1

    def foldable(self, piece: int) -> bool:
        """Whether a piece is a run of several plain rows."""
        return self.count[piece] > 1

    def of_branch(self, branch: int) -> range:
        """The pieces of a branch and of all that leaves it."""
        layout = self.layout
        first, stop = layout.branches[branch].first_row, layout.branch_rows[branch]
        return range(bisect_left(self.first, first), bisect_left(self.first, stop))


class FoldedLines:
    """The lines that folds leave on show."""

    def __init__(self, pieces: Pieces, folds: Folds, archived: Collection[int] = ()) -> None:
        self.layout = layout = pieces.layout
        self.pieces = pieces
        counts = array("i", pieces.count)
        self.folded: dict[int, LineKind] = {}
        for entry in folds.runs:
            row = layout.row_of(entry)
            piece = pieces.of_row(row)
            if row >= 0 and pieces.first[piece] == row and pieces.count[piece] > 1:
                counts[piece] = 1
                self.folded[piece] = LineKind.FOLDED_RUN
        if folds.branches or archived:
            for branch, value in enumerate(layout.branches):
                put_away = value.first_entry in archived
                if put_away or (
                    value.first_entry in folds.branches and layout.branch_rows[branch] - value.first_row > 1
                ):
                    span = pieces.of_branch(branch)
                    if counts[span.start] == 0:
                        continue
                    counts[span.start : span.stop] = array("i", bytes(4 * len(span)))
                    counts[span.start] = 1
                    self.folded[span.start] = LineKind.ARCHIVED if put_away else LineKind.FOLDED_BRANCH
        self.counts = counts
        self.until: array[int] = array("i", accumulate(counts))
        """Lines up to and including each piece."""
        shown = compress(pieces.first, counts)
        self.lanes = 1 + max((layout.lane_of(row) for row in shown), default=0)

    def __len__(self) -> int:
        return self.until[-1] if self.until else 0

    def line(self, y: int) -> Line:
        """The line at a height, 0 at the top."""
        piece = bisect_right(self.until, y)
        row = self.pieces.first[piece]
        folded = self.folded.get(piece)
        if folded is LineKind.FOLDED_RUN:
            return Line(folded, row, self.pieces.count[piece])
        if folded is not None:
            branch = self.layout.branch_of(row)
            return Line(folded, row, self.layout.branch_rows[branch] - row)
        return Line(LineKind.ROW, row + y - self.until[piece] + self.counts[piece])

    def y_of(self, row: int) -> int:
        """The line a row is on; the fold that stands for it where it is folded. -1 in an empty layout."""
        if not self.until:
            return -1
        piece = self.pieces.of_row(row)
        if self.counts[piece] == 0 or piece in self.folded:
            return max(0, self.until[piece] - 1)
        return self.until[piece] - self.counts[piece] + row - self.pieces.first[piece]


class FilteredLines:
    """The lines that a filter leaves on show, each gap as one stub with its count."""

    def __init__(self, layout: Layout, rows: Iterable[int]) -> None:
        self.layout = layout
        items = array("i")
        before = -1
        self.matches = 0
        for row in rows:
            if row > before + 1:
                items.append(before - row + 1)
            items.append(row)
            before = row
            self.matches += 1
        if before < len(layout) - 1:
            items.append(before - len(layout) + 1)
        self.items = items
        """Rows, and below zero how many rows a stub stands for."""
        self._rows: array[int] = array("i", [row for row in items if row >= 0])
        self._heights: array[int] = array("i", [y for y, row in enumerate(items) if row >= 0])
        self.lanes = 1 + max((layout.lane_of(row) for row in self._rows), default=0)

    def __len__(self) -> int:
        return len(self.items)

    def line(self, y: int) -> Line:
        """The line at a height, 0 at the top."""
        item = self.items[y]
        if item >= 0:
            return Line(LineKind.ROW, item)
        first = self.items[y - 1] + 1 if y else 0
        return Line(LineKind.HIDDEN, first, -item)

    def y_of(self, row: int) -> int:
        """The line a row is on; the nearest row above that is on show where it is hidden, else the first below."""
        at = bisect_right(self._rows, row) - 1
        if at < 0:
            return self._heights[0] if self._heights else len(self.items) - 1
        return self._heights[at]


def opening_folds(pieces: Pieces, height: int) -> Folds:
    """What is folded when a session is opened: nothing if all of it fits, else other branches and old long runs.

    The newest turns of the active path, as many as fit in `height` lines, stay open.
    """
    layout = pieces.layout
    folds = Folds()
    if len(layout) <= height:
        return folds
    for branch, value in enumerate(layout.branches):
        if not layout.on_path(value.first_entry) and layout.branch_rows[branch] - value.first_row > 1:
            folds.branches.add(value.first_entry)
    left = height
    row = layout.row_of(layout.leaf)
    piece = pieces.of_row(row) if row >= 0 else -1
    lines = FoldedLines(pieces, folds)
    while piece >= 0:
        if lines.counts[piece]:
            rows = pieces.count[piece] if piece not in lines.folded else 1
            if rows >= _WORTH_FOLDING and rows > left:
                folds.runs.add(layout.head[pieces.first[piece]])
                rows = 1
            left -= rows
        piece -= 1
    return folds


_WORTH_FOLDING = 3
