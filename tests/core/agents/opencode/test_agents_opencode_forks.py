"""Forks and sub-agents of opencode: whose messages a session has, and its parent."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.opencode.agent import OpenCode
from leafward.agents.opencode.storage import trees
from leafward.context.recorded_usage import usage_total
from tests.opencode_store import (
    START,
    Conversation,
    Database,
    call,
    opened,
    write_tree,
)

if TYPE_CHECKING:
    import pytest


def test_a_fork_is_known_by_its_messages(root: Path) -> None:
    store, main = Database(root), Conversation("ses_main")
    main.turn("one")
    main.ask("two?")
    main.reply(call("read", filePath="a", number=7))
    third = main.turn("three")
    fork = main.copy("ses_fork", until=third, at=START + 60_000, title="Prune the pear trees (fork #1)")
    fork.turn("other")
    again = fork.copy("ses_again", at=START + 90_000)
    again.turn("more")
    twin = main.copy("ses_twin", at=START + 95_000)
    for talk in (main, fork, again, twin):
        store.write(talk)

    def seen(name: str) -> tuple[str, str | None, int]:
        session = opened(store.path / name)
        header = session.header
        return Path(header.get("parentSession", "")).name, header.get("relation"), session.inherited

    assert seen("ses_main") == ("", None, 0)
    assert seen("ses_fork") == ("ses_main", "inferred", 5)
    assert seen("ses_again") == ("ses_fork", "inferred", 7)
    assert seen("ses_twin") == ("ses_main", "inferred", 7)
    session = opened(store.path / "ses_fork")
    assert usage_total(session, range(session.inherited, len(session))).cost == 0.25


def test_two_sessions_that_begin_in_the_same_millisecond_are_no_forks(root: Path) -> None:
    store = Database(root)
    for name in ("ses_one", "ses_two"):
        talk = Conversation(name)
        talk.turn(name)
        store.write(talk)
        write_tree(root / "files", talk)
    assert "relation" not in opened(store.path / "ses_two").header
    assert "relation" not in opened(root / "files" / "storage" / "session" / "global" / "ses_two.json").header


def test_forks_among_files(root: Path) -> None:
    main = Conversation("ses_main")
    main.turn("one")
    fork = main.copy("ses_fork", at=START + 60_000)
    fork.turn("two")
    write_tree(root, main)
    session = opened(write_tree(root, fork))
    assert session.header["parentSession"].endswith("ses_main.json")
    assert (session.header["relation"], session.inherited) == ("inferred", 2)


def test_a_folder_is_looked_through_once_for_all_its_sessions(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And again when what is known of it is old; a session that was empty then has messages since."""
    looks = []
    look = trees.first_time

    def looked(tree: trees.Tree, session: str) -> int:
        looks.append(session)
        return look(tree, session)

    monkeypatch.setattr(trees, "first_time", looked)
    now = 0.0
    agent = OpenCode(lambda: now)
    main = Conversation("ses_main")
    paths = [write_tree(root, main)]
    talk = Conversation("ses_talk", at=START + 5)
    talk.turn("hello")
    paths.append(write_tree(root, talk))

    def parents() -> list[str | None]:
        found = []
        for path in paths:
            with closing(agent.open(path)) as session:
                found.append(session.header.get("relation"))
        return found

    assert parents() == [None, None]
    assert sorted(looks) == ["ses_main", "ses_talk"]
    main.turn("one")
    paths.append(write_tree(root, main.copy("ses_fork", at=START + 60_000)))
    write_tree(root, main)
    now = 60.0
    assert parents() == [None, None, "inferred"]
    assert sorted(looks) == ["ses_fork", "ses_main", "ses_main", "ses_talk"]


def test_a_subagent_names_its_parent(root: Path) -> None:
    store, main, child = (
        Database(root),
        Conversation("ses_main"),
        Conversation("ses_child", parentID="ses_main"),
    )
    main.ask("Delegate")
    main.reply(call("task", "found", description="Survey", metadata={"sessionId": "ses_child"}))
    child.turn("one")
    store.write(main)
    session = opened(store.write(child))
    assert session.header["parentSession"] == str(store.path / "ses_main")
    assert session.header["relation"] == "subagent"
    assert opened(store.path / "ses_main").entry(2).message["details"]["sessionId"] == "ses_child"
