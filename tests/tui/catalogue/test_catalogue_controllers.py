"""The controllers of the catalogue, without a terminal."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from leafward.base.config import Config
from leafward.catalogue.lineage import Sort
from leafward.catalogue.listing import Catalogue
from leafward_tui.catalogue.controllers.arrangement import Arrangement
from leafward_tui.catalogue.controllers.curation import Curation
from leafward_tui.catalogue.controllers.filter import Filter
from leafward_tui.catalogue.controllers.preview import Previews
from leafward_tui.catalogue.controllers.stores import StoreReading, Stores
from leafward_tui.catalogue.model.listing import EMPTY, Grouping, LineKind, ListLine
from leafward_tui.catalogue.state import CatalogueState
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.panes.two_panes import Panes
from leafward_tui.ui.screens.screen_controller import Means
from tests.tui.session_store import lines_of, small_store
from tests.tui.sure import sure
from tests.tui.waiting_jobs import WaitingJobs

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.catalogue.listing import Update
    from leafward_tui.catalogue.controllers.controller import CatalogueMeans
    from leafward_tui.catalogue.display import CatalogueDisplay
    from leafward_tui.ui.services import AppServices


class Screen:
    """The screen as the controllers see it."""

    listing = EMPTY
    line: ListLine | None = None
    on_top = True
    preview_shown = True
    in_field = False
    two_panes = True

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.panes = Panes(self, lambda: True)

    @property
    def card(self) -> object:
        return self.line.card if self.line is not None else None

    def leave_field(self) -> bool:
        return False

    def show_listing(self, listing: Any) -> None:
        self.listing = listing

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_values: self.heard.append(name)


class Services:
    """The services of an application that remembers."""

    config = Config()
    glyphs = UNICODE

    def __init__(self) -> None:
        self.kept: dict[str, object] = {}
        self.said: list[str] = []

    def clock(self) -> datetime:
        return datetime(2026, 3, 2, 12, tzinfo=UTC)

    def remember(self, key: str, value: object) -> None:
        self.kept[key] = value

    def recall(self, key: str) -> object:
        return self.kept.get(key)

    def say(self, text: str, *, problem: bool = False) -> None:
        self.said.append(f"problem: {text}" if problem else text)


class Parts:
    """A catalogue without a screen."""

    def __init__(self) -> None:
        self.state, self.screen, self.services, self.jobs = (
            CatalogueState(),
            Screen(),
            Services(),
            WaitingJobs(),
        )
        self.view = cast("CatalogueDisplay", self.screen)
        services = cast("AppServices", self.services)
        self.means: CatalogueMeans = Means(self.state, self.view, services, self.jobs)
        self.arrangement = Arrangement(self.means)
        self.stores = Stores(self.means, self.arrangement)
        self.curation = Curation(self.means, self.stores)


@pytest.fixture
def parts() -> Parts:
    return Parts()


def test_a_session_that_grows_faster_than_it_is_read_shows_a_preview(parts: Parts, tmp_path: Path) -> None:
    """It fails where each new look at the stores drops the preview that is being read."""
    small_store(tmp_path)
    previews = Previews(parts.means)
    parts.state.stores.catalogue = Catalogue(Config(), [tmp_path])
    (line,) = (one for one in lines_of(tmp_path).lines if one.card and one.card.title.startswith("Light"))
    parts.screen.line = line
    previews.look()
    reading = parts.jobs.waiting["preview"]
    parts.screen.line = line._replace(card=sure(line.card)._replace(size=1))
    previews.look()
    assert parts.jobs.waiting["preview"] is reading
    parts.jobs.run("preview")
    assert "show_preview" in parts.screen.heard
    assert parts.jobs.running("preview"), "what came meanwhile counts, too"


def test_sort_and_grouping_are_there_at_the_next_start(parts: Parts) -> None:
    parts.arrangement.actions["sort.next"]()
    parts.arrangement.actions["group.next"]()
    again = Parts()
    again.services.kept = parts.services.kept
    again.arrangement.restore()
    assert again.state.list.view == parts.state.list.view
    assert (again.state.list.view.sort, again.state.list.view.grouping) == (Sort.NAME, Grouping.FOREST)


def test_a_group_that_is_folded_while_a_filter_holds_is_open_afterwards(parts: Parts) -> None:
    parts.screen.line = ListLine(LineKind.GROUP, "orchard")
    parts.arrangement.filter_by("pear")
    parts.arrangement.actions["project.close"]()
    assert parts.state.list.folded == {"orchard"}
    parts.arrangement.actions["project.close"]()
    assert parts.state.list.folded == {"orchard"}, "closed already"
    parts.arrangement.filter_by("")
    assert parts.state.list.folded == frozenset()


def test_escape_leaves_the_preview_before_it_takes_the_filter_away(parts: Parts) -> None:
    parts.screen.two_panes = False
    panes = parts.screen.panes = Panes(parts.screen, lambda: True)
    found = Filter(parts.means)
    panes.toggle()
    found.actions["mode.leave"]()
    assert "clear_filter" not in parts.screen.heard
    assert not panes.side
    found.actions["mode.leave"]()
    assert "clear_filter" in parts.screen.heard


def known(cards: list[Any], **update: Any) -> StoreReading:
    """Cards as a look at the stores reports them."""
    every = {"done": 1, "total": 1, "changed": 0, "gone": 0, "finished": True, **update}
    return StoreReading(cast("Any", object()), cards, cast("Update", SimpleNamespace(**every)))


def test_what_is_found_while_lines_are_made_is_listed_at_the_end(parts: Parts, tmp_path: Path) -> None:
    small_store(tmp_path)
    cards = list(lines_of(tmp_path).stock.cards)
    parts.stores.look_around()
    take = parts.jobs.waiting["stores"][0].args[-1]
    take(known([], finished=False))
    take(known(cards, changed=len(cards), finished=False))
    assert parts.state.stores.cards == [], "lines are being made"
    take(known(cards))
    assert parts.state.stores.cards == cards


def test_what_a_cancelled_look_had_found_is_not_lost(parts: Parts, tmp_path: Path) -> None:
    small_store(tmp_path)
    cards = list(lines_of(tmp_path).stock.cards)
    parts.stores.look_around()
    _, take = parts.jobs.waiting["stores"][0], parts.jobs.waiting["stores"][0].args[-1]
    take(known(cards))
    parts.jobs.cancel("stores", "lines")
    parts.stores.look_around()
    parts.stores.look_around()
    take(known(cards[1:]))
    assert parts.state.stores.cards == cards[1:]
    parts.jobs.cancel("stores", "lines")
    parts.stores.look_around()
    take(known(cards))
    assert parts.state.stores.cards == cards[1:], "nothing new was said"


def test_a_look_that_fails_says_so_once_and_rests(parts: Parts) -> None:
    parts.stores.look_around()
    _, _, failed = parts.jobs.waiting["stores"]
    failed("the disk is gone")
    parts.jobs.cancel()
    parts.stores.look_in_time()
    assert not parts.jobs.running("stores")
    assert parts.services.said == ["problem: the disk is gone"]
    assert {"show_progress", "show_state"} <= set(parts.screen.heard)


def test_what_was_done_is_taken_back_once_and_a_refusal_is_said(
    parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = small_store(tmp_path)["port"].path
    listing = lines_of(tmp_path)
    parts.screen.line = next(line for line in listing.lines if line.card and Path(line.card.path) == file)
    assert not parts.curation.enabled("session.undo")
    parts.curation.actions["session.archive"]()
    parts.jobs.run("curation")
    title = next(line.card.title for line in listing.lines if line is parts.screen.line and line.card)
    assert parts.services.said == [f"archived: {title}"]
    assert parts.curation.enabled("session.undo")
    parts.curation.actions["session.undo"]()
    parts.jobs.run("curation")
    assert parts.services.said == [f"archived: {title}", f"unarchived: {title}"]
    assert not parts.curation.enabled("session.undo")
    parts.curation.actions["session.archive"]()
    parts.jobs.run("curation")
    aside = file.rename(file.with_suffix(".aside"))
    parts.curation.actions["session.undo"]()
    parts.jobs.run("curation")
    assert parts.services.said[-1].startswith("problem: ")
    assert parts.curation.enabled("session.undo"), "an undo that failed may be possible again"
    aside.rename(file)
    parts.curation.actions["session.undo"]()
    parts.jobs.run("curation")
    assert parts.services.said[-1] == f"unarchived: {title}"
    assert not parts.curation.enabled("session.undo")
    file.unlink()
    parts.curation.actions["session.archive"]()
    parts.jobs.run("curation")
    assert parts.services.said[-1].startswith("problem: ")
