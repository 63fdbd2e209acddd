"""The controllers of the search of all text, without a terminal."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from leafward.base.config import Config
from leafward.query.search.corpus import Corpus
from leafward.query.search.typed_query import parse
from leafward_tui.search.controllers.results import Results, text_of_hit
from leafward_tui.search.controllers.run import SearchRun
from leafward_tui.search.model.finds import FindKind, FindLine, Finds, HitText
from leafward_tui.search.state import LeftSearch, SearchState
from leafward_tui.ui.panes.two_panes import Panes
from leafward_tui.ui.screens.screen_controller import Means
from tests.opencode_store import Conversation, Database
from tests.searched import found
from tests.tui.session_store import lines_of, small_store
from tests.tui.sure import sure
from tests.tui.waiting_jobs import WANTED, WaitingJobs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from leafward_tui.search.display import SearchDisplay
    from leafward_tui.ui.open_target import OpenTarget
    from leafward_tui.ui.services import AppServices


class Screen:
    """The screen as the controllers see it."""

    in_field = True
    text_shown = True
    two_panes = True

    def __init__(self) -> None:
        self.finds = Finds()
        self.cursor = 0
        self.panes = Panes(self, lambda: self.line is not None)
        self.waiting: Callable[[], object] | None = None
        self.heard: list[str] = []

    @property
    def line(self) -> FindLine | None:
        return self.finds.lines[self.cursor] if self.finds.lines else None

    def show_finds(self, finds: Finds, cursor: int = 0) -> None:
        self.finds, self.cursor = finds, cursor

    def focus_results(self) -> None:
        self.in_field = False

    def leave_field(self) -> bool:
        return False

    def set_timer(self, _seconds: float, then: Callable[[], object]) -> FakeTimer:
        self.waiting = then
        return FakeTimer(self)

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_values: self.heard.append(name)


class FakeTimer:
    """The timer of a fake screen."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def stop(self) -> None:
        self._screen.waiting = None


class Parts:
    """A search without a screen, over a small store."""

    def __init__(self, root: Path) -> None:
        small_store(root)
        self.state = SearchState((), Corpus(list(lines_of(root).stock.cards)), "")
        self.screen, self.jobs = Screen(), WaitingJobs()
        self.said: list[str] = []
        self.opened: list[OpenTarget] = []
        services = SimpleNamespace(
            config=Config(),
            clock=lambda: datetime(2026, 3, 2, 12, tzinfo=UTC),
            say=lambda text, **_problem: self.said.append(text),
            screens=SimpleNamespace(session=lambda _path, _agent, target: self.opened.append(target)),
        )
        view = cast("SearchDisplay", self.screen)
        means = Means(self.state, view, cast("AppServices", services), self.jobs)
        self.run, self.results = SearchRun(means), Results(means)


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    return Parts(tmp_path)


def test_what_is_typed_is_searched_for_after_a_pause_and_enter_does_not_wait(parts: Parts) -> None:
    parts.run.type("the")
    assert not parts.jobs.running("search")
    parts.run.type("theme")
    parts.run.commit()
    assert parts.screen.waiting is None, "nothing is to be done after the pause"
    assert parts.state.text == "theme"
    parts.jobs.run("search")
    assert [found.card.title for found in parts.screen.finds.sessions] == [
        "Port the selectors to the theme system",
        "Light theme, second attempt",
        "Spike: themeable checkout",
        "Dark theme for the reading view",
    ]
    assert not parts.state.searching


def test_one_letter_is_not_searched_for_by_itself(parts: Parts) -> None:
    parts.run.type("t")
    assert parts.screen.waiting is not None
    parts.screen.waiting()
    assert not parts.jobs.running("search")
    assert parts.state.words == ("enter searches for one character", "")


def test_what_was_found_for_an_earlier_text_does_not_stand_under_one_letter(parts: Parts) -> None:
    parts.run.type("theme")
    parts.run.commit()
    parts.jobs.run("search")
    assert parts.screen.finds.lines
    parts.run.type("t")
    assert parts.screen.waiting is not None
    parts.screen.waiting()
    assert not parts.screen.finds.lines
    parts.run.commit()
    assert (parts.state.text, parts.jobs.running("search")) == ("t", True)


def test_escape_goes_out_of_one_thing_after_the_other(parts: Parts) -> None:
    parts.run.take_up(LeftSearch("theme"))
    leave = parts.run.actions["mode.leave"]
    parts.screen.two_panes = False
    parts.screen.panes = Panes(parts.screen, lambda: True)
    parts.screen.panes.toggle()
    leave()
    assert not parts.screen.panes.side
    assert parts.jobs.running("search")
    leave()
    assert not parts.jobs.running("search")
    assert (parts.state.searching, parts.state.words) == (False, ("stopped", ""))
    assert "go_back" not in parts.screen.heard
    leave()
    assert "go_back" in parts.screen.heard


def test_hits_of_a_search_that_was_stopped_say_so(parts: Parts) -> None:
    parts.run.take_up(LeftSearch("theme"))
    work, take, _ = parts.jobs.waiting["search"]
    every = work(WANTED)
    take(every._replace(sessions=every.sessions[:1], finished=False))
    parts.run.stop()
    assert parts.state.words == ("", "stopped")
    again = LeftSearch("theme", parts.screen.finds, 0, parts.state.words)
    parts.run.take_up(again)
    assert parts.state.words == ("", "stopped"), "when they are shown again, too"
    parts.run.stop()
    assert parts.state.words == ("", "stopped")


def test_a_search_that_fails_says_so_and_is_over(parts: Parts) -> None:
    parts.run.take_up(LeftSearch("theme"))
    _, _, failed = parts.jobs.waiting["search"]
    failed("the disk is gone")
    assert parts.said == ["the disk is gone"]
    assert not parts.state.searching


def test_a_hit_of_a_reply_opens_where_every_entry_has_a_row(parts: Parts) -> None:
    parts.run.take_up(LeftSearch("done footer"))
    parts.jobs.run("search")
    assert not parts.results.enabled("hit.open") or parts.screen.line is not None
    parts.screen.cursor = next(
        at for at, line in enumerate(parts.screen.finds.lines) if line.kind is FindKind.HIT and line.hit
    )
    parts.results.actions["hit.open"]()
    line = sure(parts.screen.line)
    assert line.hit is not None
    assert parts.opened[0].entry == line.hit.entry
    assert parts.opened[0].in_turn == (line.hit.part == "reply")


def test_a_name_that_stands_in_no_entry_is_shown(tmp_path: Path) -> None:
    talk = Conversation("ses_one", title="Medlar season")
    talk.turn("one")
    Database(tmp_path).write(talk)
    (here,) = found("medlar", tmp_path)
    text = text_of_hit(here.card, here.hits[0], parse("medlar", 0), WANTED)
    assert text == HitText("Medlar season", ((0, 6),))
