"""The search of what stands in no line of an agent: what a session is called, and what Leafward keeps beside it."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.session.entries import EntryIndex
from leafward.session.journal import session_operations
from tests.codex_rollout import Rollout
from tests.foreign_stores import AGENTS, make
from tests.opencode_store import Conversation, Database
from tests.searched import ROADS, found

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("agent", AGENTS)
def test_what_is_kept_beside_a_session_is_found(tmp_path: Path, agent: str, road: str) -> None:
    with closing(make(agent, tmp_path)) as store:
        session = store.open()
        assert not found("quince", tmp_path, road=road)
        session_operations.label(session, EntryIndex(0), "a quince")
        (here,) = found("quince", tmp_path, road=road)
        assert [(hit.part, hit.matched) for hit in here.hits] == [("name", "quince")]


@pytest.mark.parametrize("road", ROADS)
def test_the_name_of_a_thread_lies_beside_its_rollout(tmp_path: Path, road: str) -> None:
    home = tmp_path / ".codex"
    rollout = Rollout(home)
    rollout.turn("Count the pears", "Seven.")
    line = {"id": rollout.thread, "thread_name": "Medlar season", "updated_at": "2026-11-21T10:00:00Z"}
    (home / "session_index.jsonl").write_text(json.dumps(line) + "\n")
    for query in ("medlar", "in:name season", '"medlar season"'):
        (here,) = found(query, tmp_path, road=road)
        assert [hit.part for hit in here.hits] == ["name"]
    (here,) = found("medlar pears", tmp_path, road=road)
    assert [hit.part for hit in here.hits] == ["name", "prompt"], "words may stand all over the session"
    assert not found("medlar tool:exec_command", tmp_path, road=road)
    assert not found("in:prompt medlar", tmp_path, road=road)


@pytest.mark.parametrize("road", ROADS)
def test_the_title_of_a_session_of_opencode(tmp_path: Path, road: str) -> None:
    talk = Conversation("ses_one", title="Medlar season")
    talk.turn("one")
    Database(tmp_path).write(talk)
    (here,) = found("medlar", tmp_path, road=road)
    assert [hit.part for hit in here.hits] == ["name"]


def test_a_title_that_is_the_first_prompt_is_found_there_alone(tmp_path: Path) -> None:
    talk = Conversation("ses_one", title="one?")
    talk.turn("one")
    Database(tmp_path).write(talk)
    (here,) = found("one?", tmp_path)
    assert [hit.part for hit in here.hits] == ["prompt"]


@pytest.mark.parametrize("road", ROADS)
def test_one_name_is_one_hit_however_often_it_was_given(tmp_path: Path, road: str) -> None:
    with closing(make("claude", tmp_path)) as store:
        session = store.open()
        for name in ("Medlar season", "Quince season", "Medlar season"):
            session_operations.rename(session, name)
        for query in ("medlar", "in:name medlar"):
            (here,) = found(query, tmp_path, road=road)
            assert (here.total, [hit.matched.casefold() for hit in here.hits]) == (1, ["medlar"])
        (here,) = found("in:name season", tmp_path, road=road)
        assert here.total == 2
