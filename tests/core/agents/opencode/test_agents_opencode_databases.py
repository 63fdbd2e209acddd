"""Databases of opencode that are locked, live, torn or somebody else's; nothing is left behind in any of them."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from leafward.agents.opencode.storage.database import TABLES
from leafward.agents.opencode.storage.database import Database as OpenDatabase
from leafward.agents.opencode.storage.database import opened as opened_base
from leafward.agents.opencode.storage.sessions import info_of
from leafward.agents.recognition import agent_of
from leafward.base.errors import NotASession, Refused
from tests.core.catalogued import cards_by_id
from tests.opencode_forks import draft
from tests.opencode_store import (
    OPENCODE,
    START,
    Conversation,
    Database,
    files_of,
    one_turn,
    opened,
    problems,
    texts,
    write_tree,
)


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


def test_a_write_within_the_tick_of_the_one_before_is_seen_after_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a file system that keeps whole seconds both have the same time, and a database often the same size."""
    store = Database(root)
    store.write(one_turn())
    tick, passed = START // 1000, 0

    def write(title: str) -> None:
        with store.opened() as base:
            base.execute("UPDATE session SET title = ?", (title,))
        os.utime(store.path, (tick, tick))

    clock = SimpleNamespace(time_ns=lambda: (tick + passed) * 1_000_000_000)
    monkeypatch.setattr("leafward.session.file_stamps.time", clock)
    write("One pear")
    session = opened(store.path / "ses_one")
    write("Two pear")
    assert not session.changed_on_disk()
    passed = 2
    assert session.changed_on_disk()
    session.refresh()
    assert session.title == "Two pear"
    assert not session.changed_on_disk()


def left_behind(root: Path, left: Path) -> Path:
    """A store as it lay there while its owner, who was killed then, had written to the log alone; `root` was the store."""
    store = Database(root)
    store.write(one_turn())
    with closing(sqlite3.connect(store.path)) as owner:
        owner.execute("PRAGMA journal_mode=wal")
        owner.execute("UPDATE session SET title = 'In the log'")
        owner.commit()
        shutil.copytree(root, left)
    return left


def test_a_log_that_was_left_behind_is_read_from_a_copy(root: Path, tmp_path: Path) -> None:
    left = left_behind(root, tmp_path / "left")
    (left / "opencode.db-shm").unlink()
    before = files_of(left)
    assert [Path(name).name for name in before] == ["opencode.db", "opencode.db-wal"]
    assert cards_by_id(left, tmp_path / "index")["ses_one"].title == "In the log"
    assert files_of(left) == before


def test_a_database_with_a_log_and_its_index_but_no_owner(root: Path, tmp_path: Path) -> None:
    left = left_behind(root, tmp_path / "left")
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


def test_a_view_in_the_place_of_a_table_is_not_read(root: Path) -> None:
    """Its rows may have no end, though it reads tables of opencode alone."""
    store = Database(root)
    store.write(one_turn())
    with sqlite3.connect(store.path) as made:
        made.execute("DROP TABLE project")
        made.execute(
            "CREATE VIEW project AS WITH RECURSIVE event(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM event)"
            " SELECT session.id, event.id AS worktree FROM session, event"
        )
    made.close()
    with opened_base(str(store.path)) as base, pytest.raises(sqlite3.DatabaseError):
        base.ask("SELECT COUNT(*) FROM project").fetchone()


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
    assert cards_by_id(root, tmp_path / "index")
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
        found = cards_by_id(root, tmp_path / "index")
        assert {"ses_other", "ses_file"} <= set(found)
        assert "locked" in str(found["opencode"].problem)


def test_the_parts_of_many_messages_are_asked_for_together(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, talk = Database(root), Conversation()
    for number in range(150):
        talk.ask(f"Question {number}")
    store.write(talk)
    asked: list[str] = []
    ask = OpenDatabase.ask

    def counted(base: OpenDatabase, query: str, *values: object) -> sqlite3.Cursor:
        asked.append(query)
        return ask(base, query, *values)

    monkeypatch.setattr(OpenDatabase, "ask", counted)
    session = opened(store.path / talk.id)
    assert len(session) == 150
    assert sum("JOIN part" in query for query in asked) == 3
    assert len(asked) < 30


# --- damage ---


def test_a_torn_database_is_said_and_hides_no_other(root: Path, tmp_path: Path) -> None:
    torn, other = Database(root), Database(root, name="opencode-dev.db")
    torn.write(one_turn())
    other.write(one_turn("ses_other"))
    torn.path.write_bytes(torn.path.read_bytes()[:3000])
    found = cards_by_id(root, tmp_path / "index")
    assert "ses_other" in found
    assert "malformed" in str(found["opencode"].problem)
    for content in (b"", b"SQLite format 3\0", b"not a database at all" * 400):
        torn.path.write_bytes(content)
        found = cards_by_id(root, tmp_path / "index")
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
        found = cards_by_id(root, tmp_path / str(page))
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
        found = cards_by_id(root, tmp_path / str(page))
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


def test_another_programs_database_is_said(root: Path, tmp_path: Path) -> None:
    root.mkdir()
    with closing(sqlite3.connect(root / "opencode.db")) as base:
        base.execute("CREATE TABLE sessions (id text)")
        base.commit()
    assert "no table session" in str(cards_by_id(root, tmp_path / "index")["opencode"].problem)
    with pytest.raises(NotASession, match="not a database of opencode"):
        agent_of(root / "opencode.db").open(root / "opencode.db")
