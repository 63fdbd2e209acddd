"""Sessions of opencode kept: taken out of a database or of its files, whole, and read again where the originals are gone."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.registry import agent_named, all_agents
from leafward.base.config import Config
from leafward.base.errors import Refused
from leafward.catalogue.backups import keep, kept_root
from leafward.catalogue.lineage import parents
from leafward.catalogue.listing import Catalogue
from leafward.session.entries import EntryIndex
from tests.opencode_newer import Rows, newer_call
from tests.opencode_store import (
    START,
    Conversation,
    Database,
    call,
    files_of,
    opened,
    problems,
    said,
    shape,
    write_tree,
)
from tests.searched import parts
from tests.surroundings import CORPORA, needs_corpora

if TYPE_CHECKING:
    from leafward.catalogue.cards.card import Card


def listed(root: Path) -> Catalogue:
    """Sessions of opencode under a root, and our copies of them."""
    roots: dict[str, tuple[str, ...]] = {agent.name: () for agent in all_agents()}
    found = Catalogue(Config(roots=roots | {"opencode": (str(root),)}))
    found.refresh()
    return found


def by_id(found: Catalogue) -> dict[str, Card]:
    return {card.id: card for card in found.cards()}


def family(root: Path, **info: Any) -> tuple[Database, Conversation]:
    """A session with a sub-agent, which has one of its own; and another session."""
    talk = Conversation("ses_one", **info)
    talk.ask("count the pears")
    talk.reply(said("asking"), call("task", "three", prompt="count"))
    child = Conversation("ses_child", at=talk.time, parentID="ses_one")
    child.turn("how many pears")
    grandchild = Conversation("ses_grandchild", at=talk.time, parentID="ses_child")
    grandchild.turn("look at the last tree")
    other = Conversation("ses_other", at=talk.time)
    other.turn("a secret of somebody else")
    database = Database(root)
    for one in (talk, child, grandchild, other):
        database.write(one)
    return database, talk


def bodies(path: Path) -> list[object]:
    session = opened(path)
    return [session.body(EntryIndex(index)) for index in range(len(session))]


def test_of_a_damaged_database_what_can_be_read_is_kept(tmp_path: Path) -> None:
    root = tmp_path / "opencode"
    store = Database(root, events=False)
    for number in range(12):
        talk = Conversation(f"ses_{number:02}", at=START + number * 1_000_000, title="pear " * 300)
        talk.turn(f"plum {number}")
        store.write(talk)
    whole = store.path.read_bytes()
    size, kept = 4096, 0
    for page in range(1, len(whole) // size):
        store.path.write_bytes(whole[: page * size] + b"\xff" * size + whole[(page + 1) * size :])
        found = by_id(listed(root))
        if found.pop("opencode", None) is None:
            continue
        for card in found.values():
            with suppress(Refused):
                keep(card)
                kept += 1
        shutil.rmtree(kept_root("opencode"), ignore_errors=True)
    assert kept >= 50


def test_a_session_is_taken_out_of_its_database(tmp_path: Path) -> None:
    root = tmp_path / "opencode"
    database, talk = family(root)
    second = talk.ask("what was taken back")
    database.write(talk)
    database.remove(talk, second)
    before = files_of(root)
    card = by_id(listed(root))["ses_one"]
    asked = keep(card, dry_run=True)
    assert (asked.copied, asked.what, kept_root("opencode").exists()) == (3, "session", False)
    done = keep(card)
    assert (done.path, done.size) == (asked.path, asked.size)
    assert done.path == kept_root("opencode") / "opencode-ses_one.db" / "ses_one"
    assert [path.name for path in done.files] == ["ses_one", "ses_child", "ses_grandchild"]
    assert files_of(root) == before
    assert stat.S_IMODE(done.path.parent.stat().st_mode) == 0o600
    assert [path.name for path in kept_root("opencode").iterdir()] == ["opencode-ses_one.db"]
    with sqlite3.connect(done.path.parent) as base:
        tables = {row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        names = {row[0] for row in base.execute("SELECT id FROM session")}
    base.close()
    assert tables == {"session", "message", "part", "event", "event_sequence"}
    assert names == {"ses_one", "ses_child", "ses_grandchild"}
    stored = done.path.parent.read_bytes()
    assert b"not for anybody" not in stored
    assert b"somebody else" not in stored
    ours, theirs = opened(done.path), opened(Path(card.path))
    assert shape(ours) == shape(theirs)
    assert bodies(done.path) == bodies(Path(card.path))
    assert [ours.origin(index).offset for index in range(len(ours))] == [
        theirs.origin(index).offset for index in range(len(theirs))
    ]
    assert any("taken back" in json.dumps(body) for body in bodies(done.path))
    assert problems(ours) == problems(theirs)


def test_what_the_newer_engine_said_is_kept_too(tmp_path: Path) -> None:
    root = tmp_path / "opencode"
    rows = Rows(Database(root), Conversation("ses_one"))
    first = rows.ask("count the pears")
    rows.reply(said("three"), newer_call("bash", "3", given={"command": "ls pears"}))
    rows.ask("what was taken back")
    rows.commit_revert(first)
    before = files_of(root)
    card = by_id(listed(root))["ses_one"]
    done = keep(card)
    assert done.size > 20
    assert files_of(root) == before
    assert not keep(card).changed
    ours, theirs = opened(done.path), opened(Path(card.path))
    assert shape(ours) == shape(theirs)
    assert bodies(done.path) == bodies(Path(card.path))
    assert any("taken back" in json.dumps(body) for body in bodies(done.path))
    rows.reply(said("no, four"))
    assert keep(card).changed


def test_it_is_kept_again_only_where_it_went_on(tmp_path: Path) -> None:
    database, talk = family(tmp_path / "opencode")
    found = listed(tmp_path / "opencode")
    card = by_id(found)["ses_one"]
    assert keep(card).changed
    assert not keep(card).changed, "asked again it finds everything there"
    talk.turn("and the plums")
    database.write(talk)
    done = keep(card)
    assert done.changed
    assert bodies(done.path) == bodies(Path(card.path))
    done.path.parent.write_bytes(b"no database")
    assert keep(card).changed, "a copy that was damaged is made anew"


def test_it_is_shown_once_and_outlives_its_original(tmp_path: Path) -> None:
    root = tmp_path / "opencode"
    database, _ = family(root)
    found = listed(root)
    done = keep(by_id(found)["ses_one"])
    found.refresh()
    assert len(found.cards()) == 4
    assert {Path(path) for path in found.kept_paths()} == {
        database.path / name for name in ("ses_one", "ses_child", "ses_grandchild")
    }
    shutil.rmtree(root)
    found.refresh()
    cards = by_id(found)
    assert {Path(card.path) for card in cards.values()} == {
        done.path.parent / name for name in ("ses_one", "ses_child", "ses_grandchild")
    }
    above = parents(found.cards())
    assert above[cards["ses_grandchild"].path][0] == cards["ses_child"].path
    assert above[cards["ses_child"].path][0] == cards["ses_one"].path
    assert [part for part, _ in parts("pears", kept_root("opencode"))] == ["prompt", "reply", "prompt"]
    with pytest.raises(Refused, match="kept copy itself"):
        keep(cards["ses_one"])
    session = opened(done.path)
    with pytest.raises(Refused, match="a copy that Leafward kept; fork it"):
        agent_named("opencode").resume(session, os.environ)


def test_what_a_live_log_holds_is_kept_and_nothing_left_behind(tmp_path: Path) -> None:
    root = tmp_path / "opencode"
    database, _ = family(root)
    owner = sqlite3.connect(database.path)
    owner.execute("PRAGMA journal_mode=wal")
    owner.execute("UPDATE session SET title = 'said only in the log' WHERE id = 'ses_one'")
    owner.commit()
    before = files_of(root)
    done = keep(by_id(listed(root))["ses_one"])
    after = files_of(root)
    assert after.keys() == before.keys()
    # Whoever reads along notes in the index of the log that it does.
    assert {name for name in after if after[name] != before[name]} <= {f"{database.path}-shm"}
    owner.close()
    assert opened(done.path).title == "said only in the log"
    assert [path.name for path in kept_root("opencode").iterdir()] == ["opencode-ses_one.db"]


@pytest.mark.parametrize("nested", [False, True], ids=["B", "A"])
def test_a_session_in_files_is_kept_with_its_messages(tmp_path: Path, nested: bool) -> None:
    root = tmp_path / "opencode"
    talk = Conversation("ses_one")
    talk.ask("count the pears")
    talk.reply(said("three"), call("read", "a pear", filePath="/home/ada/pear"))
    child = Conversation("ses_child", at=talk.time, parentID="ses_one")
    child.turn("how many pears")
    other = Conversation("ses_other", at=talk.time)
    other.turn("a secret of somebody else")
    for one in (talk, child, other):
        write_tree(root, one, nested=nested, project="orchard")
    before = files_of(root)
    found = listed(root)
    card = by_id(found)["ses_one"]
    done = keep(card)
    assert files_of(root) == before
    assert done.path.relative_to(kept_root("opencode")) == Path(card.path).relative_to(root)
    assert not keep(card).changed
    kept = [path for path in kept_root("opencode").rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}
    assert not any(b"somebody else" in path.read_bytes() for path in kept)
    wanted = bodies(Path(card.path))
    shutil.rmtree(root)
    found.refresh()
    assert by_id(found).keys() == {"ses_one", "ses_child"}
    assert bodies(done.path) == wanted
    with pytest.raises(Refused, match="fork it"):
        agent_named("opencode").resume(opened(done.path), os.environ)


def test_an_id_that_leads_elsewhere_takes_nothing_along(tmp_path: Path) -> None:
    root = tmp_path / "opencode"
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key.json").write_text("{}")
    path = write_tree(root, Conversation("ses_one"))
    body = json.loads(path.read_text())
    for name in ("../../../private", str(tmp_path / "private")):
        path.write_text(json.dumps(body | {"id": name}))
        assert [file.name for file in keep(next(iter(listed(root).cards()))).files] == ["ses_one.json"]
    assert not list(kept_root("opencode").rglob("key.json"))


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "ours"
    home.mkdir()
    monkeypatch.setenv("LEAFWARD_HOME", str(home))
    family(tmp_path / "opencode")
    write_tree(tmp_path / "older", Conversation("ses_old"))
    cards = [by_id(listed(tmp_path / "opencode"))["ses_one"], by_id(listed(tmp_path / "older"))["ses_old"]]
    (home / "data").write_text("no folder")
    for card in cards:
        with pytest.raises(
            Refused, match=f"^cannot write to {home / 'data'}: Not a directory; no copy was made$"
        ):
            keep(card)


def test_a_database_that_is_damaged_is_named(tmp_path: Path) -> None:
    database, _ = family(tmp_path / "opencode")
    card = by_id(listed(tmp_path / "opencode"))["ses_one"]
    data = bytearray(database.path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    database.path.write_bytes(data)
    with pytest.raises(Refused, match=r"opencode\.db"):
        keep(card)
    assert not kept_root("opencode").exists()


@needs_corpora
@pytest.mark.parametrize("version", ["v1.0.185", "v1.18.33"])
def test_every_session_of_the_corpora_can_be_kept(version: str, tmp_path: Path) -> None:
    shutil.copytree(CORPORA / "opencode" / version, tmp_path / "there")
    root = tmp_path / "there" / "opencode"
    found = listed(root)
    before = {card.id: (bodies(Path(card.path)), card.title, card.branches) for card in found.cards()}
    for card in found.cards():
        keep(card)
        assert not keep(card).changed
    assert len(listed(root).cards()) == len(before) >= 5
    shutil.rmtree(root)
    again = listed(root)
    assert {card.id: (bodies(Path(card.path)), card.title, card.branches) for card in again.cards()} == before
