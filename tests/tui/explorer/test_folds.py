"""Folds and filters: every row is on show or counted in what stands for it, and nothing is shown twice."""

from __future__ import annotations

import random
from array import array
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from leafward.session.entries import Kind
from leafward.session.tree.density import Density
from leafward.session.tree.tree import SessionTree
from leafward.session.tree.tree_layout import arrange
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
from tests.trees import plans, random_plan

if TYPE_CHECKING:
    import pytest

LARGE = random_plan(random.Random(11), 4000, jumpy=0.03, roots=0.0)


@st.composite
def pieces(draw: st.DrawFn) -> Pieces:
    """A random layout cut at its landmarks and at some rows more."""
    plan = draw(plans())
    leaf = draw(st.integers(-1, len(plan) - 1))
    density = draw(st.sampled_from((Density.TURNS, Density.ENTRIES)))
    layout = arrange(plan.tree, leaf, density)
    more = draw(st.lists(st.integers(-1, max(0, len(layout) - 1)), max_size=3)) if len(layout) else []
    return Pieces(layout, more)


@st.composite
def folded(draw: st.DrawFn) -> FoldedLines:
    """Lines with some of everything folded."""
    cut = draw(pieces())
    layout = cut.layout
    share = draw(st.sampled_from((0.0, 0.3, 1.0)))
    rng = random.Random(draw(st.integers(0, 1 << 16)))
    folds = Folds(
        {layout.head[first] for first in cut.first if rng.random() < share},
        {branch.first_entry for branch in layout.branches if rng.random() < share},
    )
    archived = {branch.first_entry for branch in layout.branches if rng.random() < share / 3}
    return FoldedLines(cut, folds, archived)


def all_lines(lines: Lines) -> list[ShownLine]:
    return [lines.line(y) for y in range(len(lines))]


def assert_whole(lines: Lines) -> None:
    """Lines stand for all rows of the layout, in order, each once."""
    row = 0
    for line in all_lines(lines):
        assert line.row == row
        assert line.rows >= 1
        row += line.rows
    assert row == len(lines.layout)


class TestPieces:
    @given(pieces())
    def test_part_the_rows(self, cut: Pieces) -> None:
        rows = [
            row
            for first, count in zip(cut.first, cut.count, strict=True)
            for row in range(first, first + count)
        ]
        assert rows == list(range(len(cut.layout)))
        for row in rows:
            piece = cut.of_row(row)
            assert cut.first[piece] <= row < cut.first[piece] + cut.count[piece]

    @given(pieces())
    def test_never_join_what_is_not_to_be_joined(self, cut: Pieces) -> None:
        layout = cut.layout
        for piece, first in enumerate(cut.first):
            rows = range(first, first + cut.count[piece])
            assert len({layout.branch_of(row) for row in rows}) == 1
            if cut.foldable(piece):
                assert not cut.fixed & set(rows)
                assert not set(layout.landmarks) & set(rows)

    @given(pieces())
    def test_a_branch_is_whole_pieces(self, cut: Pieces) -> None:
        layout = cut.layout
        for branch, value in enumerate(layout.branches):
            assert cut.first[cut.branch_first[branch]] == value.first_row
            end = cut.branch_stop[branch]
            stop = cut.first[end] if end < len(cut.first) else len(layout)
            assert stop == layout.branch_rows[branch]


class TestFolds:
    @given(folded())
    def test_every_row_is_in_one_line(self, lines: FoldedLines) -> None:
        assert_whole(lines)

    @given(folded())
    def test_a_line_is_where_its_row_is(self, lines: FoldedLines) -> None:
        for y, line in enumerate(all_lines(lines)):
            for row in range(line.row, line.row + line.rows):
                assert lines.y_of(row) == y
            assert 0 <= lines.layout.branches[lines.layout.branch_of(line.row)].lane < lines.lanes

    @given(folded())
    def test_a_line_says_what_is_folded(self, lines: FoldedLines) -> None:
        layout = lines.layout
        for line in all_lines(lines):
            if line.kind is LineKind.ROW:
                assert line.rows == 1
            elif line.kind is LineKind.FOLDED_RUN:
                assert line.rows > 1
                assert len({layout.branch_of(row) for row in range(line.row, line.row + line.rows)}) == 1
            else:
                branch = layout.branch_of(line.row)
                assert layout.branches[branch].first_row == line.row
                assert line.row + line.rows == layout.branch_rows[branch]

    @given(pieces())
    def test_nothing_folded_shows_every_row(self, cut: Pieces) -> None:
        lines = FoldedLines(cut, Folds())
        assert [line.row for line in all_lines(lines)] == list(range(len(cut.layout)))

    @given(pieces())
    def test_what_has_nothing_to_hide_is_not_folded(self, cut: Pieces) -> None:
        layout = cut.layout
        everything = Folds(set(layout.head), {branch.first_entry for branch in layout.branches})
        for line in all_lines(FoldedLines(cut, everything)):
            assert line.kind is LineKind.ROW or line.rows > 1

    @given(pieces())
    def test_an_archived_branch_is_one_line_whatever_is_folded_in_it(self, cut: Pieces) -> None:
        layout = cut.layout
        inner = [branch for branch in layout.branches if branch.above >= 0]
        if not inner:
            return
        everything = Folds(
            set(layout.head), {branch.first_entry for branch in layout.branches if branch.above >= 0}
        )
        for folds in (Folds(), everything):
            lines = FoldedLines(cut, folds, {branch.first_entry for branch in inner})
            assert_whole(lines)
            shown = [line for line in all_lines(lines) if line.kind is LineKind.ARCHIVED]
            outer = [branch for branch in inner if branch.lane == 1]
            assert [line.row for line in shown] == [branch.first_row for branch in outer]

    def test_a_fold_outlives_a_new_layout(self) -> None:
        before = Pieces(arrange(LARGE.tree, 3999))
        folds = opening_folds(before, 0)
        again = FoldedLines(Pieces(arrange(LARGE.tree, 3999)), folds)
        assert all_lines(again) == all_lines(FoldedLines(before, folds))
        assert folds.runs
        # Entries that are no longer the beginning of anything are left alone.
        other = Pieces(arrange(LARGE.tree, 17))
        assert_whole(FoldedLines(other, folds))


class TestOpening:
    @given(pieces(), st.integers(0, 30))
    def test_all_is_open_where_it_fits_and_the_leaf_is_always_on_show(self, cut: Pieces, height: int) -> None:
        layout = cut.layout
        folds = opening_folds(cut, height)
        lines = FoldedLines(cut, folds)
        assert_whole(lines)
        if len(layout) <= height:
            assert folds == Folds()
        if layout.leaf >= 0:
            leaf = layout.row_of(layout.leaf)
            own = Pieces(layout, [leaf])
            shown = FoldedLines(own, opening_folds(own, height))
            assert shown.line(shown.y_of(leaf)) == ShownLine(LineKind.ROW, leaf)

    def test_a_large_tree_opens_with_its_newest_turns(self) -> None:
        layout = arrange(LARGE.tree, 3999)
        cut = Pieces(layout, [layout.row_of(layout.leaf)])
        lines = FoldedLines(cut, opening_folds(cut, 30))
        assert len(lines) < len(layout) / 3
        assert_whole(lines)


class Counting(list[int]):
    """Counts of lines that say how many of them were read."""

    read = 0

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        self.read += len(found) if isinstance(at, slice) else 1
        return found


def test_opening_looks_at_each_piece_a_few_times_however_many_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree = SessionTree(array("i", range(-1, 3999)), bytes([Kind.USER]) * 4000)
    layout = arrange(tree, 3999, Density.ENTRIES)
    cut = Pieces(layout, range(0, len(layout), 9))
    made: list[Counting] = []

    def counted(*given: Any) -> Any:
        lines: Any = FoldedLines(*given)
        lines.counts = Counting(lines.counts)
        made.append(lines.counts)
        return lines

    monkeypatch.setattr("leafward_tui.explorer.model.folds.FoldedLines", counted)
    opening_folds(cut, 20)
    (counts,) = made
    assert len(counts) > 400
    assert counts.read < 4 * len(counts)


class TestFilters:
    @given(pieces(), st.data())
    def test_rows_and_stubs_add_up_to_all(self, cut: Pieces, data: st.DataObject) -> None:
        layout = cut.layout
        total = len(layout)
        wanted = data.draw(st.lists(st.integers(0, total - 1), unique=True).map(sorted)) if total else []
        lines = FilteredLines(layout, wanted)
        assert_whole(lines)
        shown = all_lines(lines)
        assert [line.row for line in shown if line.kind is LineKind.ROW] == wanted
        assert sum(line.rows for line in shown if line.kind is LineKind.HIDDEN) == total - len(wanted)
        for y, line in enumerate(shown):
            if line.kind is LineKind.ROW:
                assert lines.y_of(line.row) == y

    @given(pieces(), st.data())
    def test_a_hidden_row_is_at_the_nearest_one_on_show(self, cut: Pieces, data: st.DataObject) -> None:
        total = len(cut.layout)
        if not total:
            return
        wanted = data.draw(st.lists(st.integers(0, total - 1), unique=True, min_size=1).map(sorted))
        lines = FilteredLines(cut.layout, wanted)
        for row in range(total):
            nearest = max((one for one in wanted if one <= row), default=wanted[0])
            assert lines.line(lines.y_of(row)).row == nearest

    def test_a_filter_that_leaves_nothing_says_how_many_it_hides(self) -> None:
        layout = arrange(LARGE.tree, 3999)
        lines = FilteredLines(layout, [])
        assert all_lines(lines) == [ShownLine(LineKind.HIDDEN, 0, len(layout))]
        assert lines.y_of(7) == 0

    def test_of_nothing_nothing(self) -> None:
        layout = arrange(SessionTree(array("i"), bytearray()), -1)
        assert len(FilteredLines(layout, [])) == 0
        assert len(FoldedLines(Pieces(layout), Folds())) == 0
        assert FoldedLines(Pieces(layout), Folds()).y_of(0) == -1
