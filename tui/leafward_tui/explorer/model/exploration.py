"""The rows of a session on show, and steps among them; no widget, so that every step is tested without a screen."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import PROMPTS, SUMMARIES, Kind
from leafward.session.tree.density import Density
from leafward.session.tree.tree_layout import Layout, arrange
from leafward_tui.explorer.model.folds import (
    FilteredLines,
    FoldedLines,
    Folds,
    LineKind,
    Lines,
    Pieces,
    ShownLine,
    opening_folds,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from leafward.files.file_replay.steps import ReplayStep
    from leafward.session.session import Session


class Filter(StrEnum):
    """The choices of rows on show. All but the first two leave stubs for hidden rows."""

    CONVERSATION = "conversation"
    """Everything but bookkeeping: the default."""
    ALL = "all"
    """Bookkeeping too, one row an entry."""
    NO_TOOLS = "no tools"
    PROMPTS = "prompts only"
    LABELLED = "labelled"
    COMPACTIONS = "compactions"
    ERRORS = "errors"
    EDITS = "edits"
    CHOSEN = "query"


BY_ENTRY = frozenset({Filter.ALL, Filter.NO_TOOLS})
"""Filters about entries: while one is on, a row is an entry."""


class Findings(NamedTuple):
    """Entries known to fail, to edit files and to say nothing themselves; the filters rely on them."""

    failed: Collection[int] = ()
    edits: Collection[int] = ()
    silent: bytes | bytearray | None = None
    """A byte for each entry: replies without text whose calls have results."""
    archived: Collection[int] = ()
    """First entries of archived branches."""
    edited: Sequence[int] = ()
    """Entries that context edits change for the model, ascending."""


class _Laid(NamedTuple):
    """A layout, kept for when a filter is cleared."""

    arranged_by: tuple[object, ...]
    """All that the layout depends on; first the tree, which is a new one after every change of the session."""
    divided_by: tuple[object, ...]
    """The other values that its pieces depend on."""
    layout: Layout
    pieces: Pieces

    def fits(self, session: Session) -> bool:
        return self.arranged_by[0] is session.tree


class Exploration:
    """A session laid out, folded and filtered; where the rows of branches, marks and hits are."""

    def __init__(
        self,
        session: Session,
        density: Density = Density.TURNS,
        height: int = 24,
        findings: Findings | None = None,
    ) -> None:
        self.session = session
        self._scan = session.scan
        self.density = density
        self.height = height
        self.filter = Filter.CONVERSATION
        self.findings = findings or Findings()
        self.folds: Folds | None = None
        self.opened: set[int] = set()
        """Archived branches that were opened."""
        self.mark = -1
        """The marked entry."""
        self.chosen: Collection[int] = ()
        """Entries that the filter by a query shows."""
        self.touching: Sequence[ReplayStep] = ()
        """The steps of the file whose timeline that filter shows; empty where it shows something else."""
        self._laid: list[_Laid] = []
        self.lay_out()

    @property
    def is_outdated(self) -> bool:
        """Whether the session's file was rewritten and read again meanwhile, so that its entries are others."""
        return self.session.scan is not self._scan

    # --- content ------------------------------------------------------------------------------------------------------

    def lay_out(self) -> None:
        """Lays the rows out again where growth, a move, or another density or filter changes them."""
        session = self.session
        density = Density.ENTRIES if self.filter in BY_ENTRY else self.density
        everything = self.filter is Filter.ALL
        dropped = self.findings.silent if density is Density.ENTRIES else None
        divides = self.folds.divides if self.folds is not None else set()
        arranged_by = (session.tree, session.leaf, density, everything, dropped)
        divided_by = (tuple(session.labels), self.mark, frozenset(divides))
        alike = [laid for laid in self._laid if laid.arranged_by == arranged_by]
        laid = next((laid for laid in alike if laid.divided_by == divided_by), None)
        if laid is None:
            layout = (
                alike[0].layout
                if alike
                else arrange(session.tree, session.leaf, density, everything=everything, dropped=dropped)
            )
            landmarks = [layout.row_of(entry) for entry in (*session.labels, layout.leaf)]
            if self.mark >= 0:
                landmarks.append(layout.row_of(self.mark))
            divided = [
                row for entry in divides if (row := layout.row_of(entry)) >= 0 and layout.head[row] == entry
            ]
            laid = _Laid(arranged_by, divided_by, layout, Pieces(layout, landmarks, divided))
        self._laid = [laid, *(other for other in self._laid if other is not laid and other.fits(session))][
            :_KEPT
        ]
        self.layout: Layout = laid.layout
        self.pieces = laid.pieces
        self._points: list[int] | None = None
        """Rows from which branches leave; None until they are asked for, as the next."""
        self._firsts: dict[int, list[int]] | None = None
        """First rows of the branches that leave each branch."""
        if self.folds is None:
            self.folds = opening_folds(self.pieces, self.height)
            if self.folds.divides:
                self.lay_out()
                return
        self.fold_again()

    def fold_again(self) -> None:
        """Applies folds and filter again; the layout stays."""
        folds = self.folds or Folds()
        on_path = self.layout.on_path  # the leaf may have moved into an archived branch
        archived = {entry for entry in self.findings.archived if not on_path(entry)} - self.opened
        self.lines: Lines
        if self.folds_rows:
            self.lines = FoldedLines(self.pieces, folds, archived)
        else:
            branch_at = self.pieces.branch_at
            put_away = [branch_at[entry] for entry in archived if entry in branch_at]
            passing = _PASSING.get(self.filter)
            if passing is not None:
                kinds = bytes(map(self.layout.tree.kind.__getitem__, self.layout.head))
                self.lines = FilteredLines(self.layout, shown=kinds.translate(passing), archived=put_away)
            else:
                self.lines = FilteredLines(self.layout, self._rows_passing(), archived=put_away)

    def _rows_passing(self) -> Iterable[int]:
        layout = self.layout
        entries: Collection[int] = {
            Filter.LABELLED: self.session.labels.keys(),
            Filter.ERRORS: self.findings.failed,
            Filter.EDITS: self.findings.edits,
            Filter.CHOSEN: self.chosen,
        }[self.filter]
        rows = {layout.row_of(entry) for entry in entries}
        rows.discard(-1)
        return sorted(rows)

    # --- folding ------------------------------------------------------------------------------------------------------

    @property
    def folds_rows(self) -> bool:
        """Whether rows can be folded: the rows of a filter cannot."""
        return self.filter in (Filter.CONVERSATION, Filter.ALL)

    def unfold(self, line: ShownLine) -> bool:
        """Unfolds a line; False where it is no fold."""
        if not line.kind.is_fold:
            return False
        folds = self.folds or Folds()
        first = self.layout.branches[self.layout.branch_of(line.row)].first_entry
        if line.kind is LineKind.FOLDED_RUN:
            self._unfold_run(folds, line.row)
        elif line.kind is LineKind.FOLDED_BRANCH:
            folds.branches.discard(first)
        else:
            self.opened.add(first)
        self.folds = folds
        self.fold_again()
        return True

    def fold(self, line: ShownLine) -> int:
        """Folds the run of rows around a line, else its branch; the row of the fold, -1 where nothing can be folded."""
        if line.kind is not LineKind.ROW or not self.folds_rows:
            return -1
        folds = self.folds or Folds()
        layout, pieces = self.layout, self.pieces
        row, branch = line.row, layout.branch_of(line.row)
        value = layout.branches[branch]
        if (piece := pieces.of_row(row)) >= 0 and pieces.foldable(piece) and row != value.first_row:
            row = pieces.first[piece]
            folds.runs.add(layout.head[row])
        elif not layout.on_path(value.first_entry) and layout.branch_rows[branch] - value.first_row > 1:
            row = value.first_row
            folds.branches.add(value.first_entry)
            self.opened.discard(value.first_entry)
        else:
            return -1
        self.folds = folds
        self.fold_again()
        return row

    def fold_everything(self) -> bool:
        """Unfolds all if anything is folded, else folds all that can be folded; False where nothing can be."""
        if not self.folds_rows:
            return False
        before = self.folds or Folds()
        self.folds = Folds()
        self.lay_out()
        if not before.runs and not before.branches:
            self.folds = opening_folds(self.pieces, 0)
        if self.folds == before:
            return False
        self.fold_again()
        return True

    def _unfold_run(self, folds: Folds, row: int) -> bool:
        """Unfolds the run that begins with a row, however it was folded; False where it is open."""
        if self.folds_rows and self.lines.line(self.lines.y_of(row)).kind is LineKind.ROW:
            return False
        folded = {entry for entry in folds.runs if self.layout.row_of(entry) == row}
        folds.runs -= folded
        return bool(folded)

    def reveal(self, row: int, *, whole: bool = False) -> bool:
        """Unfolds the folds that hide a row, with `whole` also a branch that begins with it; False where there were none."""
        folds = self.folds or Folds()
        layout, pieces = self.layout, self.pieces
        changed = self._unfold_run(folds, pieces.first[pieces.of_row(row)])
        branch = layout.branch_of(row)
        while branch >= 0:
            value = layout.branches[branch]
            if (whole or row != value.first_row) and value.first_entry in folds.branches:
                folds.branches.discard(value.first_entry)
                changed = True
            if value.first_entry in self.findings.archived and value.first_entry not in self.opened:
                self.opened.add(value.first_entry)
                changed = True
            row, branch = value.first_row, value.above
        if changed:
            self.fold_again()
        return changed

    def hidden(self, row: int) -> bool:
        """Whether a row is folded away, or left out by the filter."""
        y = self.lines.y_of(row)
        line = self.lines.line(y) if y >= 0 else None
        return line is None or line.row != row or line.kind is LineKind.HIDDEN

    # --- where to go --------------------------------------------------------------------------------------------------

    def target(self, line: ShownLine) -> int:
        """The entry that the leaf would move to from a line: the last entry of the line's rows."""
        layout = self.layout
        if line.kind is LineKind.FOLDED_RUN:
            return layout.last_entry_of(line.row + line.rows - 1)
        if line.kind in (LineKind.FOLDED_BRANCH, LineKind.ARCHIVED):
            return layout.last_entry_of(self.last_row(layout.branch_of(line.row)))
        return layout.last_entry_of(line.row)

    def end_of(self, entry: int) -> int:
        """The last entry of the row that begins with an entry, as a move to it would take it."""
        row = self.layout.row_of(entry)
        return self.layout.last_entry_of(row) if row >= 0 else entry

    def on_path(self, line: ShownLine | None) -> bool:
        """Whether a line is on the path to the leaf."""
        shown = line is not None and line.kind is not LineKind.HIDDEN
        return line is not None and shown and self.layout.on_path(self.target(line))

    def on_compaction(self, line: ShownLine | None) -> bool:
        """Whether a line is a compaction, or a context edit."""
        if line is None or line.kind is not LineKind.ROW:
            return False
        return self.layout.tree.kind[self.layout.head[line.row]] in (Kind.COMPACTION, Kind.CONTEXT_EDIT)

    def last_row(self, branch: int) -> int:
        """The tip of a branch: its own last row."""
        return self.layout.own_row_before(branch, self.layout.branch_rows[branch])

    def child(self, row: int) -> int:
        """The next row of the same branch; the row itself at the tip."""
        after = self.layout.own_row_from(self.layout.branch_of(row), row + 1)
        return after if after >= 0 else row

    def parent(self, row: int) -> int:
        """The row above in the same branch, or the one the branch leaves from; the row itself at the root."""
        layout = self.layout
        branch = layout.branch_of(row)
        value = layout.branches[branch]
        if row == value.first_row:
            return layout.row_of(value.leaves_at) if value.leaves_at >= 0 else row
        return layout.own_row_before(branch, row)

    def sibling(self, row: int, step: int) -> int:
        """The row as far down the next or previous branch of the nearest branch point above, around the end.

        The continuation of the path counts as one of its branches; at the top, so do the trees of a file with several
        roots.
        """
        ways = self._ways(row)
        if len(ways) < 2:
            return row
        here = bisect_right(ways, row) - 1
        depth = 0
        at = ways[here]
        while at != row and depth < _FAR:
            at, depth = self.child(at), depth + 1
        to = ways[(here + step) % len(ways)]
        for _ in range(depth):
            further = self.child(to)
            if further == to:
                break
            to = further
        return to

    def _ways(self, row: int) -> list[int]:
        """First rows of all branches at the nearest branch point above a row, in display order, the continuation last."""
        layout = self.layout
        branch = layout.branch_of(row)
        above = layout.branches[branch].above

        def point_of(first: int) -> int:
            return layout.row_of(layout.branches[layout.branch_of(first)].leaves_at)

        firsts = self._leaving(branch)
        if before := bisect_left(firsts, row):
            point = point_of(firsts[before - 1])
        elif above >= 0:
            point, firsts = layout.row_of(layout.branches[branch].leaves_at), self._leaving(above)
        else:
            return self._leaving(-1)
        # A branch further down leaves from a row further down.
        start, stop = (side(firsts, point, key=point_of) for side in (bisect_left, bisect_right))
        onward = self.child(point)
        return [*firsts[start:stop], *([onward] if onward != point else ())]

    def _leaving(self, branch: int) -> list[int]:
        """First rows of the branches that leave a branch, ascending; those of all trees for -1."""
        if self._firsts is None:
            self._firsts = {}
            for value in self.layout.branches:
                self._firsts.setdefault(value.above, []).append(value.first_row)
        return self._firsts.get(branch, [])

    def branch_point(self, row: int, step: int) -> int:
        """The next row below, or above, from which a branch leaves; the row itself where there is none."""
        if self._points is None:
            layout = self.layout
            leaving = {value.leaves_at for value in layout.branches if value.leaves_at >= 0}
            self._points = sorted({layout.row_of(entry) for entry in leaving})
        points = self._points
        at = bisect_right(points, row) if step > 0 else bisect_left(points, row) - 1
        return points[at] if 0 <= at < len(points) else row

    def turn_of(self, entry: int) -> int:
        """The number of the turn an entry belongs to on its path, from 1; 0 before the first prompt."""
        return self.session.tree.prompts_upto(entry)


_KEPT = 3
"""Layouts kept: one for each way in which filters make rows."""
_FAR = 2_000
"""Rows that a step to a sibling branch counts down."""
_PASSING: dict[Filter, bytes] = {
    rows: bytes(kind in kinds for kind in range(256))
    for rows, kinds in (
        (Filter.PROMPTS, PROMPTS),
        (Filter.COMPACTIONS, SUMMARIES),
        (Filter.NO_TOOLS, frozenset(Kind) - {Kind.TOOL_RESULT}),
    )
}
"""For each filter by kind, a byte for each kind: whether it is on show."""
