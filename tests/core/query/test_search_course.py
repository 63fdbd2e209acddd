"""The search of all text: what it opens and in which order, how far it is, where it stops, what changes meanwhile."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.query.search.corpus import NEWEST
from leafward.query.search.text_match import KEPT
from leafward.query.search.text_search import TextSearch
from tests.pi_file import HEADER, PiFile
from tests.searched import ROADS, cards_in, found, searching

if TYPE_CHECKING:
    import pytest

    from leafward.query.search.text_search import SearchProgress


def test_only_sessions_that_hold_it_are_opened_newest_first(tmp_path: Path) -> None:
    for number in range(NEWEST + 20):
        file = PiFile(tmp_path / f"{number:04}.jsonl", HEADER | {"id": f"s{number:04}"})
        stamp = f"2026-11-{1 + number % 28:02}T10:00:00.000Z"
        text = "a needle" if number % 37 == 0 else "hay"
        file.raw(
            json.dumps({"type": "message", "id": "00000001", "parentId": None, "timestamp": stamp,
                        "message": {"role": "user", "content": text}})
        )  # fmt: skip
    cards = cards_in(tmp_path)
    said: list[SearchProgress] = []
    for road in ("rg", "scan"):
        search = searching("needle", cards, road)
        sessions = list(search.run(publish=said.append))
        assert len(sessions) == 4
        assert (search.work.sifted, search.work.opened, search.work.sieve) == (NEWEST + 20, 4, road)
        times = [session.card.when for session in sessions]
        assert times == sorted(times, reverse=True)
        assert said[-1] == search.progress
        assert (said[-1].done, said[-1].total, search.sessions, search.hits) == (148, 148, 4, 4)


def test_what_the_query_does_not_concern_is_not_looked_into(tmp_path: Path) -> None:
    for name in ("orchard", "payments"):
        PiFile(tmp_path / f"{name}.jsonl", HEADER | {"id": name, "cwd": f"/home/ada/{name}"}).user("needle")
    search = searching("needle project:orch agent:p", cards_in(tmp_path))
    assert [session.card.id for session in search.run()] == ["orchard"]
    assert search.progress.total == 1
    assert list(searching("needle agent:codex", cards_in(tmp_path)).run()) == []
    assert list(searching("project:orch", cards_in(tmp_path)).run()) == []


def test_how_far_it_is_is_told_where_nothing_is_found_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leafward.query.search.corpus.NEWEST", 2)
    monkeypatch.setattr("leafward.query.search.text_search._BATCH", 3)
    for number in range(9):
        PiFile(tmp_path / f"{number}.jsonl", HEADER | {"id": f"s{number}"}).user("hay")
    base = searching("needle", cards_in(tmp_path))
    seconds = count()
    said: list[int] = []
    search = TextSearch(base.corpus, base.query, clock=lambda: next(seconds))
    assert list(search.run(publish=lambda progress: said.append(progress.done))) == []
    assert said == [2, 5, 8, 9, 9]


def test_a_search_that_is_stopped_stops(tmp_path: Path) -> None:
    for number in range(20):
        PiFile(tmp_path / f"{number}.jsonl", HEADER | {"id": f"s{number}"}).user("needle")
    search = searching("needle", cards_in(tmp_path))
    seen: list[str] = []
    seen.extend(session.card.id for session in search.run(lambda: search.sessions >= 3))
    assert len(seen) == 3
    assert search.work.opened <= 4


def test_sessions_that_were_ruled_out_count_as_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of a stopped search may hold more hits."""
    monkeypatch.setattr("leafward.query.search.corpus.NEWEST", 2)
    for number in range(30):
        PiFile(tmp_path / f"{number}.jsonl", HEADER | {"id": f"s{number}"}).user(
            "needle" if number < 3 else "hay"
        )
    cards = cards_in(tmp_path)
    for road in ("rg", "scan"):
        search = searching("needle", cards, road)
        done = [(session.card, search.progress.done) for session in search.run()]
        assert [card for card, _ in done] == [
            card for card in search.corpus.in_order if card.id in {"s0", "s1", "s2"}
        ]
        assert done[-1][1] == 30
        assert [number for _, number in done][-2] in (2, 29)


def test_very_many_hits_are_counted_not_kept(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "a.jsonl")
    lines = [
        f'{{"type":"message","id":"{n:08x}","parentId":null,"message":{{"role":"user","content":"needle {n}"}}}}'
        for n in range(KEPT + 50)
    ]
    file.raw("\n".join(lines))
    (session,) = found("needle", tmp_path)
    assert (len(session.hits), session.total) == (KEPT, KEPT + 50)


def test_a_store_that_changes_meanwhile(tmp_path: Path) -> None:
    files = [PiFile(tmp_path / f"{name}.jsonl", HEADER | {"id": name}) for name in "abcd"]
    for file in files:
        file.user("needle")
    for road in ROADS:
        cards = cards_in(tmp_path)
        search = searching("needle", cards, road)
        run = search.run()
        first = next(run)
        gone, replaced, grown = (card for card in search.corpus.in_order if card.path != first.card.path)
        Path(gone.path).rename(tmp_path / "moved")
        before = Path(replaced.path).read_bytes()
        Path(replaced.path).write_bytes(b"nothing of a session\n")
        with Path(grown.path).open("ab") as out:
            out.write(b'{"type":"mess')
        rest = list(run)
        assert [session.card.path for session in rest] == [grown.path]
        assert {one.path for one in search.unread} == {gone.path, replaced.path}
        (tmp_path / "moved").rename(gone.path)
        Path(replaced.path).write_bytes(before)
