"""The controllers of the explorer, without a terminal."""

from __future__ import annotations

import ast
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.agents.sub_agents import SubAgent
from leafward.base.errors import Refused
from leafward.files.restoration.plan import RestorePlan
from leafward.session.entries import EntryIndex
from leafward.session.tree.density import Density
from leafward_tui.explorer import controllers
from leafward_tui.explorer.controllers.context_edit import typed_tokens
from leafward_tui.explorer.controllers.row_metrics import CountOrder
from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.model.summary_request import SummaryRequest, SummaryRun, summary_between
from leafward_tui.explorer.state import ExplorerState, Mode
from tests.sources import native
from tests.tui.explored import lines
from tests.tui.sure import sure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.journal.write import Write, Writing
    from leafward.session.session import Session
    from tests.tui.without_screen import Explorer


def unwritten(_session: Session, _writing: Writing) -> Write:
    raise Refused("the disk is full")


# --- the state --------------------------------------------------------------------------------------------------------


def written(node: ast.expr) -> Iterator[str]:
    """The part of the state that an assignment writes: `self._state.search.text` and `state.search.text` write `search`."""
    if isinstance(node, ast.Tuple):
        for one in node.elts:
            yield from written(one)
        return
    parts = ast.unparse(node).removeprefix("self._").split(".")
    if parts[0] == "state" and len(parts) > 1:
        yield parts[1]


def test_each_part_of_the_state_has_one_writer() -> None:
    writers: dict[str, set[str]] = {}
    for path in Path(controllers.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            targets = node.targets if isinstance(node, ast.Assign) else []
            for name in (name for target in targets for name in written(target)):
                writers.setdefault(name, set()).add(path.stem)
    assert writers["writing"] == {"write"}
    assert writers["summary"] == {"branch_summary"}
    # What an exploration leaves out, folds and marks is its own state.
    assert {name: modules for name, modules in writers.items() if len(modules) > 1} == {}
    assert set(writers) == {field.name for field in fields(ExplorerState)} - {"path"}


def test_a_restore_chosen_for_a_session_that_was_replaced_writes_nothing(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.path.isdir", lambda _path: True)
    explorer.its.files.ask(explorer.prompt("b"), moved="moved")
    sheet, _then = explorer.view.asked.pop()
    sheet.choice.plan = RestorePlan("/p", "b", ())
    explorer.its.loader.read_anew(explorer.session.columns)
    explorer.jobs.run("read")
    before = explorer.file.path.read_bytes()
    sheet.choice.accept()
    assert sheet.choice.problem == "the session was reloaded meanwhile; nothing was written"
    assert not explorer.jobs.running("write")
    assert explorer.file.path.read_bytes() == before


# --- counting ---------------------------------------------------------------------------------------------------------


def test_a_cursor_that_never_rests_holds_up_the_count_for_a_second_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    order, counted = CountOrder(), [now]
    while now < 105:
        order.pause()
        now += 0.05
        if order.paused_until <= now:
            counted.append(now)
    assert all(0.9 < later - earlier < 1.2 for earlier, later in pairwise(counted))
    assert now - counted[-1] < 1.2


# --- writing ----------------------------------------------------------------------------------------------------------


def test_a_change_waits_for_the_one_before(explorer: Explorer) -> None:
    explorer.its.navigation.go_to_entry(explorer.prompt("c"))
    explorer.press("label.edit")
    explorer.view.answer("here")
    explorer.press("operation.undo")
    assert explorer.view.said == ["the last change is still being written"]
    before = len(explorer.session)
    explorer.jobs.run("write")
    assert explorer.view.said[-1].startswith(f"labelled #{explorer.prompt('c')}")
    assert len(explorer.session) == len(lines(explorer.file.path)) - 1 == before + 1
    assert not explorer.state.writing


def test_what_was_typed_waits_for_what_is_being_read(explorer: Explorer) -> None:
    """The agent goes on while a sheet is open, and is being read as the sheet is answered."""
    explorer.its.navigation.go_to_entry(explorer.prompt("c"))
    explorer.press("label.edit")
    explorer.file.turn("e")
    explorer.its.followed.look()
    explorer.press("operation.undo")
    assert explorer.view.said == ["what was added to the file is still being read; try again in a moment"]
    explorer.view.answer("here")
    explorer.jobs.run("follow")
    explorer.jobs.run("follow")
    explorer.jobs.run("write")
    assert explorer.view.said[-1].startswith(f"labelled #{explorer.prompt('c')}")
    assert lines(explorer.file.path)[-1]["label"] == "here"


def test_a_change_that_is_refused_says_why_and_the_next_may_begin(explorer: Explorer) -> None:
    explorer.its.write.start("done", unwritten)
    explorer.jobs.run("write")
    assert explorer.view.said == ["the disk is full"]
    assert not explorer.state.busy


def test_a_change_that_fails_on_a_session_that_was_replaced_closes_it(explorer: Explorer) -> None:
    old = explorer.session
    explorer.its.write.start("done", unwritten)
    explorer.its.loader.read_anew(old.columns)
    explorer.jobs.run("read")
    assert explorer.session is not old
    assert native(old).file.at(0, 1), "whoever writes to it still needs its file"
    explorer.jobs.run("write")
    assert explorer.view.said == ["the disk is full"]
    with pytest.raises(OSError, match="closed"):
        native(old).file.at(0, 1)


def test_enter_moves_the_leaf_and_then_resumes_where_that_was_chosen(explorer: Explorer) -> None:
    explorer.its.navigation.go_to_entry(explorer.prompt("b"))
    explorer.press("move.here")
    explorer.view.answer("r")
    assert explorer.view.ran == []
    explorer.jobs.run("write")
    assert explorer.view.ran == ["agent.resume"]
    assert explorer.session.columns.id(explorer.session.place) == explorer.file.ends["b"]


# --- reading ----------------------------------------------------------------------------------------------------------


def test_a_session_that_is_replaced_while_it_is_read_is_read_once_more(explorer: Explorer) -> None:
    first = explorer.session
    explorer.its.loader.read_anew(first.columns)
    explorer.its.loader.read_anew(first.columns)
    explorer.jobs.run("read")
    assert explorer.session is first
    explorer.jobs.run("read")
    assert explorer.session is not first
    assert not explorer.jobs.running("read")


def test_what_is_worked_out_for_a_session_is_dropped_with_it(explorer: Explorer) -> None:
    explorer.its.search.start("make")
    explorer.its.details.survey()
    explorer.its.loader.read_anew(explorer.session.columns)
    explorer.jobs.run("read")
    # The search is for the new session, the overview waits for its numbers.
    assert explorer.jobs.running("search")
    assert not explorer.jobs.running("survey")


def test_the_cursor_goes_along_with_a_session_that_grows_from_the_leaf_only(explorer: Explorer) -> None:
    explorer.file.turn("e")
    explorer.its.followed.look()
    explorer.jobs.run("follow")
    assert explorer.cursor == explorer.prompt("e")
    explorer.its.navigation.go_to_entry(explorer.prompt("a"))
    explorer.file.turn("f")
    explorer.its.followed.look()
    explorer.jobs.run("follow")
    assert explorer.cursor == explorer.prompt("a")


def test_nothing_is_taken_in_below_a_sheet(explorer: Explorer) -> None:
    explorer.view.on_top = False
    explorer.file.turn("e")
    explorer.its.followed.look()
    assert not explorer.jobs.running("follow")


# --- finding ----------------------------------------------------------------------------------------------------------


def test_a_search_goes_to_the_next_hit_unless_the_user_has_moved_on(explorer: Explorer) -> None:
    explorer.its.navigation.go_to_entry(explorer.prompt("a"))
    explorer.its.search.start("make", explorer.view.tree.row)
    explorer.jobs.run("search")
    assert explorer.cursor == explorer.prompt("b")
    assert len(explorer.state.search.rows) == len(explorer.view.tree.hits) == 2
    explorer.its.search.start("prompt", explorer.view.tree.row)
    explorer.its.navigation.go_to_entry(explorer.prompt("d"))
    explorer.jobs.run("search")
    assert explorer.cursor == explorer.prompt("d")


def test_the_query_of_a_search_outlasts_it(explorer: Explorer) -> None:
    explorer.its.search.start("tool(edit) & error()")
    explorer.jobs.run("search")
    explorer.its.search.clear()
    assert explorer.state.search.last_query == "tool(edit) & error()"


def test_words_that_another_screen_searched_for_are_no_query(explorer: Explorer) -> None:
    explorer.its.search.arrive("kind(user)")
    explorer.jobs.run("search")
    assert not explorer.state.search.by_query
    assert explorer.state.search.rows == []


def test_a_step_to_the_next_hit_passes_rows_that_the_filter_hides(explorer: Explorer) -> None:
    explorer.its.filter.set(Filter.EDITS)
    explorer.its.search.start("prompt")
    explorer.jobs.run("search")
    seen = []
    for key in ("find.next", "find.next", "find.next", "find.previous"):
        explorer.press(key)
        seen.append(explorer.cursor)
    shown = {explorer.prompt("b"), explorer.prompt("y")}
    assert set(seen) == shown
    assert [one != other for one, other in pairwise(seen)] == [True] * 3
    hidden = len(explorer.state.search.places) - 2
    assert hidden
    assert f" of {hidden + 2}, {hidden} hidden by the filter" in explorer.view.said[-1]
    explorer.view.tree.cursor = 0
    explorer.its.filter.set(Filter.COMPACTIONS)
    explorer.jobs.run("search")
    explorer.press("find.next")
    assert f" of {hidden + 2}, {hidden + 2} hidden by the filter" in explorer.view.said[-1]


def test_the_mark_that_a_filter_hides_is_not_gone_to_but_told(explorer: Explorer) -> None:
    explorer.its.navigation.go_to_entry(explorer.prompt("a"))
    explorer.press("mark.set")
    explorer.its.filter.set(Filter.EDITS)
    explorer.its.navigation.go_to_entry(explorer.prompt("y"))
    explorer.view.said.clear()
    explorer.press("mark.go")
    explorer.press("leaf.go")
    explorer.press("entry.child")
    assert explorer.cursor == explorer.prompt("y")
    assert explorer.view.said == [
        "the filter hides the marked row",
        "the filter hides the leaf",
        "nothing follows on this branch",
    ]


# --- what came below --------------------------------------------------------------------------------------------------


def test_what_came_below_is_counted_until_the_cursor_is_on_the_leaf(explorer: Explorer) -> None:
    explorer.file.turn("e")
    explorer.its.followed.look()
    explorer.jobs.run("follow")
    assert explorer.state.unseen == 0, "the cursor was on the leaf"
    explorer.its.navigation.go_to_entry(explorer.prompt("a"))
    for name in "fg":
        explorer.file.turn(name)
        explorer.its.followed.look()
        explorer.jobs.run("follow")
        explorer.its.followed.cursor_moved()
    assert explorer.state.unseen == 4
    explorer.its.navigation.go_to_leaf()
    explorer.its.followed.cursor_moved()
    assert explorer.state.unseen == 0


# --- rows that are found ----------------------------------------------------------------------------------------------


def test_a_hit_is_unfolded_also_where_a_fold_begins_with_it(explorer: Explorer) -> None:
    explorer.its.navigation.go_to_entry(explorer.prompt("x"))
    explorer.press("fold.close")
    assert explorer.kind_here() is LineKind.FOLDED_BRANCH
    explorer.its.search.start("x prompt", 0)
    explorer.jobs.run("search")
    assert explorer.kind_here() is LineKind.ROW
    assert explorer.cursor == explorer.prompt("x")
    assert explorer.view.sought == ["x prompt"]
    explorer.press("mode.leave")
    assert explorer.view.sought == ["x prompt", ""]


def test_a_hit_in_an_entry_without_a_row_gives_every_entry_one(explorer: Explorer) -> None:
    explorer.its.navigation.go_to_entry(explorer.prompt("c"))
    explorer.press("label.edit")
    explorer.view.answer("here")
    explorer.jobs.run("write")
    explorer.its.navigation.lay_out(density=Density.ENTRIES)
    entry = len(explorer.session) - 1
    explorer.its.navigation.show_found(entry)
    assert explorer.cursor == entry
    assert sure(explorer.state.exploration).filter is Filter.ALL


def test_another_density_keeps_a_row_in_sight_that_would_be_folded(explorer: Explorer) -> None:
    explorer.its.navigation.lay_out(density=Density.ENTRIES)
    exploration = sure(explorer.state.exploration)
    row = exploration.layout.row_of(explorer.prompt("y"))
    explorer.its.navigation.go_to_row(row + 1)
    explorer.press("fold.close")
    assert explorer.kind_here() is LineKind.FOLDED_RUN
    explorer.its.navigation.lay_out(density=Density.TURNS)
    explorer.its.navigation.go_to_entry(explorer.prompt("y"))
    assert explorer.kind_here() is LineKind.ROW
    explorer.its.navigation.lay_out(density=Density.ENTRIES)
    assert explorer.kind_here() is LineKind.ROW
    assert explorer.cursor == explorer.prompt("y")


# --- summaries --------------------------------------------------------------------------------------------------------


def test_what_writes_waits_for_a_summary_and_escape_gives_it_up(explorer: Explorer) -> None:
    explorer.its.navigation.go_to_entry(explorer.prompt("b"))
    explorer.press("move.here")
    explorer.view.answer("s")
    modes = [explorer.state.mode]
    explorer.press("move.here")
    assert explorer.view.asked == []
    assert explorer.view.said == ["a summary of this session is still being made"]
    explorer.press("mode.leave")
    explorer.jobs.run("summary")
    assert explorer.view.said[-1] == "cancelled; nothing was written"
    modes.append(explorer.state.mode)
    assert modes == [Mode.SUMMARISING, Mode.BROWSING]


def test_the_choice_of_a_summariser_does_not_open_over_another_screen(explorer: Explorer) -> None:
    """There a letter that is typed would choose it, and send the branch to a model."""
    explorer.its.navigation.go_to_entry(explorer.prompt("x"))
    explorer.its.summary.start(summary_between(explorer.session, explorer.session.place, 0, preview=True))
    explorer.view.on_top = False
    explorer.jobs.run("summary")
    assert not explorer.view.asked
    assert explorer.view.said[-1] == "no summary: something else was opened before it began"
    assert explorer.state.summary is None


def test_what_is_refused_for_a_summary_names_it(explorer: Explorer) -> None:
    problems: list[str] = []
    explorer.state.summary = SummaryRun(SummaryRequest(9, 3, 31))
    explorer.its.write.start("done", unwritten, on_error=problems.append)
    assert problems == ["a summary of this session is still being made"]


def test_a_summary_of_a_session_that_was_replaced_is_given_up(explorer: Explorer) -> None:
    before = explorer.file.path.read_bytes()
    explorer.its.navigation.go_to_entry(explorer.prompt("b"))
    explorer.press("move.here")
    explorer.view.answer("s")
    explorer.its.loader.read_anew(explorer.session.columns)
    explorer.jobs.run("read")
    explorer.jobs.run("summary")
    assert not explorer.jobs.running("summary")
    assert explorer.state.summary is None
    assert explorer.file.path.read_bytes() == before


# --- the price --------------------------------------------------------------------------------------------------------


def test_the_price_of_another_place_is_not_shown(explorer: Explorer) -> None:
    details, navigation = explorer.its.details, explorer.its.navigation
    navigation.go_to_entry(explorer.prompt("b"))
    line = sure(explorer.view.tree.line)
    target = sure(explorer.state.exploration).target(line)
    details.ask_price(target)
    navigation.go_to_entry(explorer.prompt("a"))
    explorer.jobs.run("price")
    assert explorer.state.price is None
    navigation.go_to_entry(explorer.prompt("b"))
    details.ask_price(target)
    explorer.jobs.run("price")
    assert explorer.state.price is not None


def test_a_session_that_grows_faster_than_a_price_is_computed_shows_one(explorer: Explorer) -> None:
    """It fails where each new row drops the price that is being computed for the same place."""
    details, navigation = explorer.its.details, explorer.its.navigation
    navigation.go_to_entry(explorer.prompt("b"))
    details.follow_cursor()
    details.ask_price(sure(explorer.state.exploration).target(sure(explorer.view.tree.line)))
    explorer.file.turn("e")
    explorer.session.refresh()
    details.settle()
    details.follow_cursor()
    first = explorer.state.price
    explorer.jobs.run("price")
    shown = sure(explorer.state.price)
    assert first is None
    assert explorer.jobs.running("price"), "the new rows count, too"
    details.settle()
    assert explorer.state.price is shown
    explorer.jobs.run("price")
    assert not explorer.jobs.running("price")


def test_a_size_is_a_number_of_tokens_or_none_whatever_is_pasted() -> None:
    assert [typed_tokens(text) for text in ("200", " 12 ", "0", "many", "", "-3", "9" * 5000)] == [
        200,
        12,
        0,
        0,
        0,
        0,
        0,
    ]


def test_more_sub_agents_than_letters_are_counted_beside_those_that_can_be_chosen(explorer: Explorer) -> None:
    entry = EntryIndex(explorer.prompt("c"))
    many = [SubAgent(entry, f"/s/{at}.jsonl", f"look at {at}") for at in range(60)]
    explorer.its.sub_agents._choose(many[:24])
    sheet, _then = explorer.view.asked.pop()
    assert [one.title for one in sheet.rows.choices] == [one.title for one in many[:24]]
    assert not sheet.about.lines
    explorer.its.sub_agents._choose(many)
    sheet, _then = explorer.view.asked.pop()
    assert len(sheet.rows.choices) + 14 == len(many)
    assert [line.text for line in sheet.about.lines] == ["not shown: 14 more sub-agents"]
