"""The order of rows: each entry once, branches whole and right after what they leave, the active path in lane 0."""

from __future__ import annotations

import random
from array import array
from collections import Counter
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafward.session.entries import DAMAGED, TURN_STARTS, Kind
from leafward.session.tree.density import Density
from leafward.session.tree.tree import SessionTree
from leafward.session.tree.tree_layout import MARKS, Layout, arrange
from tests.trees import Plan, plans, random_plan

if TYPE_CHECKING:
    from collections.abc import Iterable

DENSITIES = (Density.TURNS, Density.ENTRIES)


@st.composite
def layouts(draw: st.DrawFn, *densities: Density, everything: bool = False) -> tuple[Plan, Layout]:
    """A random tree laid out with the leaf anywhere, before everything too."""
    plan = draw(plans())
    leaf = draw(st.integers(-1, len(plan) - 1))
    density = draw(st.sampled_from(densities or DENSITIES))
    return plan, arrange(plan.tree, leaf, density, everything=everything)


def covered(layout: Layout) -> Counter[int]:
    """How often each entry is part of a row."""
    return Counter(entry for row in range(len(layout)) for span in layout.entries_of(row) for entry in span)


def lane_of(layout: Layout, row: int) -> int:
    return layout.branches[layout.branch_of(row)].lane


def above(layout: Layout, branch: int) -> list[int]:
    """A branch and those it is nested in, innermost first."""
    found = []
    while branch >= 0:
        found.append(branch)
        branch = layout.branches[branch].above
    return found


class TestEveryEntryOnce:
    @given(layouts(Density.ENTRIES))
    def test_an_entry_of_the_conversation_has_one_row(self, made: tuple[Plan, Layout]) -> None:
        plan, layout = made
        assert sorted(layout.head) == [entry for entry in range(len(plan)) if plan.content(entry)]

    @given(layouts(Density.ENTRIES, everything=True))
    def test_with_everything_every_entry_has_one(self, made: tuple[Plan, Layout]) -> None:
        plan, layout = made
        assert sorted(layout.head) == list(range(len(plan)))

    @given(layouts(Density.TURNS))
    def test_a_turn_holds_what_belongs_to_it_and_nothing_twice(self, made: tuple[Plan, Layout]) -> None:
        plan, layout = made
        times = covered(layout)
        assert all(times[entry] == 1 for entry in range(len(plan)) if plan.content(entry))
        assert all(times[entry] <= 1 for entry in range(len(plan)))

    @given(layouts(Density.TURNS))
    def test_a_turn_begins_at_a_prompt_a_mark_or_a_branch(self, made: tuple[Plan, Layout]) -> None:
        plan, layout = made
        starts = {branch.first_row for branch in layout.branches}
        for row, entry in enumerate(layout.head):
            kind = plan.kinds[entry]
            behind_a_mark = row > 0 and plan.kinds[layout.head[row - 1]] in MARKS
            assert kind in TURN_STARTS | MARKS or row in starts or behind_a_mark
        assert not [
            entry
            for entry, kind in enumerate(plan.kinds)
            if kind in TURN_STARTS | MARKS and entry not in set(layout.head)
        ]

    @given(layouts())
    def test_an_entry_is_found_in_the_row_it_is_part_of(self, made: tuple[Plan, Layout]) -> None:
        _, layout = made
        for row in range(len(layout)):
            for span in layout.entries_of(row):
                for entry in span:
                    assert layout.row_of(entry) == row
                    assert layout.tree.content_at(layout.last_entry_of(row)) == layout.last_entry_of(row)

    @given(layouts())
    def test_what_has_no_row_is_at_the_row_it_follows(self, made: tuple[Plan, Layout]) -> None:
        plan, layout = made
        if not len(layout):
            assert layout.row_of(0) == layout.row_of(-1) == -1
            return
        assert layout.row_of(-1) == 0
        for entry in range(len(plan)):
            place = plan.content_at(entry)
            row = layout.row_of(entry)
            assert 0 <= row < len(layout)
            if place >= 0:
                assert row == layout.row_of(place)
            elif below := [one for one in range(len(plan)) if plan.content(one) and entry in plan.path(one)]:
                # Before the first row of a tree: a row of that tree.
                assert row in {layout.row_of(one) for one in below} or row == 0

    @given(layouts(), st.data())
    def test_rows_of_a_branch_taken_together_are_the_same_entries(
        self, made: tuple[Plan, Layout], data: st.DataObject
    ) -> None:
        plan, layout = made
        if not len(layout):
            return
        row = data.draw(st.integers(0, len(layout) - 1))
        stop = row + 1
        while stop < len(layout) and layout.branch_of(stop) == layout.branch_of(row):
            stop += 1
        rows = data.draw(st.integers(1, stop - row))
        together = chain.from_iterable(layout.entries_between(row, rows))
        apart = chain.from_iterable(
            chain.from_iterable(layout.entries_of(one) for one in range(row, row + rows))
        )
        assert list(filter(plan.content, together)) == list(filter(plan.content, apart))


class TestBranches:
    @given(layouts())
    def test_a_branch_is_contiguous_with_all_that_leaves_it(self, made: tuple[Plan, Layout]) -> None:
        _, layout = made
        for branch, value in enumerate(layout.branches):
            inside = [row for row in range(len(layout)) if branch in above(layout, layout.branch_of(row))]
            assert inside == list(range(value.first_row, layout.branch_rows[branch]))
            assert layout.branch_of(value.first_row) == branch

    @given(layouts())
    def test_a_lane_is_how_deep_a_branch_is_nested(self, made: tuple[Plan, Layout]) -> None:
        _, layout = made
        for branch, value in enumerate(layout.branches):
            assert value.lane == len(above(layout, branch)) - 1
            if value.above >= 0:
                outer = layout.branches[value.above]
                assert outer.first_row < value.first_row
                assert layout.branch_rows[branch] <= layout.branch_rows[value.above]

    @given(layouts())
    def test_a_branch_follows_the_row_it_leaves(self, made: tuple[Plan, Layout]) -> None:
        plan, layout = made
        for value in layout.branches:
            assert value.leaves_at == plan.content_at(plan.parents[value.first_entry])
            if value.above < 0:
                continue
            left = layout.row_of(value.leaves_at)
            assert layout.branch_of(left) == value.above
            between = range(left + 1, value.first_row)
            assert all(layout.branch_of(row) != value.above for row in between)

    @given(layouts())
    def test_along_a_branch_every_row_follows_the_one_before(self, made: tuple[Plan, Layout]) -> None:
        plan, layout = made
        by_branch: dict[int, list[int]] = {}
        for row in range(len(layout)):
            by_branch.setdefault(layout.branch_of(row), []).append(layout.head[row])
        for heads in by_branch.values():
            for one, following in pairwise(heads):
                assert one in plan.path(following)

    @given(plans(roots=False), st.sampled_from(DENSITIES))
    def test_as_many_branches_as_ends(self, plan: Plan, density: Density) -> None:
        leaves = plan.leaves()
        layout = arrange(plan.tree, leaves[0] if leaves else -1, density)
        if leaves:
            assert len(layout.branches) == len(leaves)

    def test_lanes_nest_no_deeper_than_the_logarithm(self) -> None:
        for seed in range(20):
            plan = random_plan(random.Random(seed), 3000, jumpy=0.5, roots=0)
            layout = arrange(plan.tree, -1, Density.ENTRIES)
            assert max(branch.lane for branch in layout.branches) <= 12


class TestThePath:
    @given(layouts())
    def test_the_active_path_stays_in_lane_zero_in_order(self, made: tuple[Plan, Layout]) -> None:
        plan, layout = made
        assert layout.leaf == plan.content_at(layout.leaf) if layout.leaf >= 0 else layout.leaf == -1
        path = plan.path(layout.leaf)
        heads = [entry for entry in layout.head if layout.on_path(entry)]
        assert heads == [entry for entry in path if entry in set(heads)]
        rows = [row for row, entry in enumerate(layout.head) if layout.on_path(entry)]
        assert {layout.branch_of(row) for row in rows} <= {layout.branch_of(rows[0])} if rows else True
        assert all(lane_of(layout, row) == 0 for row in rows)
        if layout.leaf >= 0:
            assert layout.row_of(layout.leaf) == rows[-1]

    @given(layouts())
    def test_the_tree_with_the_leaf_is_the_last(self, made: tuple[Plan, Layout]) -> None:
        _, layout = made
        if layout.leaf < 0:
            return
        roots = [branch for branch, value in enumerate(layout.branches) if value.above < 0]
        assert layout.branch_of(layout.row_of(layout.leaf)) == roots[-1]

    @given(plans())
    def test_what_lies_below_the_leaf_is_a_branch(self, plan: Plan) -> None:
        inner = next(
            (entry for entry in range(len(plan)) if plan.content(entry) and plan.content_children(entry)), -1
        )
        if inner < 0:
            return
        layout = arrange(plan.tree, inner, Density.ENTRIES)
        here = layout.branch_of(layout.row_of(inner))
        for entry in plan.content_children(inner):
            if layout.tree.run_of(entry) != layout.tree.run_of(inner):
                assert layout.branch_of(layout.row_of(entry)) != here


class TestShapes:
    def lay(
        self, parents: list[int], kinds: Iterable[Kind], leaf: int, density: Density = Density.TURNS
    ) -> Layout:
        return arrange(SessionTree(array("i", parents), bytearray(kinds)), leaf, density)

    def test_nothing(self) -> None:
        layout = self.lay([], [], -1)
        assert (len(layout), layout.branches, layout.leaf, layout.row_of(-1)) == (0, [], -1, -1)

    def test_only_bookkeeping_has_no_rows(self) -> None:
        layout = self.lay([-1, 0, 1], [Kind.MODEL_CHANGE] * 3, 2)
        assert (len(layout), layout.leaf) == (0, -1)

    def test_a_turn_goes_on_behind_a_compaction(self) -> None:
        kinds = [Kind.USER, Kind.ASSISTANT, Kind.COMPACTION, Kind.MODEL_CHANGE, Kind.ASSISTANT, Kind.USER]
        layout = self.lay([-1, 0, 1, 2, 3, 4], kinds, 5)
        assert list(layout.head) == [0, 2, 4, 5]
        assert [layout.entries_of(row) for row in range(4)] == [
            [range(2)],
            [range(2, 4)],
            [range(4, 5)],
            [range(5, 6)],
        ]

    def test_marks_and_first_rows_are_landmarks(self) -> None:
        kinds = [Kind.USER, Kind.COMPACTION, Kind.USER, Kind.USER, Kind.USER]
        layout = self.lay([-1, 0, 1, 2, 1], kinds, 3)
        # 0 prompt, 1 compaction, then the branch 4, then 2 and 3
        assert list(layout.head) == [0, 1, 4, 2, 3]
        assert layout.landmarks == [0, 1, 2]

    @pytest.mark.parametrize("between", [[], [Kind.ASSISTANT]], ids=["in_a_row", "with_replies"])
    def test_of_many_compactions_in_one_turn_the_first_and_the_last_are_landmarks(
        self, between: list[Kind]
    ) -> None:
        streak = [Kind.COMPACTION, *between] * 20
        kinds = [Kind.USER, *streak, Kind.USER, *[Kind.COMPACTION, Kind.USER] * 20]
        layout = self.lay([at - 1 for at in range(len(kinds))], kinds, len(kinds) - 1)
        marks = [layout.head[row] for row in layout.landmarks]
        assert marks[:3] == [0, 1, 1 + len(streak) - len(between) - 1]
        assert marks[3:] == [at for at in range(len(streak) + 2, len(kinds)) if kinds[at] == Kind.COMPACTION]

    def test_damage_stands_where_it_lies_in_every_density(self) -> None:
        kinds = [Kind.USER, Kind.MALFORMED, Kind.ASSISTANT, Kind.MALFORMED]
        for density in (Density.TURNS, Density.ENTRIES, Density.COMFORTABLE):
            layout = self.lay([-1, 0, 0, 2], kinds, 2, density)
            assert {1, 3} <= set(layout.head)
            assert set(DAMAGED) & {Kind(layout.tree.kind[layout.head[row]]) for row in layout.landmarks}

    def test_damage_before_everything_is_a_tree_of_its_own(self) -> None:
        layout = self.lay([-1, -1, 1], [Kind.MALFORMED, Kind.USER, Kind.ASSISTANT], 2)
        assert list(layout.head) == [0, 1]
        assert [branch.above for branch in layout.branches] == [-1, -1]

    def test_a_label_on_the_side_is_no_branch(self) -> None:
        layout = self.lay([-1, 0, 0, 1], [Kind.USER, Kind.ASSISTANT, Kind.LABEL, Kind.USER], 3)
        assert list(layout.head) == [0, 3]
        assert len(layout.branches) == 1

    def test_the_same_side_line_has_a_row_where_everything_is_shown(self) -> None:
        tree = SessionTree(
            array("i", [-1, 0, 0, 1]), bytearray([Kind.USER, Kind.ASSISTANT, Kind.LABEL, Kind.USER])
        )
        layout = arrange(tree, 3, Density.ENTRIES, everything=True)
        assert sorted(layout.head) == [0, 1, 2, 3]

    def test_silent_replies_are_shown_with_their_results(self) -> None:
        kinds = [Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.ASSISTANT]
        tree = SessionTree(array("i", [-1, 0, 1, 2]), bytearray(kinds))
        layout = arrange(tree, 3, Density.ENTRIES, dropped=bytes([0, 1, 0, 0]))
        assert list(layout.head) == [0, 2, 3]
        assert layout.entries_of(1) == [range(1, 3)]
        assert layout.row_of(1) == 1

    def test_a_silent_reply_that_is_the_leaf_has_a_row(self) -> None:
        # The marker of a move makes the reply a branch point.
        kinds = [Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.CUSTOM]
        tree = SessionTree(array("i", [-1, 0, 1, 1]), bytearray(kinds))
        layout = arrange(tree, 3, Density.ENTRIES, dropped=bytes([0, 1, 0, 0]))
        assert list(layout.head) == [0, 1, 2]
        assert (layout.leaf, layout.row_of(1)) == (1, 1)
        assert [lane_of(layout, row) for row in range(3)] == [0, 0, 1]

    def test_the_longer_way_stays_in_its_lane_off_the_path(self) -> None:
        #      0 ─ 1 (leaf)        2 leaves 0; 3 and 4, 5 leave 2
        parents = [-1, 0, 0, 2, 2, 4]
        layout = self.lay(parents, [Kind.USER] * 6, 1)
        assert list(layout.head) == [0, 2, 3, 4, 5, 1]
        assert [lane_of(layout, row) for row in range(6)] == [0, 1, 2, 1, 1, 0]

    @pytest.mark.parametrize("leaf", [0, 1, 2, 3, 4, 5])
    def test_the_leaf_chooses_what_is_straight(self, leaf: int) -> None:
        parents = [-1, 0, 0, 2, 2, 4]
        layout = self.lay(parents, [Kind.USER] * 6, leaf)
        assert lane_of(layout, layout.row_of(leaf)) == 0

    def test_comfortable_rows_are_turns(self) -> None:
        plan = random_plan(random.Random(5), 200)
        turns, comfortable = (
            arrange(plan.tree, 199, density) for density in (Density.TURNS, Density.COMFORTABLE)
        )
        assert turns.head == comfortable.head

    def test_thousands_of_branches_one_after_the_other(self) -> None:
        # Every entry is followed by a tip and by the next entry; the leaf is the first tip.
        size = 8000
        parents = [-1, *(index - 1 if index % 2 else max(0, index - 2) for index in range(1, size))]
        layout = self.lay(parents, [Kind.USER] * size, 1, Density.ENTRIES)
        assert sorted(layout.head) == list(range(size))
        assert len(layout.branches) == size // 2
        assert max(branch.lane for branch in layout.branches) == 2
        assert layout.head[len(layout) - 1] == layout.leaf == 1
