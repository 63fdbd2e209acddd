from __future__ import annotations

import builtins
import json
import os
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

from leafward.base.config import Config
from leafward.catalogue import listing as listing_module
from leafward.catalogue.cards.full_card import read_whole
from leafward.catalogue.listing import FIRST_PAGE, READ_AT_MOST, Catalogue, Update
from tests.core.listed_sessions import Draft
from tests.foreign_stores import make

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.agents.base import SessionCandidate
    from leafward.catalogue.cards.card import Card, Reading

from leafward.agents.registry import all_agents
from tests.core.catalogued import config, fill, listed


class Clock:
    """Advances by a fixed step each time it is asked."""

    def __init__(self, step: float = 0.0) -> None:
        self.now = 0.0
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def catalogue(store: Path, **more: Any) -> Catalogue:
    return Catalogue(config(store), **more)


def all_of(listed: Catalogue) -> tuple[set[str], set[str]]:
    """Sessions that a refresh reports as gone or changed, over all its updates."""
    updates: list[Update] = []
    listed.refresh(publish=updates.append)
    return {path for one in updates for path in one.gone}, {path for one in updates for path in one.changed}


@pytest.fixture
def opened(store: Path) -> Iterator[list[str]]:
    """The files under the store that this process opens, in order; a hook cannot be taken away, so it is switched off."""
    found: list[str] = []
    active = True

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if (
            active
            and event == "open"
            and isinstance(arguments[0], str)
            and arguments[0].startswith(str(store))
        ) and not os.path.isdir(arguments[0]):
            found.append(arguments[0])

    sys.addaudithook(audit)
    yield found
    active = False


def test_an_empty_place_lists_nothing_and_says_where_it_looked(store: Path) -> None:
    empty = catalogue(store)
    assert empty.refresh() == Update((), (), 0, 0, finished=True)
    assert (empty.cards(), empty.searched[0], empty.trouble) == ([], str(store), [])


def test_everything_is_listed_and_known_at_once_the_next_time(store: Path) -> None:
    paths = fill(store, 7)
    first = catalogue(store)
    assert first.cards() == []
    update = first.refresh()
    assert (update.done, update.total, update.finished) == (7, 7, True)
    second = catalogue(store)
    assert sorted(second.cards()) == sorted(first.cards())
    assert {card.path for card in second.cards()} == {str(path) for path in paths}
    assert not any(card.partial for card in second.cards())
    assert second.details(str(paths[0])) == first.details(str(paths[0]))


def test_nothing_is_opened_where_nothing_changed(store: Path, opened: list[str]) -> None:
    paths = fill(store, 9)
    catalogue(store).refresh()
    assert set(opened) >= set(map(str, paths)), "the count sees what is opened"
    opened.clear()
    again = catalogue(store)
    again.refresh()
    assert opened == []
    assert (again.work.looked_at, again.work.peeked, again.work.read_on, again.work.read_whole) == (
        9,
        0,
        0,
        0,
    )


class CountingFile:
    """A file that counts what is read of it."""

    def __init__(self, file: Any, ranges: list[tuple[int, int]]) -> None:
        self._file = file
        self._ranges = ranges

    def read(self, size: int = -1) -> bytes:
        start = self._file.tell()
        got: bytes = self._file.read(size)
        self._ranges.append((start, start + len(got)))
        return got

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def test_a_file_that_grew_is_read_from_its_old_end_only(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = Draft()
    draft.user("hello")
    for _ in range(200):
        draft.assistant("word " * 100, total=5000)
    path = draft.write(store / "a.jsonl")
    old = path.stat().st_size
    listed = catalogue(store)
    listed.refresh()
    draft.user("one more")
    grown = draft.append_to(path, 1)
    ranges: list[tuple[int, int]] = []
    real = builtins.open

    def counting(name: Any, *rest: Any, **more: Any) -> Any:
        file = real(name, *rest, **more)
        return CountingFile(file, ranges) if str(name) == str(path) else file

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "open", counting)
        listed.refresh()
    assert (listed.work.read_on, listed.work.read_whole, listed.work.peeked) == (1, 0, 0)
    before = sum(min(stop, old) - start for start, stop in ranges if start < old)
    behind = [(start, stop) for start, stop in ranges if start >= old]
    assert behind == [(old, old + grown)]
    assert before <= 2 * (64 + 256), "besides the appended bytes only the seals are read"
    [card] = listed.cards()
    assert (card.turns, card.entries, card.size) == (2, 202, old + grown)
    assert catalogue(store).cards() == [card]


def test_a_card_out_of_date_says_so_until_it_is_read_again(store: Path) -> None:
    [path] = fill(store, 1)
    listed = catalogue(store)
    listed.refresh()
    path.write_bytes(path.read_bytes() + b"{broken\n")
    seen: list[bool] = []
    listed.clock = Clock(1.0)
    listed.refresh(publish=lambda _: seen.append(listed.cards()[0].partial))
    assert seen[0] is True
    assert seen[-1] is False
    assert listed.cards()[0].damage == 1


def test_a_file_that_is_gone_leaves_the_list_and_the_index(store: Path) -> None:
    paths = fill(store, 5)
    listed = catalogue(store)
    listed.refresh()
    paths[1].unlink()
    for path in paths[::3]:
        path.unlink()
    update = listed.refresh()
    assert set(update.gone) == {str(paths[number]) for number in (0, 1, 3)}
    assert {card.path for card in listed.cards()} == {str(paths[2]), str(paths[4])}
    assert len(catalogue(store).cards()) == 2
    os.replace(store, store.with_name("elsewhere"))
    assert len(listed.refresh().gone) == 2
    assert catalogue(store).cards() == []


def test_a_moved_file_is_one_gone_and_one_new(store: Path) -> None:
    [path] = fill(store, 1)
    listed = catalogue(store)
    listed.refresh()
    moved = path.rename(path.with_name("other.jsonl"))
    gone, changed = all_of(listed)
    assert (gone, changed) == ({str(path)}, {str(moved)})


@pytest.mark.parametrize(("soon", "more"), [(None, 0), (0, 6)])
def test_behind_the_first_page_only_what_is_not_read_soon_gets_a_first_look(
    soon: int | None, more: int, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if soon is not None:
        monkeypatch.setattr(listing_module, "SOON", soon)
    fill(store, FIRST_PAGE + 6)
    listed = catalogue(store)
    listed.refresh()
    assert (listed.work.peeked, listed.work.read_whole) == (FIRST_PAGE + more, FIRST_PAGE + 6)
    assert len(listed.cards()) == FIRST_PAGE + 6


def test_what_was_only_peeked_at_and_then_removed_goes_too(store: Path) -> None:
    paths = fill(store, 3)
    listed = catalogue(store)
    seen: list[Update] = []
    listed.refresh(stop=lambda: bool(seen), publish=seen.append)
    assert len(listed.cards()) == 3
    paths[0].unlink()
    assert all_of(listed)[0] == {str(paths[0])}
    assert len(listed.cards()) == 2


def test_the_first_page_comes_first_newest_first_and_is_not_final(store: Path) -> None:
    paths = fill(store, FIRST_PAGE + 6, replies=15)
    listed = catalogue(store, clock=Clock(0.0))
    pages: list[tuple[Update, list[Card]]] = []
    listed.refresh(publish=lambda update: pages.append((update, listed.cards())))
    first, cards = pages[0]
    assert first.changed == tuple(str(path) for path in reversed(paths[6:]))
    assert (first.done, first.total, first.finished) == (0, FIRST_PAGE + 6, False)
    assert all(card.partial and card.messages is None for card in cards)
    assert [update.finished for update, _ in pages] == [False, True], (
        "a clock that stands still: one page and the end"
    )
    assert not any(card.partial for card in pages[-1][1])
    for quick in cards:
        full = listed.card(quick.path)
        assert full is not None
        assert (quick.id, quick.title, quick.project, quick.modified) == (
            full.id,
            full.title,
            full.project,
            full.modified,
        )


def test_updates_come_at_most_four_times_a_second(store: Path) -> None:
    fill(store, 40)
    clock = Clock(0.01)
    times: list[float] = []
    updates: list[Update] = []

    def publish(update: Update) -> None:
        times.append(clock.now)
        updates.append(update)

    listed = catalogue(store, clock=clock)
    listed.refresh(publish=publish)
    assert len(updates) > 3
    gaps = [later - earlier for earlier, later in pairwise(times[:-1])]
    assert min(gaps) >= 0.25
    done = [update.done for update in updates]
    assert done == sorted(done)
    assert done[-1] == 40
    assert {path for update in updates for path in update.changed} == {card.path for card in listed.cards()}


def test_a_stopped_refresh_keeps_what_it_has_and_goes_on_later(store: Path) -> None:
    fill(store, 20)
    listed = catalogue(store)
    update = listed.refresh(stop=lambda: listed.work.read_whole >= 8)
    assert (update.done, update.total, update.finished) == (8, 20, True)
    assert sum(card.partial for card in listed.cards()) == 12
    later = catalogue(store)
    assert len(later.cards()) == 8
    assert later.refresh().done == 20
    assert later.work.read_whole == 12


def test_stopping_before_the_folders_are_read_loses_nothing(store: Path) -> None:
    fill(store, 3)
    catalogue(store).refresh()
    listed = catalogue(store)
    listed.refresh(stop=lambda: True)
    assert len(listed.cards()) == 3


def test_damaged_and_foreign_files_are_cards_with_their_reason(store: Path) -> None:
    store.mkdir()
    (store / "empty.jsonl").write_bytes(b"")
    (store / "noise.jsonl").write_bytes(os.urandom(20_000))
    (store / "link.jsonl").symlink_to(store / "nowhere")
    listed = catalogue(store)
    listed.refresh()
    problems = {Path(card.path).stem: card.problem for card in listed.cards()}
    assert set(problems) == {"empty", "noise", "link"}
    assert problems["empty"] == "is empty"
    assert problems["link"] == "cannot read: No such file or directory"
    assert str(problems["noise"]).startswith("is not a session")
    assert catalogue(store).refresh().done == 3
    assert json.dumps([card.as_json() for card in listed.cards()])


@pytest.mark.parametrize("agent", ["pi", "claude", "codex", "opencode", "opencode-files"])
def test_a_link_to_itself_hides_nothing_beside_it(agent: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    session = fill(root, 1)[0] if agent == "pi" else make(agent, root).path
    for folder in [root, *(path for path in root.rglob("*") if path.is_dir())]:
        for link in ("rollout-loop.jsonl", "loop.jsonl", "loop.json", "loop"):
            (folder / link).symlink_to(folder / link)
    name = agent.partition("-")[0]
    home = {"claude": ".claude", "codex": ".codex", "opencode": "opencode"}.get(name, "")
    given = {one.name: (str(root / home),) if one.name == name else () for one in all_agents()}
    found = Catalogue(Config(roots=given))
    found.refresh()
    assert str(session) in {card.path for card in found.cards() if card.problem is None}


def test_a_folder_that_cannot_be_searched_is_told(tmp_path: Path) -> None:
    file = Draft().write(tmp_path / "file")
    listed = catalogue(file)
    listed.refresh()
    assert [tuple(trouble) for trouble in listed.trouble] == [(str(file), "Not a directory")]


def test_named_folders_are_searched_whole_and_named_files_always_count(tmp_path: Path, store: Path) -> None:
    mine = fill(store, 2)
    deep = Draft("deep").write(tmp_path / "work" / "a" / "b" / "deep.jsonl")
    odd = Draft("odd").write(tmp_path / "work" / "backup.txt")
    (tmp_path / "work" / "notes.txt").write_text("nothing of that kind\n")
    Draft("hidden").write(tmp_path / "work" / ".git" / "x.jsonl")
    (tmp_path / "work" / "loop").symlink_to(tmp_path / "work")
    notes = tmp_path / "notes"
    notes.write_text("no session")
    here = Catalogue(config(store), [tmp_path / "work", notes, tmp_path / "none", deep])
    here.refresh()
    assert {card.path for card in here.cards()} == {str(deep), str(odd), str(notes)}
    assert {card.path: card.problem is None for card in here.cards()}[str(notes)] is False
    assert [trouble.path for trouble in here.trouble] == [str(tmp_path / "none")]
    store_only = catalogue(store)
    store_only.refresh()
    assert {card.path for card in store_only.cards()} == {str(path) for path in mine}
    again = Catalogue(config(store), [tmp_path / "work"])
    assert {card.path for card in again.cards()} == {str(deep), str(odd)}


def test_a_named_file_brings_no_neighbours_from_the_index(store: Path) -> None:
    paths = fill(store, 6)
    catalogue(store).refresh()
    one = Catalogue(config(store), [paths[0]])
    assert [card.path for card in one.cards()] == [str(paths[0])]
    assert one.refresh().gone == ()
    assert [card.path for card in one.cards()] == [str(paths[0])]
    assert len(catalogue(store).cards()) == 6


def test_cards_of_other_places_stay_in_the_index_while_their_files_do(tmp_path: Path, store: Path) -> None:
    fill(store, 3)
    other = Draft("other").write(tmp_path / "other" / "o.jsonl")
    Catalogue(config(store), [tmp_path / "other"]).refresh()
    catalogue(store).refresh()
    assert len(Catalogue(config(store), [tmp_path / "other"]).cards()) == 1
    other.unlink()
    fill(store, 4)
    catalogue(store).refresh()
    assert Catalogue(config(store), [tmp_path / "other"]).cards() == []


def test_a_broken_store_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = Draft("aaaa0001")
    draft.user("hello")
    draft.write(tmp_path / "pi" / "a.jsonl")
    broken = all_agents()[-1]

    def fail(*_: object) -> Any:
        raise RuntimeError("no such column")

    monkeypatch.setattr(broken, "discover", fail)
    found = listed(roots={"pi": (str(tmp_path / "pi"),)})
    assert len(found.cards()) == 1
    assert [one.path for one in found.trouble] == [broken.title]
    assert "no such column" in found.trouble[0].reason


def test_extra_roots_are_searched_besides(tmp_path: Path) -> None:
    for name in ("own", "more"):
        draft = Draft(f"{name}0001")
        draft.user("hello")
        draft.write(tmp_path / name / "a.jsonl")
    found = listed(roots={"pi": (str(tmp_path / "own"),)}, extra_roots={"pi": (str(tmp_path / "more"),)})
    assert len(found.cards()) == 2
    assert str(tmp_path / "more") in found.searched


class TestTime:
    """A file that takes too long keeps its first look, and no other waits for it."""

    def test_a_file_that_takes_too_long_is_left_for_later(self, store: Path) -> None:
        paths = fill(store, 3)
        clock = Clock()
        listed = catalogue(store, clock=clock)
        asked = 0

        read = []

        def slow(candidate: SessionCandidate, stop: Callable[[], bool]) -> Reading | None:
            nonlocal asked
            read.append(candidate.path)
            if candidate.path == str(paths[1]):
                while not stop():
                    asked += 1
                    clock.now += 1
                return None
            return read_whole(candidate, stop)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("leafward.catalogue.cards.full_card.read_whole", slow)
            update = listed.refresh()
            assert (update.done, update.total, update.finished) == (3, 3, True)
            assert listed.left == [str(paths[1])]
            assert {card.path for card in listed.cards() if card.partial} == {str(paths[1])}
            assert asked <= READ_AT_MOST + 1
            listed.refresh()
            assert listed.left == [str(paths[1])]
            assert read.count(str(paths[1])) == 1
            paths[1].write_bytes(paths[1].read_bytes() + b"\n")
            listed.refresh()
            assert read.count(str(paths[1])) == 2
        again = catalogue(store)
        again.refresh()
        assert again.left == []
        assert not any(card.partial for card in again.cards())

    def test_each_of_them_leaves_less_time_to_the_next(self, store: Path) -> None:
        fill(store, 12)
        clock = Clock()
        listed = catalogue(store, clock=clock)

        def endless(_candidate: SessionCandidate, stop: Callable[[], bool]) -> None:
            while not stop():
                clock.now += 0.5

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("leafward.catalogue.cards.full_card.read_whole", endless)
            listed.refresh()
        assert len(listed.left) == 12
        assert clock.now < 4 * READ_AT_MOST
