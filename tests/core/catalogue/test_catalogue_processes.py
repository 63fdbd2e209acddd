"""A first listing by several processes: the same cards, what is left where one dies, nothing left running."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from leafward.base import worker_processes
from leafward.base.config import Config
from leafward.catalogue.cards import reading_processes
from leafward.catalogue.listing import Catalogue
from tests.acting import Acting

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from leafward.catalogue.cards.card import Reading

SESSIONS = 40


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Forty sessions of pi, one of which is no session at all."""
    folder = tmp_path / "sessions" / "project"
    folder.mkdir(parents=True)
    for number in range(SESSIONS - 1):
        file = Acting(folder / f"{number}.jsonl")
        for turn in range(1 + number % 4):
            file.user(f"prompt {turn} of {number}")
            file.said("an answer")
    (folder / "broken.jsonl").write_bytes(b"\xff not a session\n")
    return tmp_path / "sessions"


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """However little there is to read, two processes read it."""
    monkeypatch.setattr("leafward.catalogue.listing.LEAST_BYTES", 0)
    monkeypatch.setattr(reading_processes, "cores", lambda: 2)


def listed(store: Path, index: Path) -> Catalogue:
    return Catalogue(Config(roots={"pi": (str(store),)}), index_path=index)


def children() -> list[str]:
    """The processes that read, as far as this system tells."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if b"worker_processes import serve" in file.read():
                    found.append(name)
        except OSError:
            continue
    return found


@pytest.mark.usefixtures("shared")
def test_the_cards_are_those_that_one_process_makes(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = listed(store, tmp_path / "together.json")

    def refused(*_: object) -> Reading:
        raise AssertionError("read here")

    with monkeypatch.context() as patch:
        patch.setattr("leafward.catalogue.cards.full_card.read_whole", refused)
        update = together.refresh()
    assert (update.done, together.work.read_whole, together.left) == (SESSIONS, SESSIONS, [])
    with monkeypatch.context() as patch:
        patch.setattr("leafward.catalogue.listing.LEAST_BYTES", 1 << 60)
        alone = listed(store, tmp_path / "alone.json")
        alone.refresh()
    assert {card.path: card for card in together.cards()} == {card.path: card for card in alone.cards()}
    assert together.files() == alone.files()
    again = listed(store, tmp_path / "together.json")
    again.refresh()
    assert again.work.read_whole == 0


@pytest.mark.usefixtures("shared")
def test_where_no_process_ever_answers_this_one_reads(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_processes, "START", "import sys; sys.exit(3)")
    first = listed(store, tmp_path / "index.json")
    first.refresh()
    assert first.left == []
    assert not any(card.partial for card in first.cards())


DIES = """
import os
from leafward.catalogue.cards import full_card
whole = full_card.read_whole
def read_whole(candidate, stop):
    if candidate.path.endswith("/7.jsonl"):
        os._exit(9)
    return whole(candidate, stop)
full_card.read_whole = read_whole
"""


@pytest.mark.usefixtures("shared")
def test_what_a_process_dies_of_is_left_and_tried_the_next_time(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        start = worker_processes.START
        dies = start.replace("from leafward", f"exec({DIES!r}); from leafward")
        patch.setattr(worker_processes, "START", dies)
        patch.setattr(reading_processes, "BATCH_FILES", 1)
        first = listed(store, tmp_path / "index.json")
        first.refresh()
    assert [path.endswith("/7.jsonl") for path in first.left] == [True]
    assert [card.path for card in first.cards() if card.partial] == first.left
    then = listed(store, tmp_path / "index.json")
    then.refresh()
    assert then.left == []
    assert not any(card.partial for card in then.cards())


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("reads", [0, 5])
def test_what_is_stopped_leaves_no_process_behind(store: Path, tmp_path: Path, reads: int) -> None:
    catalogue = listed(store, tmp_path / "index.json")
    update = catalogue.refresh(
        stop=lambda: catalogue.work.read_whole >= reads and bool(catalogue.work.peeked)
    )
    assert update.finished
    assert update.done < SESSIONS
    until(lambda: not children())


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_database_is_read_by_one(tmp_path: Path) -> None:
    from leafward.agents.base import SessionCandidate

    of_a_database = [
        SessionCandidate(str(tmp_path / f"opencode.db/{n}"), [1 << 30, 0], "opencode") for n in range(9)
    ]
    assert reading_processes.process_count(of_a_database) == 0
