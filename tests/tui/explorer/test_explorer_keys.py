"""The keys of the explorer, without a terminal: what escape leaves first, and why a key does nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.session.tree.tree import SessionTree
from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.model.summary_request import SummaryRequest, SummaryRun
from leafward_tui.explorer.state import Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.tui.without_screen import Explorer


def test_escape_leaves_one_thing_after_the_other(explorer: Explorer) -> None:
    explorer.its.filter.set(Filter.PROMPTS)
    explorer.its.search.start("prompt")
    explorer.jobs.run("search")
    explorer.its.navigation.go_to_entry(explorer.prompt("a"))
    seen = []
    for _ in range(3):
        seen.append(explorer.state.mode)
        explorer.press("mode.leave")
    assert seen == [Mode.SEARCHING, Mode.FILTERING, Mode.BROWSING]
    assert explorer.cursor == explorer.prompt("d")


SAID_BY = {
    "find.next": "nothing is searched for",
    "find.previous": "nothing is searched for",
    "mark.go": "no row is marked",
    "leaf.go": "this is the leaf",
    "entry.child": "nothing follows on this branch",
    "point.next": "no branch leaves further down",
    "fold.open": "nothing is folded here",
    "fold.close": "nothing to fold here",
}
"""Keys that do nothing on the leaf, and what they say."""


@pytest.mark.parametrize("key", list(SAID_BY))
def test_a_key_that_does_nothing_says_why(key: str, explorer: Explorer) -> None:
    explorer.press(key)
    assert explorer.view.said == [SAID_BY[key]]


def test_a_key_that_goes_nowhere_at_the_top_says_why(explorer: Explorer) -> None:
    explorer.its.navigation.go_to_entry(explorer.prompt("a"))
    for key in ("entry.parent", "point.previous", "branch.next"):
        explorer.press(key)
    assert explorer.view.said == [
        "this is the first row",
        "no branch leaves further up",
        "no other branch here",
    ]


def test_nothing_folds_or_moves_where_a_filter_hides_rows(explorer: Explorer) -> None:
    explorer.its.filter.set(Filter.ERRORS)
    explorer.view.said.clear()
    stub = next(y for y in explorer.view.tree.rows_on_screen() if explorer.lines[y].kind is LineKind.HIDDEN)
    explorer.view.tree.cursor = stub
    for key in ("fold.toggle", "fold.all", "move.here", "session.fork"):
        explorer.press(key)
    hidden = explorer.lines[stub].rows
    assert explorer.view.said == [
        "nothing folds while a filter is on",
        "nothing folds while a filter is on",
        f"a filter hides {hidden} rows here",
        "these rows are hidden: go to one that is shown",
    ]
    assert not explorer.view.asked


def test_keys_for_one_row_say_why_they_do_nothing_on_several(explorer: Explorer) -> None:
    keys = ("files.restore", "context.edit", "file.timeline")
    explorer.view.tree.cursor = 0
    explorer.press("fold.all")
    fold = next(y for y in explorer.view.tree.rows_on_screen() if explorer.lines[y].kind.is_fold)
    explorer.view.tree.cursor = fold
    for key in keys:
        explorer.press(key)
    assert explorer.view.said == ["several rows are folded here: unfold them and choose one"] * 3
    explorer.its.filter.set(Filter.ERRORS)
    explorer.view.said.clear()
    stub = next(y for y in explorer.view.tree.rows_on_screen() if explorer.lines[y].kind is LineKind.HIDDEN)
    explorer.view.tree.cursor = stub
    for key in (*keys, "bisect.open"):
        explorer.press(key)
    assert explorer.view.said == ["these rows are hidden: go to one that is shown"] * 4
    assert not explorer.view.asked


def test_the_path_of_a_row_is_listed_in_the_job(explorer: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path of 100,000 entries takes longer than a key may."""
    listed: list[int] = []
    path = SessionTree.path

    def counted(tree: SessionTree, entry: int) -> Sequence[int]:
        listed.append(entry)
        return path(tree, entry)

    monkeypatch.setattr(SessionTree, "path", counted)
    explorer.its.navigation.go_to_entry(explorer.prompt("d"))
    explorer.press("file.timeline")
    assert not listed
    explorer.jobs.run("choose")
    assert listed


def test_nothing_is_typed_that_a_summary_under_way_would_refuse(explorer: Explorer) -> None:
    explorer.its.navigation.go_to_entry(explorer.prompt("x"))
    explorer.state.summary = SummaryRun(SummaryRequest(9, 3, 31))
    for key in ("label.edit", "name.edit", "branch.archive"):
        explorer.press(key)
    assert explorer.view.said == ["a summary of this session is still being made"] * 3
    assert not explorer.view.asked


def test_an_entry_that_a_filter_hides_is_not_passed_off_as_the_row_beside_it(explorer: Explorer) -> None:
    explorer.its.filter.set(Filter.ERRORS)
    explorer.view.said.clear()
    for entry in (explorer.prompt("a"), explorer.prompt("y")):
        explorer.its.navigation.show_entry(entry)
    assert explorer.view.said == [
        f"the filter hides #{explorer.prompt('a')}; this is the nearest row on show"
    ]
    assert explorer.cursor == explorer.prompt("y")
