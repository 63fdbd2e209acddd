"""Sessions that `opencode export` wrote to a file: the same as in the database that they come from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from leafward.agents.recognition import agent_of
from leafward.base.errors import NotASession, Refused
from leafward.catalogue.backups import keep
from leafward.context.basis import Basis
from tests.core.catalogued import cards_in
from tests.opencode_store import (
    OPENCODE,
    Conversation,
    Database,
    call,
    one_turn,
    opened,
    problems,
    said,
    shape,
    texts,
    write_export,
)

if TYPE_CHECKING:
    from pathlib import Path


def planted() -> Conversation:
    """A session with calls, a failure, a compaction that keeps its tail, and what followed."""
    talk = Conversation()
    talk.turn("Plant pears")
    talk.ask("Try plums")
    talk.reply(call("edit", filePath="plums.txt", oldString="a", newString="b", number=1))
    talk.reply(call("bash", status="error", error="no water", command="water", number=2))
    talk.compaction("Pears are planted", talk.messages[-1][0]["id"])
    talk.reply(said("Plums it is."))
    return talk


def test_it_reads_as_the_session_in_its_database(root: Path, tmp_path: Path) -> None:
    talk = planted()
    stored = opened(Database(root).write(talk))
    # It may have any name: people give it one.
    path = write_export(tmp_path / "pears.jsonl", talk)
    assert agent_of(path) is OPENCODE
    exported = opened(path)
    assert exported.header == stored.header
    assert shape(exported) == shape(stored)
    assert texts(exported) == texts(stored)
    assert list(exported.columns.ids) == list(stored.columns.ids)
    assert Basis.of(exported).count_at(exported.leaf) == Basis.of(stored).count_at(stored.leaf)
    assert problems(exported) == problems(stored)


def test_the_line_that_the_command_prints_beside_it_is_passed_over(tmp_path: Path) -> None:
    """Both outputs of `opencode export` went to the file."""
    plain = write_export(tmp_path / "plain.json", planted())
    both = tmp_path / "both.json"
    both.write_bytes(b"Exporting session: ses_one\n" + plain.read_bytes())
    assert agent_of(both) is OPENCODE
    session = opened(both)
    assert texts(session) == texts(opened(plain))
    assert problems(session) == []
    assert OPENCODE.description(str(both)) == OPENCODE.description(str(plain))


def test_what_was_taken_back_is_left_out_of_the_path(root: Path, tmp_path: Path) -> None:
    talk = planted()
    talk.info["revert"] = {"messageID": talk.messages[2][0]["id"]}
    stored = opened(Database(root).write(talk))
    exported = opened(write_export(tmp_path / "pears.json", talk))
    assert texts(exported) == texts(stored) == ["user: Plant pears?", "assistant: Plant pears."]
    assert shape(exported) == shape(stored)


def test_messages_that_are_none_are_told_of(tmp_path: Path) -> None:
    path = write_export(tmp_path / "pears.json", one_turn())
    document = json.loads(path.read_bytes())
    document["messages"][1:1] = [None, {"info": 7}]
    document["messages"].append({"info": {"role": "user", "time": 3}, "parts": "none"})
    path.write_text(json.dumps(document), encoding="utf-8")
    session = opened(path)
    assert problems(session) == ["unreadable-record", "unreadable-record"]
    assert f"message 2 of {path} cannot be read" in session.source.notes[0].text
    assert texts(session)[:2] == ["user: one?", "assistant: one."]


@pytest.mark.parametrize("content", [{}, {"messages": {}}, {"messages": None}])
def test_one_without_messages_is_empty(tmp_path: Path, content: dict[str, object]) -> None:
    path = tmp_path / "pears.json"
    path.write_text(json.dumps({"info": {"id": "ses_one", "title": "Pears"}} | content), encoding="utf-8")
    session = opened(path)
    assert (session.id, len(session)) == ("ses_one", 0)


def test_one_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = write_export(tmp_path / "pears.json", planted())
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(NotASession, match="an export of opencode that is damaged or cut off"):
        opened(path)


def test_it_is_read_again_where_it_was_replaced(tmp_path: Path) -> None:
    path = write_export(tmp_path / "pears.json", one_turn())
    session = opened(path)
    talk = one_turn()
    talk.turn("two")
    write_export(path, talk)
    session.refresh()
    assert texts(session)[-1] == "assistant: two."


def test_a_folder_of_them_is_listed(tmp_path: Path) -> None:
    write_export(tmp_path / "exports" / "pears.json", planted())
    write_export(tmp_path / "exports" / "plums.jsonl", Conversation("ses_two", title="Plums"))
    cards = cards_in(tmp_path / "exports", tmp_path / "index")
    assert {(card.id, card.title) for card in cards} == {
        ("ses_one", "Prune the pear trees"),
        ("ses_two", "Plums"),
    }


def test_a_copy_is_kept_and_read(tmp_path: Path) -> None:
    path = write_export(tmp_path / "exports" / "pears.json", planted())
    kept = keep(*cards_in(path.parent, tmp_path / "index"))
    assert kept.path.read_bytes() == path.read_bytes()
    assert texts(opened(kept.path)) == texts(opened(path))


def test_opencode_does_not_resume_it(tmp_path: Path) -> None:
    session = opened(write_export(tmp_path / "pears.json", one_turn()))
    with pytest.raises(Refused, match="is in an exported file: `opencode import` brings it into opencode"):
        OPENCODE.resume(session, {})
