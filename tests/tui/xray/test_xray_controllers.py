"""The controllers of the X-ray, without a terminal: a fake screen, jobs that run at once."""

from __future__ import annotations

from contextlib import closing
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from leafward.base.strategies import Strategy
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.compaction.strategies.by_name import ALL_ESTIMATORS
from leafward.compaction.xray.alignment import Link
from leafward.compaction.xray.xray import xray_edited, xray_planned
from leafward.session.entries import Kind
from leafward.session.session import Session
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.screens.screen_controller import Means
from leafward_tui.xray.controllers.lines import Lines
from leafward_tui.xray.controllers.loader import XRayLoader
from leafward_tui.xray.controllers.lost_facts import LostFacts
from leafward_tui.xray.controllers.search import Search
from leafward_tui.xray.hints import title_facts
from leafward_tui.xray.model.arrangement import Side
from leafward_tui.xray.state import XRayState
from tests.tui.sure import sure
from tests.tui.waiting_jobs import WANTED
from tests.tui.xray.test_xray import orchard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from leafward_tui.ui.screen_results import XRayResult
    from leafward_tui.xray.controllers.controller import XRayMeans
    from leafward_tui.xray.model.arrangement import Arrangement, Piece


class AtOnce:
    """Jobs that run when they are started."""

    def latest(
        self,
        _key: str,
        work: Callable[[Any], Any],
        on_done: Callable[[Any], object],
        on_error: Callable[[str], object],
    ) -> None:
        try:
            result = work(WANTED)
        except OSError as error:
            on_error(str(error))
        else:
            on_done(result)


class FakeLines:
    """Both sides, without a widget."""

    arrangement: Arrangement | None = None
    side = Side.AFTER
    cursor = 0
    lit: frozenset[int] = frozenset()
    words = ""

    @property
    def line(self) -> Any:
        return self.arrangement.lines[self.cursor] if self.arrangement is not None else None

    @property
    def piece(self) -> Piece | None:
        return self.line.side(self.side) if self.line is not None else None

    def show(self, arrangement: Arrangement, _teller: object, cursor: int, side: Side) -> None:
        self.arrangement, self.cursor, self.side = arrangement, cursor, side

    def move_to(self, line: int) -> None:
        self.cursor = line

    def turn(self, side: Side, line: int) -> None:
        self.side, self.cursor = side, line

    def search(self, words: str) -> None:
        self.words = words

    def light(self, lines: frozenset[int]) -> None:
        self.lit = lines


class FakeScreen:
    """The screen as the controllers see it."""

    sheet_rows = 20

    def __init__(self) -> None:
        self.lines = FakeLines()
        self.said: list[str] = []
        self.results: list[XRayResult] = []
        self.about = SimpleNamespace(
            say=lambda text, _ink="": self.said.append(text), show=lambda _lines: None
        )
        self.went_back = False
        self.show_title: Callable[[], object] = lambda: None
        self.search: Search

    def dismiss(self, result: XRayResult) -> None:
        self.results.append(result)

    def go_back(self) -> None:
        self.went_back = True

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith(("show_", "open_")):
            return lambda *_: None
        raise AttributeError(name)


def means_of(state: XRayState, screen: FakeScreen) -> XRayMeans:
    services: Any = SimpleNamespace(glyphs=UNICODE)
    return Means(state, cast("Any", screen), services, cast("Any", AtOnce()))


@pytest.fixture
def xray(tmp_path: Path) -> Iterator[tuple[FakeScreen, XRayState, Lines]]:
    with closing(Session.open(orchard(tmp_path / "s.jsonl").path)) as session:
        compaction = bytes(session.columns.kind).index(Kind.COMPACTION)
        state, screen = XRayState(session, compaction), FakeScreen()
        means = means_of(state, screen)
        lines = Lines(means)
        screen.search = Search(means, lines)
        XRayLoader(means, lines).load()
        yield screen, state, lines


def test_loading_fills_the_state_and_puts_the_cursor_on_the_summary(
    xray: tuple[FakeScreen, XRayState, Lines],
) -> None:
    screen, state, _ = xray
    assert state.loaded.xray is not None
    assert state.loaded.fates is not None
    assert state.loaded.line_rows
    assert screen.lines.side is Side.AFTER


def test_a_kind_that_is_not_there_is_said_and_changes_nothing(
    xray: tuple[FakeScreen, XRayState, Lines],
) -> None:
    screen, state, lines = xray
    lines.show_only(Link.CUT)
    lines.show_only(Link.PREFIX)
    assert state.folds.only is None
    assert screen.said == ["nothing is dropped here", "no turn is split here"]


def test_the_title_counts_the_hits_that_a_filter_leaves(xray: tuple[FakeScreen, XRayState, Lines]) -> None:
    screen, _, lines = xray
    screen.search.hits.search("tree")
    every = len(screen.search.hits.hits)
    titles: list[int] = []
    screen.show_title = lambda: titles.append(len(screen.search.hits.hits))
    lines.show_only(Link.INJECTED)
    assert titles[-1:] == [len(screen.search.hits.hits)]
    assert titles[-1] < every


def test_a_search_that_fails_leaves_no_hits_of_the_one_before_in_the_title(
    xray: tuple[FakeScreen, XRayState, Lines], monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_given: object) -> None:
        raise OSError("the session is gone")

    screen, _, _ = xray
    titles: list[str] = []
    screen.show_title = lambda: titles.append(sure(screen.search.hits.fact()).value)
    screen.search.hits.search("tree")
    monkeypatch.setattr("leafward_tui.xray.controllers.search.entries_holding", gone)
    screen.search.hits.search("trees")
    assert titles[-1] == "no"
    assert screen.said[-1:] == ["the session is gone"]


def test_leaving_ends_the_search_then_shows_everything_then_closes(
    xray: tuple[FakeScreen, XRayState, Lines],
) -> None:
    screen, state, lines = xray
    lines.show_only(Link.INJECTED)
    assert state.folds.only is Link.INJECTED
    screen.search.hits.search("tree")
    screen.search.leave()
    assert (screen.search.words, state.folds.only) == ("", Link.INJECTED)
    screen.search.leave()
    assert {state.folds.only} == {None}
    assert not screen.went_back
    screen.search.leave()
    assert screen.went_back


def test_edits_are_undone_only_where_there_are_some(xray: tuple[FakeScreen, XRayState, Lines]) -> None:
    screen, state, _ = xray
    LostFacts(means_of(state, screen)).undo_edits()
    assert not screen.results
    assert "only context edits are undone here" in screen.said[-1]


def test_only_an_xray_of_edits_is_headed_by_edits(demo: Path) -> None:
    with closing(Session.open(demo)) as session:
        edit = session.columns.kind.find(Kind.CONTEXT_EDIT)
        sizes = measure(session, estimators=ALL_ESTIMATORS)
        planned = xray_planned(session, plan(sizes, PlanSettings(strategy=Strategy.CODEX)))
        assert planned.origins.messages.edits, "an older edit is in the context"
        assert any(row.cut for row in planned.rows), "a message loses its end, as an edited one may"
        for xray, headed in ((planned, False), (xray_edited(session, edit), True)):
            state = XRayState(session)
            state.loaded.xray = xray
            texts = " ".join(fact.value for fact in title_facts(state, None, UNICODE))
            assert ("edited" in texts) == headed
