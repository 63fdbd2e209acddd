"""Codex: two files of one name that lie in two folders of a store, and went on differently."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from leafward.agents.codex import store
from leafward.base.config import Config
from leafward.base.errors import Refused
from leafward.catalogue.lineage import parents
from leafward.catalogue.listing import Catalogue
from leafward.catalogue.usage.shared_history import counted_once
from tests.codex_rollout import CODEX, THREADS, Rollout, opened
from tests.core.catalogued import cards_in
from tests.foreign_sessions import problems, said

if TYPE_CHECKING:
    from pathlib import Path

HOUR = 3_600_000_000_000


def written(rollout: Rollout, hour: int) -> None:
    os.utime(rollout.path, ns=(hour * HOUR, hour * HOUR))


def twins(home: Path, *folders: str) -> list[Rollout]:
    """Files of one thread that begin alike, the first written last."""
    made = []
    for number, folder in enumerate(folders):
        one = Rollout(home, folder=folder)
        one.turn("one", "first")
        one.count(300, 300)
        one.turn("two", f"answer {number}")
        one.count(500 + number, 200 + number)
        written(one, 100 - number)
        made.append(one)
    return made


@pytest.mark.parametrize(
    ("folders", "newest"),
    [
        (("sessions/2026/11/21", "sessions/2026/11/22"), 0),
        (("sessions/2026/11/22", "sessions/2026/11/21"), 0),
        (("archived_sessions", "sessions/2026/11/21"), 1),
    ],
)
def test_both_are_listed_and_one_is_the_copy(tmp_path: Path, folders: tuple[str, ...], newest: int) -> None:
    """Of two places the live one counts for Codex, else what was written last."""
    home = tmp_path / ".codex"
    pair = twins(home, *folders)
    kept, copy = pair[newest], pair[1 - newest]
    catalogue = Catalogue(Config(roots={"pi": ()}), [home], index_path=tmp_path / "index")
    catalogue.refresh()
    cards = {card.path: card for card in catalogue.cards()}
    assert set(cards) == {str(one.path) for one in pair}
    assert parents(cards.values()) == {str(copy.path): (str(kept.path), "inferred")}
    assert [card.id for card in cards.values()] == [THREADS[0]] * 2
    for number, one in enumerate(pair):
        session = opened(one.path)
        assert said(session)[-1][1] == f"answer {number}", "each is read by itself"
        assert problems(session) == ({"diverged-copy": 1} if one is copy else {})
        assert bool(session.inherited) == (one is copy)
    with pytest.raises(Refused, match="fork this copy"):
        CODEX.resume(opened(copy.path), {})
    assert CODEX.resume(opened(kept.path), {}).argv[-1] == THREADS[0]
    counted = counted_once(catalogue.cards(), parents(cards.values()), catalogue.spent)
    assert sum(one.tokens for one in counted[str(kept.path)]) == 500 + newest
    assert sum(one.tokens for one in counted[str(copy.path)]) == 201 - newest, "only its own answer"


def test_equal_ones_are_one_and_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / ".codex"
    first, second = twins(home, "sessions/2026/11/21", "archived_sessions")
    second.path.write_bytes(first.path.read_bytes())
    assert [card.path for card in cards_in(home, tmp_path / "i")] == [str(first.path)]
    read = store._end.cache_info().misses
    assert [card.path for card in cards_in(home, tmp_path / "i")] == [str(first.path)]
    assert store._end.cache_info().misses == read, "what did not change is not opened again"
    second.turn("three", "more")
    assert len(cards_in(home, tmp_path / "i")) == 2
    cold = second.path.with_name(second.path.name + ".zst")
    second.path.rename(cold)
    assert [card.path for card in cards_in(home, tmp_path / "i")] == [str(first.path)], "the plain one counts"
