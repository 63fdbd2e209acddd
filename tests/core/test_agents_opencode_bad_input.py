"""Stores of opencode that are broken, locked, live or somebody else's; nothing is left behind in any of them."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents import agent_of, strays
from leafward.agents.lines import MARK
from leafward.agents.opencode.database import TABLES
from leafward.agents.opencode.database import opened as opened_base
from leafward.agents.opencode.sessions import info_of
from leafward.catalog import Catalogue
from leafward.config import Config
from leafward.context import context_at
from leafward.doctor import check, stray_messages
from leafward.entries import Kind
from leafward.errors import NotASession, Refused
from leafward.lanes import Lanes
from tests.opencode_forks import draft
from tests.opencode_store import (
    OPENCODE,
    START,
    Conversation,
    Database,
    files_of,
    opened,
    problems,
    shape,
    texts,
    write_tree,
)

if TYPE_CHECKING:
    from leafward.catalog import Card


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "opencode"


def one_turn(session: str = "ses_one") -> Conversation:
    talk = Conversation(session)
    talk.turn("one")
    return talk


def cards(root: Path, tmp_path: Path) -> dict[str, Card]:
    catalogue = Catalogue(Config(), [root], index_path=tmp_path / "index")
    catalogue.refresh()
    return {card.id: card for card in catalogue.cards()}


# --- live and left databases ---


def test_a_live_database_is_read_with_its_log_and_nothing_is_left(root: Path) -> None:
    store = Database(root)
    store.write(one_turn())
    with closing(sqlite3.connect(store.path)) as owner:
        owner.execute("PRAGMA journal_mode=wal")
        owner.execute("UPDATE session SET title = 'Newer'")
        owner.commit()
        before = files_of(root)
        assert len(before) == 3
        session = opened(store.path / "ses_one")
        assert session.title == "Newer"
        for index in range(len(session)):
            session.body(index)
        assert files_of(root) == before
        assert not session.changed_on_disk()
        owner.execute("UPDATE session SET title = 'Newest'")
        owner.commit()
        assert session.changed_on_disk()
        session.refresh()
        assert session.title == "Newest"
    assert sorted(path.name for path in root.iterdir()) == ["opencode.db"]


def test_a_log_that_was_left_behind_is_read_from_a_copy(root: Path, tmp_path: Path) -> None:
    store = Database(root)
    store.write(one_turn())
    left = tmp_path / "left"
    with closing(sqlite3.connect(store.path)) as owner:
        owner.execute("PRAGMA journal_mode=wal")
        owner.execute("UPDATE session SET title = 'In the log'")
        owner.commit()
        shutil.copytree(root, left)
    (left / "opencode.db-shm").unlink()
    before = files_of(left)
    assert [Path(name).name for name in before] == ["opencode.db", "opencode.db-wal"]
    assert cards(left, tmp_path)["ses_one"].title == "In the log"
    assert files_of(left) == before


def test_a_database_with_a_log_and_its_index_but_no_owner(root: Path, tmp_path: Path) -> None:
    store = Database(root)
    store.write(one_turn())
    left = tmp_path / "left"
    with closing(sqlite3.connect(store.path)) as owner:
        owner.execute("PRAGMA journal_mode=wal")
        owner.execute("UPDATE session SET title = 'In the log'")
        owner.commit()
        shutil.copytree(root, left)
    before = {name: Path(name).read_bytes() for name in files_of(left)}
    assert opened(left / "opencode.db" / "ses_one").title == "In the log"
    after = {name: Path(name).read_bytes() for name in files_of(left)}
    assert sorted(after) == sorted(before)
    assert {name for name in after if after[name] != before[name]} <= {str(left / "opencode.db-shm")}


def test_secret_tables_cannot_be_read(root: Path) -> None:
    store = Database(root)
    store.write(one_turn())
    with opened_base(str(store.path)) as base:
        assert info_of(base, "ses_one") is not None
        for query in ("SELECT access_token FROM account", "SELECT COUNT(*) FROM account"):
            with pytest.raises(sqlite3.DatabaseError):
                base.ask(query)


def test_nothing_reads_a_table_that_is_not_named(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trap on every connection: which tables it lets be read, and whether it asks anything before it refuses others."""
    read: set[str | None] = set()
    unguarded: list[str] = []

    class Trap(sqlite3.Connection):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            self.set_trace_callback(unguarded.append)

        def set_authorizer(self, ask: Any) -> None:
            def watched(action: int, table: str | None, *rest: str | None) -> int:
                answer: int = ask(action, table, *rest)
                if action == sqlite3.SQLITE_READ and answer == sqlite3.SQLITE_OK:
                    read.add(table)
                return answer

            self.set_trace_callback(None)
            super().set_authorizer(watched)

    Database(root).write(one_turn())
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Trap))
    assert cards(root, tmp_path)
    session = opened(root / "opencode.db" / "ses_one")
    problems(session)
    session.refresh()
    assert {"session", "message", "part", "event"} <= read <= TABLES
    assert not {table for table in TABLES if "account" in table or "credential" in table}
    assert unguarded == []


def test_a_locked_database_is_said_and_hides_no_other(root: Path, tmp_path: Path) -> None:
    locked, other = Database(root), Database(root, name="opencode-dev.db")
    locked.write(one_turn())
    other.write(one_turn("ses_other"))
    write_tree(root, one_turn("ses_file"))
    with closing(sqlite3.connect(locked.path)) as owner:
        owner.execute("PRAGMA journal_mode=wal")
        owner.execute("PRAGMA locking_mode=exclusive")
        owner.execute("UPDATE session SET title = 'x'")
        owner.commit()
        (root / "opencode.db-shm").touch()
        found = cards(root, tmp_path)
        assert {"ses_other", "ses_file"} <= set(found)
        assert "locked" in str(found["opencode"].problem)


# --- damage ---


def test_a_torn_database_is_said_and_hides_no_other(root: Path, tmp_path: Path) -> None:
    torn, other = Database(root), Database(root, name="opencode-dev.db")
    torn.write(one_turn())
    other.write(one_turn("ses_other"))
    torn.path.write_bytes(torn.path.read_bytes()[:3000])
    found = cards(root, tmp_path)
    assert "ses_other" in found
    assert "malformed" in str(found["opencode"].problem)
    for content in (b"", b"SQLite format 3\0", b"not a database at all" * 400):
        torn.path.write_bytes(content)
        found = cards(root, tmp_path)
        assert found["opencode"].problem
        assert "ses_other" in found
        with pytest.raises(NotASession):
            OPENCODE.open(torn.path)


def test_a_schema_that_is_no_text_is_said(root: Path) -> None:
    path = Database(root).write(Conversation()).parent
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE part", b"CREATE T\xdfBLE part"))
    with pytest.raises(NotASession, match=r"damaged|malformed|schema"):
        opened(path / "ses_one")


def test_pages_that_are_overwritten_lose_what_lay_on_them_only(root: Path) -> None:
    talk = Conversation()
    for number in range(60):
        talk.turn(f"turn {number} {'pear ' * 60}")
    store = Database(root, events=False)
    path = store.write(talk)
    whole = len(opened(path))
    content = bytearray(store.path.read_bytes())
    size = 4096
    for page in range(8, len(content) // size, 5):
        content[page * size : (page + 1) * size] = b"\xff" * size
    store.path.write_bytes(content)
    try:
        session = opened(path)
    except NotASession as error:
        assert "malformed" in str(error)  # noqa: PT017  # which page it is depends on SQLite
    else:
        assert len(session) <= whole
        assert problems(session)


def test_of_a_damaged_database_what_can_be_read_is_listed_and_opened(root: Path, tmp_path: Path) -> None:
    """Every page in turn: either the whole database is refused, or it is named and the sessions that are left open."""
    store = Database(root, events=False)
    names = [f"ses_{number:02}" for number in range(24)]
    for number, name in enumerate(names):
        talk = Conversation(name, at=START + number * 1_000_000, title=f"{name} {'pear ' * 60}")
        talk.turn(f"{name} {'plum ' * 150}")
        store.write(talk)
    whole = store.path.read_bytes()
    size = 4096
    rescued = opens = 0
    for page in range(1, len(whole) // size):
        store.path.write_bytes(whole[: page * size] + b"\xff" * size + whole[(page + 1) * size :])
        found = cards(root, tmp_path / str(page))
        said = found.pop("opencode", None)
        if said is None:
            assert set(found) == set(names)
        elif found:
            rescued += 1
            lost = sorted(set(names) - set(found))
            assert f"damaged database: {len(found)} session" in str(said.problem)
            assert "may be missing" in str(said.problem) or all(
                name in str(said.problem) for name in lost[:3]
            )
        else:
            assert "malformed" in str(said.problem)
        opens += sum(card.problem is None for card in found.values()) > len(names) // 2
    assert rescued >= 3
    assert opens >= 3 * (len(whole) // size) // 4


def test_a_session_whose_row_is_lost_is_known_by_its_messages(root: Path, tmp_path: Path) -> None:
    store = Database(root, events=False)
    for number in range(12):
        talk = Conversation(f"ses_{number:02}", at=START + number * 1_000_000, title=f"Title {'pear ' * 300}")
        talk.turn(f"plum {number}")
        store.write(talk)
    whole = store.path.read_bytes()
    size = 4096
    torn = 0
    for page in range(1, len(whole) // size):
        store.path.write_bytes(whole[: page * size] + b"\xff" * size + whole[(page + 1) * size :])
        found = cards(root, tmp_path / str(page))
        said = found.pop("opencode", None)
        for card in found.values():
            if "Title" in card.title or card.problem is not None or not card.messages:
                continue
            torn += 1
            session = opened(store.path / card.id)
            assert problems(session).count("session-row") == 1
            assert texts(session)[0] == f"user: plum {int(card.id[-2:])}?"
            assert card.title == f"plum {int(card.id[-2:])}?"
            assert card.project == session.cwd == "/home/ada/orchard"
            assert card.damage == 1
            assert said is not None
            assert "without title: ses_" in str(said.problem)
            with pytest.raises(Refused, match="begin a new session from it"):
                OPENCODE.resume(session, {})
            assert "session-row" in {one.code for one in draft(session, session.place).remarks}
    assert torn >= 3


def test_a_message_on_a_damaged_page_hides_no_other(root: Path) -> None:
    talk = Conversation()
    for number in range(40):
        talk.turn(f"turn {number} {'pear ' * 200}")
    store = Database(root, events=False)
    path = store.write(talk)
    whole = store.path.read_bytes()
    size = 4096
    told = []
    for page in range(1, len(whole) // size):
        store.path.write_bytes(whole[: page * size] + b"\xff" * size + whole[(page + 1) * size :])
        try:
            session = opened(path)
        except NotASession:
            continue
        if "unreadable-record" in problems(session):
            told.append(texts(session)[-1:])
    assert sum(last[0].startswith("assistant: turn 39 pear") for last in told if last) > len(told) * 3 // 4


def test_messages_of_no_session_are_told_of(root: Path, tmp_path: Path) -> None:
    store = Database(root)
    store.write(one_turn())
    store.write(one_turn("ses_gone"))
    assert strays(str(store.path)) == {}
    store.execute("DELETE FROM session WHERE id = ?", "ses_gone")
    assert set(cards(root, tmp_path)) == {"ses_one"}
    found = strays(str(store.path))
    assert found == {"ses_gone": 2}
    (problem,) = stray_messages(str(store.path), found)
    assert problem.code == "stray-messages"
    assert problem.text.endswith("2 messages name sessions that are not there: ses_gone (2)")
    assert strays(str(root)) == {}


def test_another_programs_database_is_said(root: Path, tmp_path: Path) -> None:
    root.mkdir()
    with closing(sqlite3.connect(root / "opencode.db")) as base:
        base.execute("CREATE TABLE sessions (id text)")
        base.commit()
    assert "no table session" in str(cards(root, tmp_path)["opencode"].problem)
    with pytest.raises(NotASession, match="no database of opencode"):
        agent_of(root / "opencode.db").open(root / "opencode.db")


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
        for index in range(len(session)):
            session.entry(index)
            session.reader.origin(index)
        problems(session)
        sent = texts(session)
        assert sent[:2] == ["user: one?", "assistant: one."]
        assert sent[-2:] == ["user: three?", "assistant: three."]
        assert session.columns.id(2) == middle


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
        path.write_bytes(MARK + path.read_bytes())
    session = opened(file)
    assert texts(session) == ["user: one?", "assistant: one."]
    assert agent_of(file) is OPENCODE


def test_empty_and_broken_session_files(root: Path, tmp_path: Path) -> None:
    talk = one_turn()
    file = write_tree(root, talk)
    lone = file.with_name("ses_lone.json")
    lone.write_bytes(b"")
    file.write_bytes(b"")
    found = cards(root, tmp_path)
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
    assert session.transcript.size > 4 << 20
    assert session.entry(8).message["content"][0]["text"].startswith("4 pear")
    assert session.columns.kind.count(Kind.USER) == 5
    assert session.reload().added == 0
    assert session.entry(0).message["content"][0]["text"].startswith("0 pear")
