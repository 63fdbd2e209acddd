"""Every verb on a session of opencode: in a database, and in files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from leafward.cli import application
from leafward.cli.main import main
from tests.opencode_store import Conversation, Database, call, files_of, said, write_tree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.fixture(params=["database", "files"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    root, talk = tmp_path / "opencode", Conversation(directory=str(tmp_path))
    talk.turn("Plant pears")
    talk.ask("Write them down")
    talk.reply(call("write", filePath="pears.txt", content="a\n", number=1))
    tail = talk.messages[-1][0]["id"]
    talk.compaction("Pears are planted", tail)
    talk.reply(said("What next?"))
    return Database(root).write(talk) if request.param == "database" else write_tree(root, talk)


def test_every_reading_verb(run: Run, session: Path, tmp_path: Path) -> None:
    store = tmp_path / "opencode"
    before = files_of(store)

    def asked(*arguments: str | Path) -> Any:
        outcome = run(*arguments, "--json")
        assert outcome.code == 0, outcome.err
        return outcome.document

    listed = asked("ls", session)["sessions"]
    assert [(one["id"], one["agent"], one["compactions"]) for one in listed] == [("ses_one", "opencode", 1)]
    tree = asked("tree", session)
    assert len(tree["entries"]) == 8
    context = asked("context", session)["messages"]
    assert [one["role"] for one in context] == [
        "custom", "compactionSummary", "assistant", "toolResult", "assistant",
    ]  # fmt: skip
    assert asked("files", session)["modified"] == [
        {"path": "pears.txt", "entries": [tree["entries"][3]["id"]]}
    ]
    assert asked("show", session, "#0")["kind"] == "message"
    assert asked("doctor", session)["problems"] == []
    assert asked("resume", session, "--print")["resume"] == ["opencode", "-s", "ses_one"]
    assert asked("log", session)["ops"] == []
    asked("plan", session)
    asked("survival", session)
    assert "Pears are planted" in run("export", session, "--format", "md").out
    kept = tmp_path / "kept.md"
    for _ in range(2):
        assert run("export", session, "-o", kept).code == 0
    for verb in (("label", "#0", "x"), ("name", "x"), ("move", "#0"), ("undo",), ("archive", "#0")):
        assert run(verb[0], session, *verb[1:]).code == 0
    refused = run("export", session, "-o", session if session.is_file() else session.parent)
    assert refused.code == 1
    assert "is the session itself" in refused.err
    assert files_of(store) == before


def test_a_database_is_listed_and_never_taken_for_a_session(run: Run, tmp_path: Path) -> None:
    store = Database(tmp_path / "opencode")
    for name in ("ses_one", "ses_two"):
        talk = Conversation(name)
        talk.turn(name)
        store.write(talk)
    assert len(json.loads(run("ls", store.path, "--json").out)["sessions"]) == 2
    outcome = run("show", store.path)
    assert outcome.code == 1
    assert "holds 2 sessions" in outcome.err
    assert run("show", store.path / "ses_three").code == 1
    assert run("ls", store.path / "ses_three").code == 1


def test_the_application_opens_a_database_as_it_opens_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Database(tmp_path / "opencode")
    for name in ("ses_one", "ses_two"):
        talk = Conversation(name)
        talk.turn(name)
        store.write(talk)
    monkeypatch.setattr(application, "has_terminal", lambda: True)
    asked: list[Path] = []

    def open_app(paths: Sequence[Path]) -> int:
        asked.extend(paths)
        return 0

    assert main([str(store.path)], open_app) == 0
    assert asked == [store.path.resolve()]


def test_stores_are_found_by_the_environment(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = Conversation()
    talk.turn("one")
    Database(tmp_path / "data" / "opencode").write(talk)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert [one["id"] for one in json.loads(run("ls", "--json").out)["sessions"]] == ["ses_one"]
    assert json.loads(run("show", "ses_one", "--json").out)["id"] == talk.messages[-1][0]["id"]
    report = json.loads(run("doctor", "--json").out)
    assert report["sessions"] == 1
    assert report["stores"]["opencode"] == [str(tmp_path / "data" / "opencode")]


def test_doctor_tells_of_messages_that_belong_to_no_session(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    store = Database(tmp_path / "share" / "opencode")
    for name in ("ses_one", "ses_gone"):
        talk = Conversation(name, directory=str(tmp_path))
        talk.turn(name)
        store.write(talk)
    store.execute("DELETE FROM session WHERE id = ?", "ses_gone")
    [problem] = run("doctor", "--json").document["problems"]
    assert problem["code"] == "stray-messages"
    assert "ses_gone (2)" in problem["text"]
