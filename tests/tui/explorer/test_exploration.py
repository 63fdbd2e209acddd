"""Folds, archived branches and filters in any tree: nothing is lost."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafward.session.entries import Kind
from leafward.session.session import Session
from leafward.session.tree.density import Density
from leafward_tui.explorer.model.exploration import Exploration, Filter, Findings
from leafward_tui.explorer.model.folds import Folds, LineKind, opening_folds
from leafward_tui.explorer.model.view_state import ViewState
from tests.acting import Acting
from tests.pi_file import PiFile
from tests.trees import Plan, plans, session_of
from tests.tui.laid_out import DENSITIES, lines_of

if TYPE_CHECKING:
    from pathlib import Path


def rows_shown(exploration: Exploration) -> int:
    return sum(line.rows for line in lines_of(exploration))


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
            row = exploration.fold(before[y])
            assert rows_shown(exploration) == len(exploration.layout)
            assert (row < 0) == (lines_of(exploration) == before)
            if row >= 0:
                line = exploration.lines.line(exploration.lines.y_of(row))
                assert line.kind in (LineKind.FOLDED_RUN, LineKind.FOLDED_BRANCH)
                assert line.row == row
                assert exploration.fold(line) == -1
                assert exploration.unfold(line)
            assert lines_of(exploration) == before
            assert not exploration.unfold(before[y])

    @given(plans(), DENSITIES)
    def test_everything_folds_and_unfolds(self, plan: Plan, density: Density) -> None:
        with session_of(plan) as session:
            exploration = Exploration(session, density, height=999)
            flat = lines_of(exploration)
            assert all(line.kind is LineKind.ROW for line in flat)
            assert exploration.fold_everything() == (exploration.folds != Folds())
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

    def test_a_run_that_was_folded_by_other_rows_unfolds(self, tmp_path: Path) -> None:
        file = Acting(tmp_path / "turns.jsonl")
        for number in range(4):
            file.user(f"prompt {number}")
            file.said("answered")
        with closing(Session.open(file.path)) as session:
            exploration = Exploration(session)
            for unfold in (exploration.unfold, lambda line: exploration.reveal(line.row)):
                exploration.folds = Folds(runs={3})
                exploration.fold_again()
                line = exploration.lines.line(1)
                assert line.kind is LineKind.FOLDED_RUN
                assert unfold(line)
                assert len(exploration.lines) == 4

    @given(plans(), DENSITIES, st.data())
    def test_a_row_that_is_revealed_is_a_line_whatever_was_folded(
        self, plan: Plan, density: Density, data: st.DataObject
    ) -> None:
        with session_of(plan) as session:
            exploration = Exploration(session, density, height=1)
            exploration.folds = opening_folds(exploration.pieces, 0)
            exploration.fold_again()
            if not len(exploration.lines):
                return
            row = data.draw(st.integers(0, len(exploration.layout) - 1))
            exploration.reveal(row, whole=True)
            assert exploration.lines.line(exploration.lines.y_of(row)) == (LineKind.ROW, row, 1)

    @pytest.mark.parametrize("height", [12, 20])
    def test_of_a_long_run_as_much_is_open_as_there_is_room_for(self, tmp_path: Path, height: int) -> None:
        file = PiFile(tmp_path / "long.jsonl")
        for turn in range(33):
            file.user(str(turn))
        with closing(Session.open(file.path)) as session:
            exploration = Exploration(session, height=height)
            lines = lines_of(exploration)
            assert len(lines) == height
            kinds = [line.kind for line in lines]
            assert kinds == [LineKind.ROW, LineKind.FOLDED_RUN] + [LineKind.ROW] * (height - 2)
            exploration.mark = 30
            exploration.lay_out()
            assert lines_of(exploration) == lines, "what was open stays open"
            state = ViewState.of(exploration, session.columns, 32)
            again = Exploration(session, height=height)
            state.take_up(again)
            assert lines_of(again) == lines
            assert exploration.unfold(lines[1])
            assert len(exploration.lines) == 33
            assert exploration.fold_everything()
            assert len(exploration.lines) == 5, (
                "the first row, a run, the mark, the row behind it and the leaf"
            )
            assert exploration.fold_everything()
            assert len(exploration.lines) == 33


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
        assert exploration.unfold(exploration.lines.line(2))
        assert all(line.kind is LineKind.ROW for line in lines_of(exploration))
        assert exploration.fold(exploration.lines.line(2)) == 2
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
            assert exploration.unfold(exploration.lines.line(1))
            kinds = [line.kind for line in lines_of(exploration)]
            assert kinds.count(LineKind.ARCHIVED) == 1
            assert rows_shown(exploration) == len(layout)

    def test_never_hides_the_path(self, fork: Session) -> None:
        exploration = Exploration(fork, findings=Findings(archived=[6, 0]))
        assert [line.kind for line in lines_of(exploration)] == [LineKind.ROW] * 8

    @pytest.mark.parametrize(
        ("wanted", "lines"),
        [
            (Filter.PROMPTS, 1),
            (Filter.NO_TOOLS, 1),
            (Filter.LABELLED, 0),
        ],
    )
    def test_a_filter_shows_none_of_its_rows(self, wanted: Filter, lines: int, fork: Session) -> None:
        exploration = Exploration(fork, findings=Findings(archived=[2]))
        exploration.filter = wanted
        exploration.lay_out()
        put_away = [line for line in lines_of(exploration) if line.kind is LineKind.ARCHIVED]
        branch = exploration.layout.branches[exploration.pieces.branch_at[2]]
        stop = exploration.layout.branch_rows[exploration.pieces.branch_at[2]]
        assert [(line.row, line.rows) for line in put_away] == [
            (branch.first_row, stop - branch.first_row)
        ] * lines, "one line with the count, where a row of it would be on show"
        rows = {line.row for line in lines_of(exploration) if line.kind is LineKind.ROW}
        assert rows.isdisjoint(range(branch.first_row, stop))
        assert rows_shown(exploration) == len(exploration.layout)
        if lines:
            assert exploration.unfold(put_away[0])
            assert branch.first_row in {
                line.row for line in lines_of(exploration) if line.kind is LineKind.ROW
            }


class TestFilters:
    @given(plans(), DENSITIES, st.sampled_from(list(Filter)), st.data())
    def test_rows_and_stubs_add_up_to_all(
        self, plan: Plan, density: Density, wanted: Filter, data: st.DataObject
    ) -> None:
        with session_of(plan) as session:
            entries = st.lists(st.integers(0, len(plan) - 1), max_size=5)
            exploration = Exploration(
                session,
                density,
                findings=Findings(data.draw(entries), data.draw(entries), archived=data.draw(entries)),
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
