"""The controller of the inspector, without a terminal."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from leafward.base.config import Config
from leafward_tui.inspector.controllers.pages import Pages
from leafward_tui.inspector.page import ContextLimits, Page
from leafward_tui.inspector.state import InspectorState
from leafward_tui.inspector.tab import Tab
from leafward_tui.ui.appearance.glyphs import UNICODE
from tests.tui.inspector_data import reply, turn, user, write_session
from tests.tui.waiting_jobs import WaitingJobs

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session
    from leafward_tui.ui.services import AppServices


class Pane:
    """The pane as the controller sees it."""

    room = (60, 30)

    def __init__(self) -> None:
        self.shown: list[tuple[Tab | None, bool]] = []
        self.tabs: list[Tab] = []

    def show_page(self, page: Page | None, *, keep_place: bool) -> None:
        self.shown.append((page.tab if page is not None else None, keep_place))

    def show_tab_open(self, tab: Tab) -> None:
        self.tabs.append(tab)


class Made:
    def __init__(self) -> None:
        self.pane, self.jobs, self.state = Pane(), WaitingJobs(), InspectorState(None)
        services: Any = SimpleNamespace(glyphs=UNICODE, config=Config())
        self.pages = Pages(self.state, self.pane, cast("AppServices", services), self.jobs)


@pytest.fixture
def made() -> Made:
    return Made()


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return write_session(tmp_path / "s.jsonl", user("one"), reply("two"), user("three"))


def test_the_page_before_stays_until_the_next_is_built(made: Made, session: Session) -> None:
    made.pages.show(turn(session))
    assert made.pane.shown == []
    made.jobs.run("page")
    made.pages.show(turn(session))
    assert not made.jobs.running("page")
    made.pages.show_tab(Tab.RAW)
    made.jobs.run("page")
    assert made.pane.shown == [(Tab.ENTRY, False), (Tab.RAW, False)]
    assert made.state.built == 2


def test_a_turn_that_grows_faster_than_its_page_is_built_shows_one(made: Made, session: Session) -> None:
    """It fails where each new entry drops the page that is being built for the same turn."""
    first = turn(session)
    made.pages.show(first)
    building = made.jobs.waiting["page"]
    made.pages.show(replace(first, entries=(range(3),)))
    assert made.jobs.waiting["page"] is building
    made.jobs.run("page")
    assert made.pane.shown == [(Tab.ENTRY, False)]
    assert made.jobs.running("page"), "the new entries count, too"
    made.pages.show_tab(Tab.RAW)
    made.jobs.run("page")
    assert made.pane.shown[1:] == [(Tab.RAW, False)]
    assert not made.jobs.running("page")


def test_a_section_opens_where_it_is_and_closes_with_another_selection(made: Made, session: Session) -> None:
    made.pages.show(turn(session))
    made.jobs.run("page")
    made.pages.toggle("remarks")
    made.jobs.run("page")
    assert made.pane.shown[-1] == (Tab.ENTRY, True)
    made.pages.show(turn(session, 2))
    assert made.state.toggled == {}


def test_without_room_too_nothing_stays_of_a_selection_that_is_gone(made: Made, session: Session) -> None:
    made.pages.show(turn(session))
    made.jobs.run("page")
    made.pane.room = (0, 0)
    made.pages.show(None)
    assert made.pane.shown[-1] == (None, False)


def test_nothing_is_built_without_room_or_selection(made: Made, session: Session) -> None:
    made.pane.room = (0, 0)
    made.pages.show(turn(session))
    assert not made.jobs.running("page")
    made.pane.room = (60, 30)
    made.pages.remeasure()
    assert made.jobs.running("page")
    made.pages.show(None)
    assert not made.jobs.running("page")
    assert made.pane.shown == [(None, False)]


def test_tabs_go_round_and_another_window_counts_for_contexts_only(made: Made, session: Session) -> None:
    made.pages.show(turn(session))
    made.jobs.run("page")
    made.pages.measure_by(ContextLimits(1_000_000))
    assert not made.jobs.running("page")
    made.pages.step_tab(-1)
    made.pages.step_tab(1)
    made.pages.step_tab(1)
    assert made.pane.tabs == [Tab.RAW, Tab.ENTRY, Tab.CONTEXT]
    made.jobs.run("page")
    made.pages.measure_by(ContextLimits(200_000))
    assert made.jobs.running("page")
