"""The card of a large session is the same whether other processes count its replies or this one reads it alone."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from leafward.agents.base import SessionCandidate
from leafward.agents.storage import stretches
from leafward.base import worker_processes
from leafward.catalogue.cards import full_card, shared_replies
from leafward.catalogue.cards.full_card import read_whole
from leafward.catalogue.cards.shared_replies import ReplyStretch, count
from tests.acting import Acting, call, usage

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.catalogue.cards.card import Reading
    from leafward.catalogue.cards.shared_replies import Counted

TURNS = 600


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session of some hundred kilobytes whose calls touch more files than a card keeps."""
    chance = random.Random(5)
    path = tmp_path / "session.jsonl"
    file = Acting(path)
    for turn in range(TURNS):
        file.user(f"prompt {turn}")
        touched = call(
            chance.choice(("read", "read", "edit")), f"c{turn}", path=f"src/{chance.randrange(200)}.py"
        )
        file.said("an answer", touched, tokens=usage(turn, cost={"total": turn / 1_000}))
        file.answered(f"c{turn}", "read")
        if not turn % 50:
            file.junk(chance.choice((None, 5, [], {})))
    return path


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[ReplyStretch]:
    """However small a session is, two processors share in it; what is counted in the processes is what is counted here."""
    seen: list[ReplyStretch] = []

    def here(asked: ReplyStretch) -> Counted | None:
        seen.append(asked)
        return count(asked)

    monkeypatch.setattr(full_card, "LARGE", 1)
    monkeypatch.setattr(stretches, "LARGE", 1)
    monkeypatch.setattr(stretches, "SIZE", 20 << 10)
    monkeypatch.setattr(worker_processes, "cores", lambda: 2)
    monkeypatch.setattr(shared_replies, "count", here)
    return seen


def read(path: Path) -> Reading:
    stamp = path.stat()
    reading = read_whole(SessionCandidate(str(path), [stamp.st_size, stamp.st_mtime_ns, stamp.st_ino], "pi"))
    assert reading is not None
    return reading


def alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> Reading:
    with monkeypatch.context() as patch:
        patch.setattr(full_card, "LARGE", 1 << 60)
        return read(path)


@pytest.mark.parametrize("processes", [True, False])
def test_the_card_is_the_same(
    session: Path, counted: list[ReplyStretch], monkeypatch: pytest.MonkeyPatch, *, processes: bool
) -> None:
    if not processes:
        monkeypatch.setattr(worker_processes, "START", "import sys; sys.exit(3)")
    assert read(session) == alone(session, monkeypatch)
    assert all(asked.lines.start for asked in counted)


def test_a_file_that_was_replaced_is_counted_by_none(session: Path) -> None:
    lines = stretches.Stretch(str(session), (0, 0), 0, session.stat().st_size)
    assert count(ReplyStretch(lines, {}, 0)) is None


@pytest.mark.usefixtures("counted")
@pytest.mark.parametrize("end", [b'{"type":"message"', b'{"type":"custom","id":"00000000","parentId":null}'])
def test_a_last_line_without_its_end_is_read_alone(
    session: Path, monkeypatch: pytest.MonkeyPatch, end: bytes
) -> None:
    with session.open("ab") as file:
        file.write(end)
    assert read(session) == alone(session, monkeypatch)


@pytest.mark.usefixtures("counted")
def test_what_is_stopped_is_no_card(session: Path) -> None:
    candidate = SessionCandidate(str(session), [session.stat().st_size, 0, 0], "pi")
    assert read_whole(candidate, lambda: True) is None


def test_a_process_that_serves_has_one_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worker_processes.cores() == len(os.sched_getaffinity(0))
    monkeypatch.setattr(worker_processes, "_serves", True)
    assert worker_processes.cores() == 1
