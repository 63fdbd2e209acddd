"""opencode: where stores are found, which sessions lie in them, and how a listing follows them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.agents.recognition import agent_of, names_one, recognised, within
from leafward.base.config import Config
from leafward.base.errors import NotASession, NotFound, Refused
from leafward.catalogue.listing import Catalogue
from leafward.catalogue.lookup import find_session
from tests.core.catalogued import cards_by_id, cards_in
from tests.opencode_store import (
    FOLDER,
    OPENCODE,
    START,
    Conversation,
    Database,
    opened,
    problems,
    texts,
    write_tree,
)

if TYPE_CHECKING:
    from leafward.agents.base import Listing


def _listed(*roots: Path) -> list[Listing]:
    return list(OPENCODE.discover(roots, lambda: False, []))


def test_titles_that_nobody_gave_are_none(root: Path, tmp_path: Path) -> None:
    talk = Conversation(title="New session - 2026-01-01T00:00:00.000Z")
    talk.turn("Which pears")
    assert opened(Database(root).write(talk)).name is None
    assert cards_in(root, tmp_path / "index")[0].title == "Which pears?"
    glimpse = OPENCODE.peek(_listed(root)[0].candidate("ses_one"))
    assert glimpse is not None
    assert (glimpse.name, glimpse.prompt, glimpse.project) == (None, "Which pears?", FOLDER)


def test_where_stores_are_looked_for(tmp_path: Path) -> None:
    config, home = Config(), {"HOME": str(tmp_path)}
    usual = tmp_path / ".local" / "share" / "opencode"
    assert OPENCODE.roots(config, home) == (usual,)
    assert OPENCODE.roots(config, {**home, "XDG_DATA_HOME": "/data"}) == (Path("/data/opencode"),)
    assert OPENCODE.roots(config, {**home, "OPENCODE_DB": ":memory:"}) == (usual,)
    assert OPENCODE.roots(config, {**home, "OPENCODE_DB": "/other/mine.sqlite"}) == (
        usual,
        Path("/other/mine.sqlite"),
    )
    assert OPENCODE.roots(config, {**home, "OPENCODE_DB": "mine.sqlite"}) == (usual, usual / "mine.sqlite")
    assert OPENCODE.roots(Config(roots={"opencode": ("~/x",)}), home) == (tmp_path / "x",)


def test_databases_of_all_channels_and_one_named_by_the_environment(root: Path) -> None:
    for number, name in enumerate(("opencode.db", "opencode-dev.db", "mine.sqlite")):
        talk = Conversation(f"ses_{number}")
        talk.turn("one")
        Database(root, name=name).write(talk)
    Database(root, name="other.db")
    found = {
        (Path(one.folder).name, name) for one in _listed(root, root / "mine.sqlite") for name in one.files
    }
    assert found == {("opencode.db", "ses_0"), ("opencode-dev.db", "ses_1"), ("mine.sqlite", "ses_2")}


def test_a_session_in_both_is_the_databases_and_files_alone_are_listed_too(
    root: Path, tmp_path: Path
) -> None:
    store = Database(root)
    both, alone, hollow = Conversation("ses_both"), Conversation("ses_alone"), Conversation("ses_hollow")
    for talk in (both, alone, hollow):
        talk.turn("one")
        write_tree(root, talk)
    store.write(both)
    store.write(hollow, keep=0)
    cards = cards_by_id(root, tmp_path / "index")
    assert cards["ses_both"].path == str(store.path / "ses_both")
    assert cards["ses_alone"].path.endswith("storage/session/global/ses_alone.json")
    assert cards["ses_hollow"].path.endswith("storage/session/global/ses_hollow.json")
    assert len(cards) == 3
    env = {"HOME": str(tmp_path)}
    assert OPENCODE.resume(opened(Path(cards["ses_both"].path)), env).argv == ("opencode", "-s", "ses_both")
    with pytest.raises(Refused, match="older opencode"):
        OPENCODE.resume(opened(Path(cards["ses_alone"].path)), env)


def test_a_half_imported_session_says_so(root: Path) -> None:
    talk = Conversation()
    talk.turn("one")
    talk.turn("two")
    write_tree(root, talk)
    session = opened(Database(root).write(talk, keep=2))
    assert problems(session) == ["half-imported"]
    assert "2 messages" in session.source.notes[0].text


def test_resume_runs_in_the_sessions_folder(root: Path) -> None:
    talk = Conversation(directory=str(root))
    talk.turn("one")
    session = opened(Database(root).write(talk))
    resume = OPENCODE.resume(session, {"LEAFWARD_HOME": "x", "PATH": "y"})
    assert (resume.argv, resume.cwd, resume.env_remove) == (
        ("opencode", "-s", "ses_one"),
        str(root),
        ("LEAFWARD_HOME",),
    )
    assert session.read_only is None


def test_a_session_that_no_path_can_name_is_said_to_be_missing(root: Path) -> None:
    store = Database(root)
    for name in ("ses_one", "ses/two", "ses\nthree"):
        talk = Conversation(name)
        talk.turn("one")
        store.write(talk)
    for paths in ([], [root], [store.path]):
        catalogue = Catalogue(
            Config(roots={"opencode": (str(root),), "codex": (), "claude": (), "pi": ()}), paths
        )
        catalogue.refresh()
        assert [card.id for card in catalogue.cards()] == ["ses_one"]
        [trouble] = catalogue.trouble
        assert trouble.path == str(store.path)
        assert trouble.reason == (
            "2 sessions are not listed, as a path cannot hold the id: 'ses three', 'ses/two'"
        )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")
def test_a_fifo_beside_a_database_keeps_nobody_waiting(root: Path) -> None:
    talk = Conversation()
    talk.turn("one")
    store = Database(root)
    path = store.write(talk)
    for name in ("-wal", "-shm"):
        fifo = Path(f"{store.path}{name}")
        fifo.unlink(missing_ok=True)
        os.mkfifo(fifo)
        with pytest.raises(NotASession, match="not a regular file"):
            opened(path)
        fifo.unlink()
    assert opened(path).id == "ses_one"


def test_a_path_into_a_database_names_a_session(root: Path) -> None:
    talk = Conversation()
    talk.turn("one")
    store = Database(root)
    path = store.write(talk)
    assert agent_of(path) is OPENCODE
    assert agent_of(store.path) is OPENCODE
    assert names_one(path)
    assert not names_one(store.path)
    listing = within(store.path)
    assert listing is not None
    assert list(listing.files) == ["ses_one"]
    assert within(store.path / "ses_two") is None
    config = Config(roots={"opencode": (str(root),), "codex": (), "pi": ()})
    assert find_session(str(path), config) == path
    assert find_session("ses_on", config) == path
    with pytest.raises(NotFound, match="holds 1 session"):
        find_session(str(store.path), config)
    with pytest.raises(NotFound):
        find_session(str(store.path / "ses_two"), config)


def test_only_files_that_describe_sessions_are_recognised(root: Path) -> None:
    talk = Conversation()
    talk.turn("one")
    path = write_tree(root, talk)
    assert recognised(path.read_bytes()[:4096]) is OPENCODE
    for other in root.rglob("msg_*.json"):
        assert recognised(other.read_bytes()[:4096]) is None
    for other in root.rglob("prt_*.json"):
        assert recognised(other.read_bytes()[:4096]) is None
    assert OPENCODE.recognises(b'{"id":"ses_x","title":"t","summary":{"diffs":[' + b" " * 5000)


def test_a_listing_of_an_unchanged_store_reads_no_session(root: Path, tmp_path: Path) -> None:
    store = Database(root)
    talks = [Conversation(f"ses_{number}", at=START + number) for number in range(3)]
    for talk in talks:
        talk.turn("one")
        store.write(talk)
    write_tree(root, Conversation("ses_file"))

    def work() -> int:
        catalogue = Catalogue(Config(), [root], index_path=tmp_path / "index")
        catalogue.refresh()
        assert len(catalogue.cards()) == 4
        return catalogue.work.read_whole

    assert work() == 4
    assert work() == 0
    talks[1].turn("two")
    store.write(talks[1])
    assert work() == 1
    store.execute("UPDATE session SET time_archived = 5 WHERE id = 'ses_2'")
    assert work() == 1
    # What lies elsewhere stays in the index as long as its database is there.
    elsewhere = Catalogue(Config(), [tmp_path / "nothing"], index_path=tmp_path / "index")
    elsewhere.index.changed = True
    elsewhere.save()
    assert work() == 0


def test_only_the_session_that_changed_is_read_again(root: Path) -> None:
    store = Database(root)
    one, two = Conversation("ses_one"), Conversation("ses_two", at=START + 5)
    for talk in (one, two):
        talk.turn("first")
    session = opened(store.write(one))
    store.write(two)
    assert not session.changed_on_disk()
    assert session.refresh() is None
    one.turn("second")
    store.write(one)
    growth = session.refresh()
    assert growth is not None
    assert (growth.added, growth.replaced) == (2, False)
    os.unlink(store.path)
    assert not session.changed_on_disk()
    assert session.gone
    assert texts(session)[-1] == "assistant: second."


def test_a_tree_of_files_that_grows_is_followed(root: Path) -> None:
    talk = Conversation()
    talk.turn("first")
    session = opened(write_tree(root, talk))
    assert session.refresh() is None
    talk.turn("second")
    write_tree(root, talk)
    growth = session.refresh()
    assert growth is not None
    assert (growth.added, growth.replaced) == (2, False)


def test_the_size_of_a_session_in_files_is_that_of_its_messages_and_parts(root: Path, tmp_path: Path) -> None:
    talk = Conversation()
    talk.turn("first")
    write_tree(root, talk)
    (card,) = cards_in(root, tmp_path / "index")
    files = [path for part in ("message", "part") for path in (root / "storage" / part).rglob("*.json")]
    stored = sum(path.stat().st_size for path in files)
    assert len(files) > 2
    assert stored <= card.size <= stored + len(files), "a line break stands for the end of each"
