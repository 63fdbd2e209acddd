"""The lines of a layout on show: folded runs and branches, or a filter with stubs for hidden rows. Pure.

A fold or a filter never touches the layout. Folding counts visible lines per piece (a run of plain rows, or one
landmark) and keeps their prefix sums, so a line is found by bisection however long the session is.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import accumulate, compress, islice
from typing import TYPE_CHECKING, NamedTuple, Protocol

from leafward.session.entries import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from leafward.session.tree.tree_layout import Layout


class LineKind(Enum):
    """The kinds of lines on show."""

    ROW = auto()
    FOLDED_RUN = auto()
    FOLDED_BRANCH = auto()
    ARCHIVED = auto()
    """An archived branch: one line with a count."""
    HIDDEN = auto()
    """A stub for rows that a filter hides."""

    @property
    def is_fold(self) -> bool:
        """Whether rows are folded away behind it."""
        return self in (LineKind.FOLDED_RUN, LineKind.FOLDED_BRANCH, LineKind.ARCHIVED)


class ShownLine(NamedTuple):
    """One line on show."""

    kind: LineKind
    row: int
    """Its row; the first of several."""
    rows: int = 1
    """Number of its rows."""


class Lines(Protocol):
    """Lines of a layout that are on show."""

    layout: Layout
    lanes: int
    """Lanes that the lines on show need."""

    def __len__(self) -> int: ...

    def line(self, y: int) -> ShownLine:
        """The line at a height, 0 at the top."""

    def y_of(self, row: int) -> int:
        """The line of a row; the line of its fold or stub where it is folded or hidden. -1 in an empty layout."""


@dataclass(slots=True)
class Folds:
    """The folds, by entries, so that they outlive a new layout."""

    runs: set[int] = field(default_factory=set)
    """Entries that the first row of a folded run begins with."""
    branches: set[int] = field(default_factory=set)
    """First entries of folded branches."""
    divides: set[int] = field(default_factory=set)
    """First entries of rows at which a long run is divided: its older part is folded, its newer one is not."""


class Pieces:
    """A layout cut at its landmarks: runs of plain rows that can be folded, and rows that cannot."""

    def __init__(
        self, layout: Layout, landmarks: Collection[int] = (), divides: Collection[int] = ()
    ) -> None:
        """`landmarks` are rows of their own, `divides` rows at which a run is divided."""
        self.layout = layout
        fixed = {*layout.landmarks, *(row for row in landmarks if row >= 0)}
        cuts = {0}
        cuts.update(fixed)
        cuts.update(row + 1 for row in fixed)
        cuts.update(row for row in divides if row >= 0)
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
        self.run_at = {
            layout.head[first]: piece
            for piece, (first, count) in enumerate(zip(self.first, self.count, strict=True))
            if count > 1
        }
        """The foldable piece that begins with an entry."""
        self.branch_at = {branch.first_entry: number for number, branch in enumerate(layout.branches)}
        """The branch that begins with an entry."""
        rows = self.first.tolist()  # an array makes a number at each step
        self.branch_first: array[int] = array(
            "i", [bisect_left(rows, branch.first_row) for branch in layout.branches]
        )
        """The first piece of each branch."""
        self.branch_stop: array[int] = array("i", [bisect_left(rows, row) for row in layout.branch_rows])
        """The piece after each branch's last, its own branches included."""
        self.lane: array[int] = array("i", self._lanes())
        """The lane of each piece."""

    def _lanes(self) -> Iterator[int]:
        layout = self.layout
        lane_of = [branch.lane for branch in layout.branches]
        stretches = zip(layout.stretch_row, layout.stretch_branch, strict=True)
        following, lane = next(stretches, (0, 0))[0], 0
        next_lane = lane_of[layout.stretch_branch[0]] if lane_of else 0
        for row in self.first:
            while following <= row:
                lane = next_lane
                following, branch = next(stretches, (len(layout), 0))
                next_lane = lane_of[branch]
            yield lane

    def of_row(self, row: int) -> int:
        """The piece a row lies in."""
        return bisect_right(self.first, row) - 1

    def foldable(self, piece: int) -> bool:
        """Whether a piece is a run of several plain rows."""
        return self.count[piece] > 1


class FoldedLines:
    """The lines that folds leave on show."""

    def __init__(self, pieces: Pieces, folds: Folds, archived: Collection[int] = ()) -> None:
        self.layout = layout = pieces.layout
        self.pieces = pieces
        counts = array("i", pieces.count)
        self.folded: dict[int, LineKind] = {}
        for entry in folds.runs:
            piece = pieces.run_at.get(entry, -1)
            if piece < 0:  # folded when rows stood for something else
                row = layout.row_of(entry)
                piece = pieces.of_row(row)
                if row < 0 or pieces.first[piece] != row or not pieces.foldable(piece):
                    continue
            counts[piece] = 1
            self.folded[piece] = LineKind.FOLDED_RUN
        branch_at = pieces.branch_at
        put_away = {branch_at[entry] for entry in archived if entry in branch_at}
        closed = {branch_at[entry] for entry in folds.branches if entry in branch_at}
        # In ascending order: a branch inside a folded one comes after it, and has no line of its own.
        for branch in sorted(put_away | closed):
            first, stop = pieces.branch_first[branch], pieces.branch_stop[branch]
            if counts[first] == 0:
                continue
            if branch in put_away:
                self.folded[first] = LineKind.ARCHIVED
            elif layout.branch_rows[branch] - layout.branches[branch].first_row > 1:
                self.folded[first] = LineKind.FOLDED_BRANCH
            else:
                continue
            if stop - first > 1:
                counts[first:stop] = array("i", bytes(4 * (stop - first)))
            counts[first] = 1
        self.counts = counts
        self.until: array[int] = array("i", accumulate(counts))
        """Lines up to and including each piece."""
        self.lanes = 1 + max(compress(pieces.lane, counts), default=0)

    def __len__(self) -> int:
        return self.until[-1] if self.until else 0

    def line(self, y: int) -> ShownLine:
        """The line at a height, 0 at the top."""
        piece = bisect_right(self.until, y)
        row = self.pieces.first[piece]
        folded = self.folded.get(piece)
        if folded is LineKind.FOLDED_RUN:
            return ShownLine(folded, row, self.pieces.count[piece])
        if folded is not None:
            branch = self.layout.branch_of(row)
            return ShownLine(folded, row, self.layout.branch_rows[branch] - row)
        return ShownLine(LineKind.ROW, row + y - self.until[piece] + self.counts[piece])

    def y_of(self, row: int) -> int:
        """The line of a row; the line of its fold where it is folded. -1 in an empty layout."""
        if not self.until:
            return -1
        piece = self.pieces.of_row(row)
        if self.counts[piece] == 0 or piece in self.folded:
            return max(0, self.until[piece] - 1)
        return self.until[piece] - self.counts[piece] + row - self.pieces.first[piece]


class FilteredLines:
    """The lines that a filter leaves on show, each gap as one stub with its count.

    Two bytes a row hold everything: whether it is on show, and whether it has a line, as the first row of a gap has too.
    """

    def __init__(
        self,
        layout: Layout,
        rows: Iterable[int] = (),
        shown: bytes | None = None,
        archived: Iterable[int] = (),
    ) -> None:
        """Shows some rows; `shown` holds the same as a byte for each row, 1 or 0.

        An `archived` branch, by its number, with any row on show gets one line with the number of its rows.
        """
        if shown is None:
            mask = bytearray(len(layout))
            for row in rows:
                mask[row] = 1
            shown = bytes(mask)
        self.layout = layout
        shown, self._archived = _put_away(layout, shown, archived)
        self._shown = shown
        # A row has a line if it is on show itself or the row before is; as big integers, that is one operation for all
        # rows.
        number = int.from_bytes(shown, "little")
        lined = (number | number << 8 | 1).to_bytes(len(shown) + 1, "little")
        self._lined = self._without_gaps(lined[: len(shown)])
        self._before: array[int] = array("i", [0])
        """Lines before each block of rows, and at the end all of them."""
        for start in range(0, len(shown), _BLOCK):
            self._before.append(self._before[-1] + self._lined.count(1, start, start + _BLOCK))
        self.lanes = 1 + max(self._lanes(), default=0)

    def _without_gaps(self, lined: bytes) -> bytes:
        """The lines without those for the rest of an archived branch; a gap after one has a line of its own."""
        if not self._archived:
            return lined
        changed = bytearray(lined)
        for first, count in self._archived.items():
            if count > 1:
                changed[first + 1] = 0
            if first + count < len(changed):
                changed[first + count] = 1
        return bytes(changed)

    def _lanes(self) -> Iterator[int]:
        layout, find = self.layout, self._shown.find
        stops = [*layout.stretch_row[1:], len(layout)]
        for first, stop, branch in zip(layout.stretch_row, stops, layout.stretch_branch, strict=False):
            if find(1, first, stop) >= 0:
                yield layout.branches[branch].lane

    def __len__(self) -> int:
        return self._before[-1]

    def line(self, y: int) -> ShownLine:
        """The line at a height, 0 at the top."""
        y = range(len(self))[y]
        block = bisect_right(self._before, y) - 1
        rows = range(block * _BLOCK, min((block + 1) * _BLOCK, len(self._shown)))
        lined = compress(rows, self._lined[rows.start : rows.stop])
        row = next(islice(lined, y - self._before[block], None))
        if row in self._archived:
            return ShownLine(LineKind.ARCHIVED, row, self._archived[row])
        if self._shown[row]:
            return ShownLine(LineKind.ROW, row)
        following = self._shown.find(1, row)
        return ShownLine(LineKind.HIDDEN, row, (following if following >= 0 else len(self._shown)) - row)

    def y_of(self, row: int) -> int:
        """The line of a row; that of the nearest row above on show where it is hidden, else the first below."""
        at = self._shown.rfind(1, 0, row + 1)
        if at < 0:
            at = self._shown.find(1)
        if at < 0:
            return len(self) - 1
        block = at // _BLOCK
        return self._before[block] + self._lined.count(1, block * _BLOCK, at)


def _put_away(layout: Layout, shown: bytes, archived: Iterable[int]) -> tuple[bytes, dict[int, int]]:
    """`shown` with one row for each archived branch that has any on show; and the number of rows of each, by its first."""
    mask, counts, stop = bytearray(shown), dict[int, int](), 0
    for branch in sorted(archived):
        first = layout.branches[branch].first_row
        # A branch inside an archived one comes after it, and has no line of its own.
        if first >= stop and shown.find(1, first, layout.branch_rows[branch]) >= 0:
            stop = layout.branch_rows[branch]
            counts[first] = stop - first
            mask[first:stop] = bytes(stop - first)
            mask[first] = 1
    return (bytes(mask), counts) if counts else (shown, counts)


_BLOCK = 512
"""Rows whose lines are counted together."""


def opening_folds(pieces: Pieces, height: int) -> Folds:
    """The folds of a session that is opened: none if all of it fits, else other branches and old long runs.

    The newest turns of the active path, as many as fit in `height` lines, stay open; a long run of which only some fit
    is divided.
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
    above = sum(map(_folded_size, lines.counts[: piece + 1]))
    while piece >= 0:
        above -= _folded_size(lines.counts[piece])
        if lines.counts[piece]:
            rows = pieces.count[piece] if piece not in lines.folded else 1
            if rows >= _WORTH_FOLDING and rows > left:
                folds.runs.add(layout.head[pieces.first[piece]])
                open_rows = _open_rows(pieces, piece, left, above)
                if open_rows:
                    folds.divides.add(layout.head[pieces.first[piece] + rows - open_rows])
                rows = 1 + open_rows
            left -= rows
        piece -= 1
    return folds


def _folded_size(count: int) -> int:
    """Lines of a piece after folding, where that is worth it."""
    return 1 if count >= _WORTH_FOLDING else count


def _open_rows(pieces: Pieces, piece: int, left: int, above: int) -> int:
    """Rows at the end of a run that stay open in `left` lines, with the lines above it if these fit too; 0 of a short run."""
    rows, newest = pieces.count[piece], pieces.layout.head[pieces.first[piece] + pieces.count[piece] - 1]
    if pieces.layout.tree.kind[newest] == Kind.COMPACTION:
        # Compactions that follow each other in one turn: the last shows no more than the first.
        return 0
    room = left - 1 - (above if left - 1 - above >= _WORTH_FOLDING else 0)
    room = min(room, rows - _WORTH_FOLDING)
    return room if rows >= _WORTH_DIVIDING and room >= _WORTH_FOLDING else 0


_WORTH_FOLDING = 3
_WORTH_DIVIDING = 8
"""Rows of a run below which it is folded whole."""
