from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.agents.base import SessionCandidate
from leafward.catalogue.cards.card import Card, Details, Reading, ReadMark
from leafward.catalogue.cards.full_card import read_whole
from leafward.catalogue.index import Index
from tests.core.catalogued import listed
from tests.core.listed_sessions import START, Draft

if TYPE_CHECKING:
    from collections.abc import Callable


def read(path: Path) -> tuple[SessionCandidate, Reading]:
    found = path.stat()
    candidate = SessionCandidate(str(path), [found.st_size, found.st_mtime_ns, found.st_ino], "pi")
    reading = read_whole(candidate)
    assert reading is not None
    return candidate, reading


@pytest.fixture
def filled(tmp_path: Path) -> tuple[Path, dict[str, Reading]]:
    """An index of a few different sessions, and what it must say."""
    index = Index(tmp_path / "cache" / "index.json")
    expected = {}
    for number in range(5):
        draft = Draft(f"s{number}", cwd=f"/p{number % 2}", parent="/old.jsonl" if number == 3 else None)
        draft.user(f"prompt {number}")
        if number == 2:
            draft.named("Näme")
        draft.assistant("reply", total=3_000_000_000 if number == 4 else 7, calls=(("edit", f"{number}.py"),))
        candidate, reading = read(draft.write(tmp_path / "store" / f"{number}.jsonl"))
        index.put(candidate, reading)
        expected[candidate.path] = reading
    empty = tmp_path / "store" / "empty.jsonl"
    empty.write_bytes(b"")
    candidate, reading = read(empty)
    index.put(candidate, reading)
    expected[candidate.path] = reading
    assert index.save()
    return index.path, expected


def test_what_is_saved_is_read_back(filled: tuple[Path, dict[str, Reading]]) -> None:
    path, expected = filled
    index = Index(path)
    assert index.rejected is None
    assert not index.changed
    assert {place: index.reading(place) for place in index.cards} == expected
    card = next(iter(index.cards.values()))
    assert isinstance(card, Card)
    assert isinstance(index.details(card.path), Details)
    reading = index.reading(card.path)
    assert reading is not None
    assert isinstance(reading.mark, ReadMark)


def test_the_file_is_private_and_leaves_nothing_beside_it(filled: tuple[Path, dict[str, Reading]]) -> None:
    path, _ = filled
    assert os.listdir(path.parent) == [path.name]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_missing_index_is_no_fault(tmp_path: Path) -> None:
    index = Index(tmp_path / "none.json")
    assert (index.cards, index.rejected, index.changed) == ({}, None, False)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: b"\x00" * len(data),
        lambda data: data[: len(data) // 3],
        lambda data: data[:-900] if len(data) > 900 else b"{",
        lambda data: data.replace(b'"format":', b'"format":9', 1),
        lambda data: data.replace(b'"turns"', b'"turnz"', 1),
        lambda data: b"[1]\n" + data,
        lambda data: b'{"kind":"leafward catalogue"}\n' + data,
        lambda data: data.replace(b'"prompt":[', b'"prompt":["x",', 1),
        lambda data: data.replace(b'"folders":{', b'"folders":[{', 1),
        lambda data: data.replace(b'"code":"i"', b'"code":"?"', 1),
    ],
)
def test_an_index_that_cannot_be_used_is_made_anew(
    filled: tuple[Path, dict[str, Reading]], spoil: object
) -> None:
    path, expected = filled
    assert callable(spoil)
    path.write_bytes(spoil(path.read_bytes()))
    index = Index(path)
    details = index.all_details()
    if index.rejected is None:
        assert set(details.values()) <= {Details(), *(one.details for one in expected.values())}
        assert all(index.cards[place] == expected[place].card for place in index.cards)
    else:
        assert (index.cards, details, index.changed) == ({}, {}, True)
        assert index.save()
        assert Index(path).rejected is None


def test_most_spoilt_files_are_rejected(filled: tuple[Path, dict[str, Reading]]) -> None:
    path, _ = filled
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 3])
    assert Index(path).rejected is not None
    path.write_bytes(data.replace(b'"format":', b'"format":9', 1))
    assert Index(path).rejected == "a catalogue of another version"


def test_days_of_another_time_zone_are_counted_anew(
    filled: tuple[Path, dict[str, Reading]], in_zone: Callable[[str], None]
) -> None:
    path, _ = filled
    assert Index(path).rejected is None
    in_zone("Pacific/Auckland")
    assert "time zone" in (Index(path).rejected or "")
    in_zone("UTC")
    assert Index(path).rejected is None


def test_a_folder_in_its_place_is_no_crash(tmp_path: Path) -> None:
    index = Index(tmp_path)
    assert index.rejected is not None
    index.changed = True
    assert not index.save()
    assert not list(tmp_path.iterdir())


def test_names_that_are_no_text_survive(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/st\xffre"
    os.mkdir(folder)
    draft = Draft("s\ud800", cwd="/p\udc80")
    draft.user("broken \ud83d half")
    path = Path(os.fsdecode(folder + b"/a\xfe.jsonl"))
    candidate, reading = read(draft.write(path))
    index = Index(tmp_path / "index.json")
    index.put(candidate, reading)
    assert index.save()
    again = Index(tmp_path / "index.json")
    assert again.rejected is None
    assert again.cards == {candidate.path: reading.card}
    assert again.stamp(candidate.path) == candidate.stamp


def test_details_of_another_content_are_not_believed(
    filled: tuple[Path, dict[str, Reading]], tmp_path: Path
) -> None:
    path, expected = filled
    mine = Index(path)
    theirs = Index(path)
    place = str(tmp_path / "store" / "1.jsonl")
    candidate = SessionCandidate(place, [1, 1], "pi")
    theirs.put(candidate, Reading(expected[place].card, Details(changed=("other.py",))))
    assert theirs.save()
    assert mine.details(place) == Details()
    assert mine.details(str(tmp_path / "store" / "2.jsonl")).changed == ("2.py",)
    assert Index(path).details(place).changed == ("other.py",)


def test_the_last_of_two_writers_wins_and_nothing_breaks(filled: tuple[Path, dict[str, Reading]]) -> None:
    path, expected = filled
    one, other = Index(path), Index(path)
    one.drop([next(iter(expected))])
    other.drop(list(expected)[1:])
    assert one.save()
    assert other.save()
    assert list(Index(path).cards) == [next(iter(expected))]


def test_another_file_of_the_same_size_and_time_is_read_again(store: Path) -> None:
    draft = Draft("aaaa0001")
    draft.user("hello")
    path = draft.write(store / "a.jsonl", mtime=START)
    found = listed(store)
    other = Draft("aaaa0001")
    other.user("world")
    new = other.write(store / "new", mtime=START)
    assert new.stat().st_size == path.stat().st_size
    os.replace(new, path)
    found.refresh()
    assert [card.prompt for card in found.cards()] == ["world"]


def test_two_at_once_lose_nothing_but_work(store: Path) -> None:
    for number in range(40):
        draft = Draft(f"{number:04d}aaaa")
        draft.user(f"prompt {number}")
        draft.write(store / f"{number}.jsonl")
    failed: list[BaseException] = []

    def look() -> None:
        try:
            for _ in range(5):
                found = listed(store)
                found.index.changed = True
                found.save()
                assert len(found.cards()) == 40
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    index = Index()
    assert (index.rejected, len(index.cards)) == (None, 40)
    assert os.listdir(index.path.parent) == [index.path.name]
