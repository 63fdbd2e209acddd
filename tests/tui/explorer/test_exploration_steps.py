"""Steps in the tree: along a branch, between siblings, to branch points."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from hypothesis import given

from leafward.session.entries import Kind
from leafward.session.session import Session
from leafward.session.tree.tree_layout import Layout
from leafward_tui.explorer.model.exploration import Exploration
from leafward_tui.explorer.model.folds import Folds
from leafward_tui.explorer.model.gutter import GutterMaker
from leafward_tui.ui.appearance.glyphs import UNICODE
from tests.pi_file import PiFile
from tests.trees import Plan, plans, session_of
from tests.tui.laid_out import DENSITIES, lines_of

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from leafward.session.tree.density import Density


class TestSteps:
    @given(plans(), DENSITIES)
    def test_stay_inside(self, plan: Plan, density: Density) -> None:
        with session_of(plan) as session:
            exploration = Exploration(session, density)
            total = len(exploration.layout)
            for row in range(total):
                for to in (
                    exploration.child(row),
                    exploration.parent(row),
                    exploration.sibling(row, 1),
                    exploration.sibling(row, -1),
                    exploration.branch_point(row, 1),
                    exploration.branch_point(row, -1),
                ):
                    assert 0 <= to < total

    @given(plans(), DENSITIES)
    def test_child_and_parent_along_a_branch(self, plan: Plan, density: Density) -> None:
        with session_of(plan) as session:
            exploration = Exploration(session, density)
            layout = exploration.layout
            for row in range(len(layout)):
                child, parent = exploration.child(row), exploration.parent(row)
                own = [one for one in range(len(layout)) if layout.branch_of(one) == layout.branch_of(row)]
                assert child == next((one for one in own if one > row), row)
                before = [one for one in own if one < row]
                above = layout.branches[layout.branch_of(row)]
                if before:
                    assert parent == before[-1]
                elif above.above >= 0:
                    assert parent == layout.row_of(above.leaves_at)
                    assert layout.branch_of(parent) == above.above
                else:
                    assert parent == row
                if child != row:
                    assert exploration.parent(child) == row
                    assert layout.head[row] in plan.path(layout.head[child])

    @given(plans(), DENSITIES)
    def test_the_parent_of_a_row_is_above_it_in_the_tree(self, plan: Plan, density: Density) -> None:
        with session_of(plan) as session:
            exploration = Exploration(session, density)
            layout = exploration.layout
            for row in range(len(layout)):
                parent = exploration.parent(row)
                assert parent <= row
                if parent != row:
                    assert layout.head[parent] in plan.path(layout.head[row])

    @given(plans(), DENSITIES)
    def test_siblings_go_round(self, plan: Plan, density: Density) -> None:
        with session_of(plan) as session:
            exploration = Exploration(session, density)
            for row in range(len(exploration.layout)):
                following = exploration.sibling(row, 1)
                if following == row:
                    assert exploration.sibling(row, -1) == row
                    continue
                ways = exploration._ways(row)
                # From the first row of a way, all ways are visited in turn and the last step comes back.
                if row in ways:
                    seen = [row]
                    while (at := exploration.sibling(seen[-1], 1)) != row:
                        assert exploration.sibling(at, -1) == seen[-1]
                        seen.append(at)
                        assert len(seen) <= len(ways)
                    assert sorted(seen) == sorted(ways)

    @given(plans(), DENSITIES)
    def test_a_sibling_lies_on_another_way_from_the_same_point(self, plan: Plan, density: Density) -> None:
        with session_of(plan) as session:
            exploration = Exploration(session, density)
            layout = exploration.layout
            for row in range(len(layout)):
                to = exploration.sibling(row, 1)
                if to == row:
                    continue
                one, other = layout.head[row], layout.head[to]
                assert one not in plan.path(other)
                assert other not in plan.path(one)

    @given(plans(), DENSITIES)
    def test_branch_points_are_where_branches_leave(self, plan: Plan, density: Density) -> None:
        with session_of(plan) as session:
            exploration = Exploration(session, density)
            layout = exploration.layout
            left = {layout.row_of(branch.leaves_at) for branch in layout.branches if branch.above >= 0}
            found = set()
            row = -1
            while (at := exploration.branch_point(row, 1)) != row:
                assert at > row
                row = at
                found.add(row)
            assert found == left
            for row in range(len(layout)):
                assert exploration.branch_point(row, -1) == max(
                    (one for one in left if one < row), default=row
                )

    @given(plans(), DENSITIES)
    def test_the_target_of_a_line_is_the_end_of_what_it_stands_for(
        self, plan: Plan, density: Density
    ) -> None:
        with session_of(plan) as session:
            exploration = Exploration(session, density)
            for everything in (False, True):
                exploration.folds = Folds()
                if everything:
                    exploration.fold_everything()
                exploration.fold_again()
                for line in lines_of(exploration):
                    target = exploration.target(line)
                    assert plan.content(target) or session.columns.kind[target] == Kind.MALFORMED
                    assert exploration.layout.head[line.row] in plan.path(target)

    def test_turns_are_counted_along_the_path(self, fork: Session) -> None:
        exploration = Exploration(fork)
        assert [exploration.turn_of(index) for index in range(8)] == [1, 2, 3, 4, 3, 4, 3, 4]


class TestSiblings:
    def row_names(self, exploration: Exploration) -> list[int]:
        return list(exploration.layout.head)

    def test_at_the_same_depth(self, fork: Session) -> None:
        exploration = Exploration(fork)
        layout = exploration.layout
        assert list(layout.head) == [0, 1, 2, 3, 4, 5, 6, 7]
        for here, there in ((2, 4), (4, 6), (6, 2), (3, 5), (5, 7), (7, 3)):
            assert exploration.sibling(layout.row_of(here), 1) == layout.row_of(there)
            assert exploration.sibling(layout.row_of(there), -1) == layout.row_of(here)

    def test_above_every_branch_point_there_are_none(self, fork: Session) -> None:
        exploration = Exploration(fork)
        assert exploration.sibling(0, 1) == 0
        assert exploration.sibling(1, 1) == 1

    def test_a_shorter_way_ends_at_its_tip(self, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "uneven.jsonl")
        point = file.user("0")
        file.user("1", point)
        file.user("2", point)
        file.user("3")
        file.user("4")
        with closing(Session.open(file.path)) as session:
            exploration = Exploration(session)
            layout = exploration.layout
            assert exploration.sibling(layout.row_of(4), 1) == layout.row_of(1)

    def test_two_branch_points_in_one_turn_are_one(self, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "turn.jsonl")
        file.user("0")
        one = file.reply("1")
        two = file.reply("2")
        file.user("3")
        file.user("4", one)
        file.user("5", two)
        with closing(Session.open(file.path)) as session:
            exploration = Exploration(session)
            layout = exploration.layout
            rows = {entry: layout.row_of(entry) for entry in (3, 4, 5)}
            seen = {rows[5]}
            at = rows[5]
            for _ in range(2):
                at = exploration.sibling(at, 1)
                seen.add(at)
            assert seen == set(rows.values())

    def test_the_trees_of_a_file_are_siblings(self, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "roots.jsonl")
        file.user("0")
        file.user("1", None)
        with closing(Session.open(file.path)) as session:
            exploration = Exploration(session)
            assert exploration.sibling(0, 1) == 1
            assert exploration.sibling(1, 1) == 0

    def test_parents_that_come_later_in_the_file_change_nothing(self, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "later.jsonl")
        file.user("a reply to 2", "00000003")
        file.user("another", "00000003")
        file.user("the root", None)
        with closing(Session.open(file.path)) as session:
            exploration = Exploration(session)
            first, second = exploration.layout.row_of(0), exploration.layout.row_of(1)
            assert exploration.sibling(first, 1) == second
            assert exploration.sibling(second, 1) == first

    def test_a_step_far_down_a_long_way_takes_little_time(self, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "long.jsonl")
        point = file.user("root")
        for _ in range(3000):
            file.user("x")
        file.user("y", point)
        with closing(Session.open(file.path)) as session:
            exploration = Exploration(session)
            assert exploration.sibling(exploration.layout.row_of(3000), 1) == exploration.layout.row_of(3001)


def test_an_entry_with_very_many_children_is_stepped_through_and_drawn_without_a_walk_over_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = PiFile(tmp_path / "session.jsonl")
    first = file.user("first")
    for _ in range(2_000):
        file.user("another", first)
    asked = []
    with closing(Session.open(file.path)) as session:
        exploration = Exploration(session, height=24)
        really = Layout.branch_of

        def counted(layout: Layout, row: int) -> int:
            asked.append(row)
            return really(layout, row)

        monkeypatch.setattr(Layout, "branch_of", counted)
        maker, last = GutterMaker(session, exploration.layout, UNICODE, None, 2), 2_000
        for y in range(24):
            maker.make(exploration.lines.line(y))
        steps = (exploration.child(0), exploration.parent(last), exploration.sibling(1, -1))
        assert (*steps, exploration.sibling(last, 1), exploration.last_row(0)) == (last, 0, last, 1, last)
    assert len(asked) < 200
