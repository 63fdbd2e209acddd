"""Messages, parts and sessions of opencode that are broken, missing, very large or may not be read."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.agents.opencode.storage.database import opened as opened_base
from leafward.agents.recognition import agent_of, strays
from leafward.agents.storage import databases
from leafward.base.errors import NotASession
from leafward.context.model_context import context_at
from leafward.doctor.session_problems import check
from leafward.doctor.store_problems import stray_messages
from leafward.export.documents.lanes import Lanes
from leafward.session.entries import Kind
from leafward.session.lines.abridged_lines import BOM
from tests.core.catalogued import cards_by_id
from tests.foreign_sessions import read_whole
from tests.opencode_store import (
    OPENCODE,
    Conversation,
    Database,
    one_turn,
    opened,
    problems,
    shape,
    texts,
    write_tree,
)
from tests.sources import foreign

if TYPE_CHECKING:
    from pathlib import Path


def test_messages_of_no_session_are_told_of(root: Path, tmp_path: Path) -> None:
    store = Database(root)
    store.write(one_turn())
    store.write(one_turn("ses_gone"))
    assert strays(str(store.path)) == {}
    store.execute("DELETE FROM session WHERE id = ?", "ses_gone")
    assert set(cards_by_id(root, tmp_path / "index")) == {"ses_one"}
    found = strays(str(store.path))
    assert found == {"ses_gone": 2}
    (problem,) = stray_messages(str(store.path), found)
    assert problem.code == "stray-messages"
    assert problem.text.endswith("2 messages name sessions that are not there: ses_gone (2)")
    assert strays(str(root)) == {}


@pytest.mark.parametrize(
    "content", ["", "{", '"text"', "[1]", "null", "\0\0\0", '{"role": 5}', '{"type": 7}', "{}"]
)
def test_rows_and_files_that_hold_anything(root: Path, content: str) -> None:
    talk = Conversation()
    for name in ("one", "two", "three"):
        talk.turn(name)
    store = Database(root)
    path = store.write(talk)
    middle = talk.messages[2][0]["id"]
    part = talk.messages[3][1][1]["id"]
    store.execute("UPDATE message SET data = ? WHERE id = ?", content, middle)
    store.execute("UPDATE part SET data = ? WHERE id = ?", content, part)
    file = write_tree(root / "files", talk)
    next(file.parents[2].rglob(f"{middle}.json")).write_text(content)
    next(file.parents[2].rglob(f"{part}.json")).write_text(content)
    for session in (opened(path), opened(file)):
        read_whole(session)
        sent = texts(session)
        assert sent[:2] == ["user: one?", "assistant: one."]
        assert sent[-2:] == ["user: three?", "assistant: three."]
        assert session.columns.id(2) == middle


def test_a_value_larger_than_the_limit_is_not_read_and_is_told_of(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the limit a part of a gigabyte takes two: SQLite's own value and the copy of it."""
    monkeypatch.setattr(databases, "VALUE_LIMIT", 1 << 16)
    talk = Conversation()
    for name in ("one", "two", "three", "four"):
        talk.turn(name)
    store = Database(root)
    path = store.write(talk)
    for table, name in (("part", talk.messages[3][1][1]["id"]), ("message", talk.messages[4][0]["id"])):
        store.execute(f"UPDATE {table} SET data = zeroblob(?) WHERE id = ?", 1 << 17, name)
    session = opened(path)
    read_whole(session)
    sent = texts(session)
    assert sent[:2] == ["user: one?", "assistant: one."]
    assert sent[-2:] == ["user: four?", "assistant: four."]
    assert problems(session).count("unreadable-record") == 2


def test_parts_of_messages_with_one_id_come_once(root: Path) -> None:
    """A hostile table without a key: its messages times its parts would be more rows than anybody can wait for."""
    talk = Conversation()
    for number in range(3):
        talk.turn(f"turn {number}")
    store = Database(root)
    path = store.write(talk)
    columns = "id, session_id, time_created, time_updated, data"
    store.run(
        f"CREATE TABLE keyless AS SELECT {columns} FROM message; DROP TABLE message;"
        f" CREATE TABLE message ({columns}); INSERT INTO message SELECT * FROM keyless;"
        " UPDATE message SET id = 'same'; UPDATE part SET message_id = 'same';"
    )
    assert sum("turn 2" in one for one in texts(opened(path))) == 1
    with opened_base(str(store.path)) as base:
        assert sum(b"turn 2" in one for one in base.texts(talk.id)) == 2  # prompt and reply


@pytest.mark.parametrize("table", ["message", "part", "event"])
def test_a_column_that_hides_the_numbers_of_rows_is_refused(root: Path, table: str) -> None:
    store = Database(root)
    path = store.write(one_turn())
    store.run(f"ALTER TABLE {table} ADD COLUMN RowId text; UPDATE {table} SET RowId = 'seven';")
    with pytest.raises(NotASession, match=f"is not a database of opencode: {table} has a column rowid"):
        opened(path)


def test_a_message_that_is_no_json_keeps_its_place(root: Path) -> None:
    talk = Conversation()
    for name in ("one", "two", "three"):
        talk.turn(name)
    file = write_tree(root, talk)
    next(file.parents[2].rglob(f"{talk.messages[2][0]['id']}.json")).write_text("{torn")
    session = opened(file)
    assert shape(session)[2] == "malformed 1"
    assert [problem for problem in problems(session) if problem == "malformed"]


@pytest.mark.parametrize("broken", [0, 1])
def test_what_follows_a_broken_message_is_shown(tmp_path: Path, broken: int) -> None:
    talk = Conversation()
    for name in ("one", "two", "three"):
        talk.turn(name)
    base = Database(tmp_path)
    base.write(talk)
    name = talk.messages[broken][0]["id"]
    with closing(sqlite3.connect(base.path)) as connection, connection:
        connection.execute("update message set data = '{torn' where id = ?", (name,))
        part = "update part set data = '[1]' where message_id = ?"
        connection.execute(part, (talk.messages[3][0]["id"],))
    session = opened(base.path / talk.id)
    kinds, parents = session.columns.kind, session.columns.parent
    bad = {index for index, kind in enumerate(kinds) if kind == Kind.MALFORMED}
    assert len(bad) >= 2
    assert not bad & set(parents), "nothing hangs on what is broken"
    assert [text for text in texts(session) if text.startswith("user")][-2:] == ["user: two?", "user: three?"]
    found = {index for lane in Lanes(session, session.leaf).lanes() for index in lane.entries}
    assert found | bad == set(range(len(session)))
    told = [problem for problem in check(session) if problem.code == "malformed"]
    assert {problem.offset for problem in told} == {None}
    assert all("(row " in problem.text for problem in told)


def test_byte_order_marks_are_passed_over(root: Path) -> None:
    talk = one_turn()
    file = write_tree(root, talk)
    for path in file.parents[2].rglob("*.json"):
        path.write_bytes(BOM + path.read_bytes())
    session = opened(file)
    assert texts(session) == ["user: one?", "assistant: one."]
    assert agent_of(file) is OPENCODE


def test_empty_and_broken_session_files(root: Path, tmp_path: Path) -> None:
    talk = one_turn()
    file = write_tree(root, talk)
    lone = file.with_name("ses_lone.json")
    lone.write_bytes(b"")
    file.write_bytes(b"")
    found = cards_by_id(root, tmp_path / "index")
    assert "is empty" in str(found["ses_lone"].problem)
    assert found["ses_one"].problem is None
    session = opened(file)
    assert texts(session) == ["user: one?", "assistant: one."]
    assert "info-broken" in problems(session)


def test_a_session_without_messages(root: Path) -> None:
    session = opened(Database(root).write(Conversation()))
    assert len(session) == 0
    assert context_at(session).size.total == 0
    assert problems(session) == []


@pytest.mark.skipif(os.name != "posix" or not os.getuid(), reason="root reads everything")
def test_a_file_that_may_not_be_read_is_said(root: Path) -> None:
    talk = one_turn()
    file = write_tree(root, talk)
    next(file.parents[2].rglob(f"{talk.messages[1][0]['id']}.json")).chmod(0)
    session = opened(file)
    assert problems(session) == ["unreadable-record"]


def test_lone_surrogates_and_terminal_codes_come_through(root: Path) -> None:
    talk = Conversation(title="a\x1b[31mb")
    talk.ask("\ud800 \x1b]0;x\x07 pear")
    session = opened(Database(root).write(talk))
    assert "pear" in texts(session)[0]
    assert session.entry(0).message["content"][0]["text"].startswith("\ud800")


def test_large_sessions_are_put_aside_in_a_file(root: Path) -> None:
    talk = Conversation()
    for number in range(5):
        talk.turn(f"{number} {'pear ' * 300_000}")
    session = opened(Database(root, events=False).write(talk))
    assert foreign(session).transcript.size > 4 << 20
    assert session.entry(8).message["content"][0]["text"].startswith("4 pear")
    assert session.columns.kind.count(Kind.USER) == 5
    assert session.reload().added == 0
    assert session.entry(0).message["content"][0]["text"].startswith("0 pear")
