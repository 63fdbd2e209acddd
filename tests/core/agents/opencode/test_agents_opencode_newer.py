"""Messages of opencode's newer engine: rows and events as opencode 1.18.33 writes them behind `/api`."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.fork_draft import ForkTerms
from leafward.agents.opencode.agent import OpenCode
from leafward.base.config import Config
from leafward.base.errors import Refused
from leafward.branches import fork as forking
from leafward.context.model_context import context_at
from leafward.files.working_set import working_set
from leafward.session.entries import Kind
from leafward.session.transcript import OF_AGENT
from tests.opencode_newer import Rows, newer_call
from tests.opencode_store import (
    FOLDER,
    OPENCODE,
    Conversation,
    Database,
    opened,
    problems,
    said,
    shape,
    texts,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    return Rows(Database(tmp_path), Conversation())


def test_messages_calls_and_results(rows: Rows) -> None:
    rows.ask("Compare the trees")
    rows.reply(
        {"type": "reasoning", "text": "Which?"},
        said("Both."),
        newer_call(
            "read",
            given={"path": f"{FOLDER}/apples.txt"},
            structured={"content": "apple\n", "encoding": "utf8"},
        ),
        newer_call(
            "bash",
            "ls: nowhere\n",
            "Command exited with code 2.",
            given={"command": "ls x"},
            structured={"exit": 2},
        ),
        newer_call(
            "read",
            given={"path": "plums.txt"},
            error={"type": "unknown", "message": "Unable to read plums.txt"},
        ),
        finish="tool-calls",
    )
    rows.reply(said("They differ."))
    session = opened(rows.path)
    assert problems(session) == []
    assert shape(session) == [
        "user -1",
        "assistant 0",
        *(f"toolResult {n}" for n in (1, 2, 3)),
        "assistant 4",
    ]
    assert texts(session)[:2] == [
        "user: Compare the trees",
        "assistant: Which? Both. read(path=/home/ada/orchard/apples.txt) bash(co",
    ]
    # A result without content is sent as its fields, in JSON; blocks of a text a line apart (opencode 1.18.33).
    assert texts(session)[2:5] == [
        'toolResult: {"content":"apple\\n","encoding":"utf8"}',
        "toolResult: ls: nowhere  Command exited with code 2.",
        "toolResult: Unable to read plums.txt",
    ]
    results = [session.entry(index).message for index in (2, 3, 4)]
    assert [one["isError"] for one in results] == [False, True, True]
    assert results[1]["exitCode"] == 2
    reply = session.entry(1).message
    assert (reply["provider"], reply["model"], reply["stopReason"]) == ("grove", "pear-1", "toolUse")
    assert reply["usage"]["cost"]["total"] == 0.25


def test_what_is_stored_is_shown_as_it_lies_there(rows: Rows) -> None:
    rows.ask("Compare")
    rows.reply(said("They differ."))
    session = opened(rows.path)
    stored = json.loads(session.raw(1))
    assert stored["content"] == [{"type": "text", "text": "They differ.", "id": "text-0"}]
    assert session.origin(1).path.name == "opencode.db"


def test_files_that_were_changed(rows: Rows) -> None:
    patch = "Index: list.md\n===\n--- list.md\n+++ list.md\n@@ -1,1 +1,1 @@\n-- a\n+- b\n"
    edit = {"path": "list.md", "oldString": "- a", "newString": "- b"}
    rows.ask("Write")
    rows.reply(newer_call("write", "Created", given={"path": f"{FOLDER}/list.md", "content": "- a\n"}))
    rows.reply(
        newer_call("edit", "Edited", given=edit, structured={"files": [{"file": "list.md", "patch": patch}]}),
        snapshot={"files": ["list.md", "built.txt"]},
    )
    session = opened(rows.path)
    used = working_set(session)
    assert [one.path for one in used.modified] == ["built.txt", "list.md"]
    assert session.entry(4).message["details"]["diff"] == "-1 - a\n+1 - b"


def test_after_a_compaction_the_summary_and_the_recent_text_are_sent(rows: Rows) -> None:
    rows.ask("Compare the trees")
    rows.reply(said("They differ."))
    rows.ask("Go on")
    rows.row("compaction", reason="auto", summary="Trees were compared.", recent="[User]: Go on")
    rows.reply(said("Gone on."))
    session = opened(rows.path)
    assert texts(session) == [
        "compactionSummary: Trees were compared.",
        "custom: [User]: Go on",
        "assistant: Gone on.",
    ]
    assert list(session.columns.kind[3:5]) == [Kind.COMPACTION, Kind.INJECTED]
    assert problems(session) == []


def test_switches_commands_and_what_is_put_in(rows: Rows) -> None:
    rows.row("agent-switched", agent="plan")
    rows.row("model-switched", model={"id": "plum-2", "providerID": "grove"})
    rows.row("shell", callID="c", command="git status", output="clean\n")
    rows.row("synthetic", sessionID="ses_one", text="The plan is accepted.")
    rows.row("system", text="Today is another day.")
    rows.row("user", text="See", files=[{"uri": "file:///x/a.txt", "mime": "text/plain", "name": "a.txt"}])
    rows.row("moon-phase", phase="full")
    session = opened(rows.path)
    assert [line.rpartition(" ")[0] for line in shape(session)] == [
        "custom",
        "model_change",
        "bashExecution",
        "custom_message",
        "injected",
        "user",
        "unknown",
    ]
    # What is put in for the conversation goes to other agents, a change of the system prompt does not.
    assert [session.entry(index).body.get(OF_AGENT) for index in (3, 4)] == [False, True]
    assert session.entry(1).body["modelId"] == "plum-2"
    assert texts(session)[0] == "bashExecution: $ git status clean "
    assert texts(session)[3] == "user: See [file a.txt, text/plain]"
    assert problems(session) == ["unknown-record"]


def test_a_reply_that_failed_is_sent_where_it_says_something(rows: Rows) -> None:
    error = {"type": "unknown", "message": "the line went dead"}
    rows.ask("Compare")
    rows.reply(said("Half of"), error=error)
    rows.reply(error=error)
    rows.ask("Again")
    session = opened(rows.path)
    assert texts(session) == ["user: Compare", "assistant: Half of", "user: Again"]
    assert session.entry(1).message["errorMessage"] == "the line went dead"


def test_a_revert_that_is_staged_hides_nothing_and_is_said(tmp_path: Path) -> None:
    store, talk = Database(tmp_path), Conversation()
    rows = Rows(store, talk)
    rows.ask("Compare")
    second = rows.ask("Write")
    store.execute("UPDATE session SET revert = ?", json.dumps({"messageID": second, "files": []}))
    session = opened(rows.path)
    assert texts(session) == ["user: Compare", "user: Write"]
    assert problems(session) == ["revert-staged"]


def test_what_a_revert_deleted_is_a_branch(rows: Rows) -> None:
    asked = rows.ask("Compare")
    rows.reply({"type": "reasoning", "text": "Which?"}, said("They differ."))
    rows.ask("Write", files=[])
    rows.reply(newer_call("write", "Created", given={"path": "list.md", "content": "- a\n"}))
    rows.reply(
        newer_call("read", given={"path": "no.md"}, error={"type": "unknown", "message": "no such file"})
    )
    whole = [(line, entry.body) for line, entry in zip(*_lines(opened(rows.path)), strict=True)]
    rows.commit_revert(asked)
    rows.ask("Plant")
    session = opened(rows.path)
    assert texts(session) == ["user: Compare", "user: Plant"]
    recovered = [(line, entry.body) for line, entry in zip(*_lines(session), strict=True)]
    assert len(recovered) == len(whole) + 1
    assert [line for line, _ in recovered] == [*(line for line, _ in whole), "user 0"]
    for (_, body), (_, again) in zip(whole, recovered, strict=False):
        assert _said(again) == _said(body)
    assert problems(session) == []


def _lines(session: Any) -> tuple[list[str], list[Any]]:
    return shape(session), [session.entry(index) for index in range(len(session))]


def _said(body: dict[str, Any]) -> Any:
    message = body["message"]
    return {key: message.get(key) for key in ("role", "content", "isError", "toolName", "usage", "model")}


def test_two_engines_are_two_conversations(tmp_path: Path) -> None:
    store, talk = Database(tmp_path), Conversation()
    talk.turn("Prune")
    rows = Rows(store, talk)
    rows.ask("Plant")
    rows.reply(said("Planted."))
    session = opened(rows.path)
    assert shape(session) == ["user -1", "assistant 0", "user -1", "assistant 2"]
    assert texts(session) == ["user: Plant", "assistant: Planted."]
    with pytest.raises(Refused, match="newer engine"):
        OPENCODE.resume(session, {})
    talk.turn("Graft")
    store.write(talk)
    session.reload()
    assert texts(session) == ["user: Prune?", "assistant: Prune.", "user: Graft?", "assistant: Graft."]
    assert OPENCODE.resume(session, {}).argv == ("opencode", "-s", "ses_one")


def test_the_catalogue_and_a_search_see_them(tmp_path: Path) -> None:
    rows = Rows(Database(tmp_path / "opencode"), Conversation(title="New session - 2026-11-22T08:00:00.000Z"))
    asked = rows.ask("Compare the mulberries")
    listed = OpenCode().within(str(rows.path))
    assert listed is not None
    (name,) = listed.files
    glimpse = OpenCode().peek(listed.candidate(name))
    assert glimpse is not None
    assert glimpse.prompt == "Compare the mulberries"
    rows.reply(said("They differ."))
    again = OpenCode().within(str(rows.path))
    assert again is not None
    assert again.files != listed.files
    rows.commit_revert(asked)
    said_there = b" ".join(text.data or b"" for text in OPENCODE.texts([str(rows.path)]).pieces)
    assert b"mulberries" in said_there
    assert b"They differ" in said_there


def test_a_new_session_holds_what_the_usual_engine_would(rows: Rows) -> None:
    rows.ask("Compare")
    rows.row("model-switched", model={"id": "plum-2", "providerID": "grove"})
    rows.row("shell", callID="c", command="git status", output="clean\n")
    rows.row("compaction", reason="auto", summary="Trees were compared.", recent="[User]: Go on")
    rows.reply(newer_call("read", "apple", given={"path": "a.txt"}))
    session = opened(rows.path)
    terms = ForkTerms({"HOME": os.environ["HOME"]}, Config(), datetime(2026, 11, 22, tzinfo=UTC), "")
    made = forking.fork(session, len(session) - 1, OPENCODE, terms, OPENCODE)
    document = json.loads(b"".join(made.draft.content()))
    told = [
        (one["info"]["role"], one["info"].get("parentID"), [part["type"] for part in one["parts"]])
        for one in document["messages"]
    ]
    names = [one["info"]["id"] for one in document["messages"]]
    # As the newer engine sends it (opencode 1.18.33).
    assert document["messages"][1]["parts"][0]["text"] == "Shell command: git status\n\nclean\n"
    assert told == [
        ("user", None, ["text"]),
        ("user", None, ["text"]),
        ("user", None, ["compaction"]),
        ("assistant", names[2], ["text"]),
        ("user", None, ["text"]),
        ("assistant", names[0], ["tool"]),
    ]


@pytest.mark.parametrize(
    "data", ["", "{", "[1]", "\x00", '{"content": 7, "time": 3}', '{"content": [7, {}]}']
)
def test_a_row_that_is_broken_is_shown(tmp_path: Path, data: str) -> None:
    store, talk = Database(tmp_path), Conversation()
    rows = Rows(store, talk)
    rows.ask("Compare")
    name = rows.reply(said("They differ."))
    store.execute("UPDATE session_message SET data = ? WHERE id = ?", data, name)
    session = opened(rows.path)
    assert len(session) >= 2
    for index in range(len(session)):
        session.body(index)
    context_at(session)
