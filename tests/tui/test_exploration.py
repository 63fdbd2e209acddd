"""Going about in any tree: every step stays inside, leads where it says, and folds and filters lose nothing."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafward.entries import Kind
from leafward.session import Session
from leafward_tui.exploration import Exploration, Filter, Findings
from leafward_tui.folds import Folds, Line, LineKind
from leafward_tui.graph import Density
from tests.pi_file import PiFile
from tests.trees import Plan, plans, session_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DENSITIES = st.sampled_from((Density.TURNS, Density.ENTRIES, Density.COMFORTABLE))


def lines_of(exploration: Exploration) -> list[Line]:
    return [exploration.lines.line(y) for y in range(len(exploration.lines))]


def rows_shown(exploration: Exploration) -> int:
    return sum(line.rows for line in lines_of(exploration))


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


@pytest.fixture
def fork(tmp_path: Path) -> Iterator[Session]:
    """Prompts 0 1, then three ways from 1: 2 3, 4 5 and 6 7, which is the path."""
    file = PiFile(tmp_path / "fork.jsonl")
    file.user("0")
    point = file.user("1")
    for first in (2, 4, 6):
        file.user(str(first), point)
        file.user(str(first + 1))
    with closing(Session.open(file.path)) as session:
        yield session


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


class TestFolding:
    @given(plans(), DENSITIES, st.data())
    def test_folding_and_unfolding_a_line_restores_what_was_there(
        self, plan: Plan, density: Density, data: st.DataObject
    ) -> None:
        with session_of(plan) as session:
            exploration = Exploration(session, density)
            if not len(exploration.lines):
                return
            exploration.folds = Folds()
            exploration.fold_again()
            before = lines_of(exploration)
            y = data.draw(st.integers(0, len(before) - 1))
            row = exploration.toggle_fold(before[y])
            folded = lines_of(exploration)
            assert rows_shown(exploration) == len(exploration.layout)
            line = exploration.lines.line(exploration.lines.y_of(row))
            if folded != before:
                assert line.kind in (LineKind.FOLDED_RUN, LineKind.FOLDED_BRANCH)
                assert line.row == row
                exploration.toggle_fold(line)
            assert lines_of(exploration) == before

    @given(plans(), DENSITIES)
    def test_everything_folds_and_unfolds(self, plan: Plan, density: Density) -> None:
        with session_of(plan) as session:
            exploration = Exploration(session, density, height=999)
            flat = lines_of(exploration)
            assert all(line.kind is LineKind.ROW for line in flat)
            exploration.fold_everything()
            assert rows_shown(exploration) == len(flat)
            if exploration.folds != Folds():
                assert len(exploration.lines) <= len(flat)
                exploration.fold_everything()
            assert lines_of(exploration) == flat

    @given(plans(), DENSITIES, st.data())
    def test_revealing_a_row_shows_it(self, plan: Plan, density: Density, data: st.DataObject) -> None:
        with session_of(plan) as session:
            exploration = Exploration(session, density)
            layout = exploration.layout
            if not len(layout):
                return
            exploration.findings = Findings(
                archived=[branch.first_entry for branch in layout.branches if branch.above >= 0][::2]
            )
            exploration.folds = Folds()
            exploration.fold_everything()
            row = data.draw(st.integers(0, len(layout) - 1))
            exploration.reveal(row)
            assert not exploration.hidden(row)
            assert rows_shown(exploration) == len(layout)

    @given(plans(), DENSITIES)
    def test_the_leaf_is_never_folded_away(self, plan: Plan, density: Density) -> None:
        with session_of(plan) as session:
            exploration = Exploration(session, density)
            exploration.folds = Folds()
            exploration.fold_everything()
            if exploration.layout.leaf >= 0:
                assert not exploration.hidden(exploration.layout.row_of(exploration.layout.leaf))

    @given(plans(), DENSITIES, st.data())
    def test_nor_are_labels_and_the_mark(self, plan: Plan, density: Density, data: st.DataObject) -> None:
        with session_of(plan) as session:
            content = [entry for entry in range(len(plan)) if plan.content(entry)]
            if not content:
                return
            label, mark = data.draw(st.sampled_from(content)), data.draw(st.sampled_from(content))
            session.labels[session.find(f"#{label}")] = "here"
            exploration = Exploration(session, density, height=0)
            exploration.mark = mark
            exploration.lay_out()
            exploration.folds = Folds({*exploration.layout.head}, set())
            exploration.fold_again()
            assert not exploration.hidden(exploration.layout.row_of(label))
            assert not exploration.hidden(exploration.layout.row_of(mark))


class TestArchive:
    def test_hides_a_branch_behind_its_count(self, fork: Session) -> None:
        exploration = Exploration(fork, findings=Findings(archived=[2]))
        assert [(line.kind, line.row, line.rows) for line in lines_of(exploration)][2] == (
            LineKind.ARCHIVED,
            2,
            2,
        )
        assert rows_shown(exploration) == 8

    def test_opens_to_be_looked_at_and_closes_again(self, fork: Session) -> None:
        exploration = Exploration(fork, findings=Findings(archived=[2]))
        row = exploration.toggle_fold(exploration.lines.line(2))
        assert row == 2
        assert all(line.kind is LineKind.ROW for line in lines_of(exploration))
        exploration.toggle_fold(exploration.lines.line(2))
        assert [line.kind for line in lines_of(exploration)].count(LineKind.ARCHIVED) == 1
        assert not exploration.opened

    def test_of_a_branch_that_holds_an_archived_one(self, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "nested.jsonl")
        root = file.user("0")
        inner = file.user("1", root)
        file.user("2", inner)
        file.user("3", inner)
        file.user("4", inner)
        file.user("5", root)
        with closing(Session.open(file.path)) as session:
            exploration = Exploration(session)
            layout = exploration.layout
            nested = [branch.first_entry for branch in layout.branches if branch.lane == 2]
            exploration.findings = Findings(archived=[1, nested[0]])
            exploration.fold_again()
            assert [line.kind for line in lines_of(exploration)].count(LineKind.ARCHIVED) == 1
            exploration.toggle_fold(exploration.lines.line(1))
            kinds = [line.kind for line in lines_of(exploration)]
            assert kinds.count(LineKind.ARCHIVED) == 1
            assert rows_shown(exploration) == len(layout)

    def test_never_hides_the_path(self, fork: Session) -> None:
        exploration = Exploration(fork, findings=Findings(archived=[6, 0]))
        assert [line.kind for line in lines_of(exploration)] == [LineKind.ROW] * 8


class TestFilters:
    @given(plans(), DENSITIES, st.sampled_from(list(Filter)), st.data())
    def test_rows_and_stubs_add_up_to_all(
        self, plan: Plan, density: Density, wanted: Filter, data: st.DataObject
    ) -> None:
        with session_of(plan) as session:
            entries = st.lists(st.integers(0, len(plan) - 1), max_size=5)
            exploration = Exploration(
                session, density, findings=Findings(data.draw(entries), data.draw(entries))
            )
            for index in data.draw(entries):
                session.labels[session.find(f"#{index}")] = "here"
            exploration.filter = wanted
            exploration.lay_out()
            assert rows_shown(exploration) == len(exploration.layout)
            for y, line in enumerate(lines_of(exploration)):
                if line.kind is not LineKind.HIDDEN:
                    assert exploration.lines.y_of(line.row) == y

    @given(plans())
    def test_all_shows_every_entry_but_folds(self, plan: Plan) -> None:
        with session_of(plan) as session:
            exploration = Exploration(session, height=999)
            exploration.filter = Filter.ALL
            exploration.lay_out()
            shown = [exploration.layout.head[line.row] for line in lines_of(exploration)]
            assert sorted(shown) == list(range(len(plan)))

    @given(plans(), st.sampled_from((Filter.PROMPTS, Filter.COMPACTIONS, Filter.NO_TOOLS)))
    def test_what_passes_is_of_its_kind(self, plan: Plan, wanted: Filter) -> None:
        with session_of(plan) as session:
            exploration = Exploration(session)
            exploration.filter = wanted
            exploration.lay_out()
            kinds = {
                plan.kinds[exploration.layout.head[line.row]]
                for line in lines_of(exploration)
                if line.kind is LineKind.ROW
            }
            if wanted is Filter.PROMPTS:
                assert kinds <= {Kind.USER, Kind.BASH}
            elif wanted is Filter.COMPACTIONS:
                assert kinds <= {Kind.COMPACTION, Kind.BRANCH_SUMMARY}
            else:
                assert Kind.TOOL_RESULT not in kinds

    def test_back_to_the_conversation_the_folds_are_as_before(self, fork: Session) -> None:
        exploration = Exploration(fork, height=3)
        before = lines_of(exploration)
        exploration.filter = Filter.PROMPTS
        exploration.lay_out()
        exploration.filter = Filter.CONVERSATION
        exploration.lay_out()
        assert lines_of(exploration) == before


class TestAfterGrowth:
    @settings(max_examples=30)
    @given(plans(30, forward=False), st.integers(1, 29))
    def test_laid_out_again_it_is_as_if_opened_anew(self, plan: Plan, cut: int) -> None:
        with session_of(plan) as session:
            whole = session.path.read_bytes()
            lines = whole.splitlines(keepends=True)
            session.path.write_bytes(b"".join(lines[: 1 + min(cut, len(plan))]))
            with closing(Session.open(session.path)) as growing:
                exploration = Exploration(growing)
                session.path.write_bytes(whole)
                growing.refresh()
                exploration.lay_out()
                anew = Exploration(session, height=999)
                assert exploration.layout.head == anew.layout.head
                assert exploration.layout.branches == anew.layout.branches
                assert rows_shown(exploration) == len(anew.layout)


def test_the_mark_stays_on_its_entry(fork: Session) -> None:
    exploration = Exploration(fork)
    exploration.mark = 3
    for density in Density:
        exploration.density = density
        exploration.lay_out()
        row = exploration.layout.row_of(exploration.mark)
        assert exploration.layout.head[row] == 3
