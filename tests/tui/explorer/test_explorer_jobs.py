"""The explorer where a job fails, is overtaken by growth, or ends below another screen, without a terminal."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import Refused
from leafward.session.tree.density import Density
from tests.tui.explored import forked

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tui.without_screen import Explorer


def test_a_search_that_fails_says_so_in_the_sheet_that_asks(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails where the sheet, which covers the note, goes on to say that it searches, or that nothing was found."""

    def gone(*_given: object, **_more: object) -> None:
        raise Refused("the file is gone")

    monkeypatch.setattr("leafward.query.search.in_session.find", gone)
    explorer.press("find.open")
    sheet, _done = explorer.view.asked[0]
    drawn: list[str] = []
    monkeypatch.setattr(sheet, "tell_outcome", lambda: drawn.append(explorer.its.search._outcome("make")))
    explorer.its.search._follow("make")
    assert explorer.its.search._outcome("make") == "searching"
    explorer.jobs.run("search")
    assert drawn == ["cannot search: the file is gone"]
    explorer.its.search._follow("made")
    assert explorer.its.search._outcome("made") == "searching"


def test_hits_that_were_found_before_the_path_was_measured_are_on_the_strip(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails where they stay the turns of the path before, or none at all."""
    hits: list[list[int]] = []
    strip = SimpleNamespace(
        show=lambda _overview: None,
        set_ghost=lambda _ghost: None,
        set_hits=lambda turns: hits.append([*turns]),
    )
    monkeypatch.setattr(explorer.view, "strip", strip)
    explorer.its.search.start("make")
    explorer.jobs.run("search")
    assert hits == [[]]
    explorer.its.details.survey()
    explorer.jobs.run("survey")
    assert hits == [[], [1]]


def test_a_leaf_that_comes_to_the_cursor_leaves_nothing_unseen(explorer: Explorer) -> None:
    explorer.its.navigation.go_to_entry(explorer.prompt("a"))
    explorer.file.turn("e")
    explorer.its.followed.look()
    explorer.jobs.run("follow")
    assert explorer.state.unseen
    explorer.press("move.here")
    explorer.view.answer("m")
    explorer.jobs.run("write")
    assert not explorer.state.unseen


def test_a_forecast_that_fails_is_not_being_counted_for_ever(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_given: object) -> None:
        raise Refused("the file is gone")

    told: list[str] = []
    gauge = SimpleNamespace(
        set_forecast=lambda *, live, forecast: told.append(forecast.words if forecast else str(live))
    )
    monkeypatch.setattr("leafward_tui.explorer.lost_facts.is_long", lambda _session: True)
    monkeypatch.setattr("leafward_tui.explorer.lost_facts.forecast", fails)
    monkeypatch.setattr(explorer.view, "gauge", gauge)
    explorer.its.details._ask_forecast()
    explorer.jobs.run("forecast")
    assert told == ["counting facts…", "True"]


@pytest.mark.parametrize(("intent_id", "key"), [("branches.table", "branches"), ("session.fork", "fork")])
def test_what_is_not_shown_over_another_screen_is_not_being_read_for_ever(
    explorer: Explorer, intent_id: str, key: str
) -> None:
    explorer.press(intent_id)
    assert explorer.view.note
    explorer.view.on_top = False
    explorer.jobs.run(key)
    assert (explorer.view.note, explorer.view.asked) == ("", [])


def test_a_session_that_grows_faster_than_it_is_looked_through_is_looked_through_all_the_same(
    explorer: Explorer, tmp_path: Path
) -> None:
    """It fails where each new count drops the look at what the session is made of."""
    its, jobs = explorer.its, explorer.jobs
    explorer.session.header["parentSession"] = str(forked(tmp_path / "parent.jsonl").path)
    with explorer.file.path.open("a") as file:
        file.write('{"type":"message","broken\n')
    explorer.session.refresh()
    its._look_on()
    begun = dict(jobs.waiting)
    its._look_on()
    for key in ("parent", "healable", "sub_agents"):
        assert jobs.waiting[key] is begun[key]
        jobs.run(key)
    assert explorer.state.parent_title


def test_a_note_of_a_row_is_not_that_of_before_the_row_grew(explorer: Explorer) -> None:
    """It fails where the note that is being worked out while the row grows is kept."""
    explorer.its.navigation.lay_out(density=Density.COMFORTABLE)
    explorer.its.metrics.note_rows()
    assert explorer.jobs.running("note")
    explorer.its.metrics.forget_note(explorer.prompt("d"))
    assert not explorer.jobs.running("note")
