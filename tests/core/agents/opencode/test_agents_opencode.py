"""Sessions of opencode in small: entries, order, failures, attachments, tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.agents.opencode.tools import OPENCODE_TOOLS
from leafward.context.recorded_usage import usage_total
from leafward.files.working_set import changed_files, working_set
from leafward.session.entries import tool_calls
from leafward.session.headlines.entry_headline import headline
from tests.call_hunks import call_hunks
from tests.core.catalogued import cards_in
from tests.opencode_store import (
    FOLDER,
    Conversation,
    Database,
    call,
    files_of,
    opened,
    problems,
    said,
    shape,
    texts,
    write_tree,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def in_database(root: Path, talk: Conversation) -> Path:
    return Database(root).write(talk)


def in_old_database(root: Path, talk: Conversation) -> Path:
    return Database(root, old=True).write(talk)


def in_files(root: Path, talk: Conversation) -> Path:
    return write_tree(root, talk)


def in_oldest_files(root: Path, talk: Conversation) -> Path:
    return write_tree(root, talk, nested=True)


EVERYWHERE = pytest.mark.parametrize("write", [in_database, in_old_database, in_files, in_oldest_files])


@EVERYWHERE
def test_a_message_is_an_entry_and_so_is_the_result_of_each_call(
    write: Callable[[Path, Conversation], Path], root: Path, tmp_path: Path
) -> None:
    talk = Conversation()
    talk.ask("Prune the trees", {"type": "agent", "name": "general"})
    talk.reply(
        {"type": "reasoning", "text": "Which ones?"},
        said("I look."),
        call("read", "1: pears", filePath=f"{FOLDER}/trees.txt", number=1),
        call("glob", "trees.txt", pattern="*", number=2),
        {"type": "patch", "hash": "abc", "files": []},
    )
    talk.reply(said("Done."), {"type": "hologram", "shape": "pear"})
    path = write(root, talk)
    before = files_of(root)
    session = opened(path)
    assert shape(session) == [
        "user -1", "assistant 0", "toolResult 1", "toolResult 2", "assistant 3", "unknown 4",
    ]  # fmt: skip
    assert [session.columns.id(index) for index in (0, 1, 4)] == [body["id"] for body, _ in talk.messages]
    assert session.columns.id(2) == talk.messages[1][1][3]["id"]
    reply = session.entry(1)
    assert [block["type"] for block in reply.message["content"]] == [
        "thinking",
        "text",
        "toolCall",
        "toolCall",
    ]
    assert (reply.message["provider"], reply.message["model"]) == ("grove", "pear-1")
    assert reply.message["stopReason"] == "toolUse"
    assert [part["type"] for part in reply.body["source"]["parts"]] == ["step-start", "patch"]
    assert session.entry(0).body["source"]["parts"][0]["name"] == "general"
    assert session.entry(2).message["toolName"] == "read"
    assert session.entry(5).type == "opencode.hologram"
    assert session.entry(5).body["data"]["shape"] == "pear"
    assert session.cwd == FOLDER
    assert (session.id, session.title, session.name) == ("ses_one", "Prune the pear trees", None)
    usage = usage_total(session, range(len(session)))
    assert (usage.input, usage.cache_read, usage.total, usage.cost) == (200, 80, 300, 0.5)
    assert b"hologram" in session.raw(5)
    assert session.origin(4).path.exists()
    assert [one.path for one in working_set(session).read] == ["trees.txt"]
    assert problems(session) == ["unknown-record"]
    assert session.source.notes[0].text == "unknown records, kept as they are: part hologram (1)"
    card = cards_in(root, tmp_path / "index")[0]
    assert (card.id, card.turns, card.messages, card.entries, card.title) == (
        "ses_one", 1, 5, 6, "Prune the pear trees",
    )  # fmt: skip
    assert files_of(root) == before


def test_what_nobody_typed_is_told_apart(root: Path) -> None:
    talk = Conversation()
    talk.message(
        "user",
        [said("Read trees.txt", synthetic=True), said("What is it?"), said("Mind the bees", synthetic=True)],
    )
    talk.reply(said("A list."))
    talk.message("user", [said("The following tool was executed by the user", synthetic=True)])
    talk.reply(call("bash", "trees.txt", command="ls"))
    talk.message(
        "user", [{"type": "subtask", "prompt": "Count", "description": "Count trees", "agent": "general"}]
    )
    talk.message("user", [said("A notice", ignored=True), said("Go on")])
    session = opened(Database(root).write(talk))
    assert shape(session) == [
        "injected -1", "user 0", "injected 1", "assistant 2", "user 3", "assistant 4",
            "toolResult 5", "custom_message 6", "user 7",
    ]  # fmt: skip
    assert session.entry(0).body["customType"] == "opencode.synthetic"
    assert session.entry(4).body["message"]["content"][0]["text"].startswith("The following tool"), (
        "as it is sent"
    )
    assert session.tree.prompts_upto(session.leaf) == 3, "a command that the user ran is a turn, as in pi"
    assert headline(session, 4) == ("you", "! ls", "")
    assert session.entry(7).body["customType"] == "opencode.subtask"
    assert session.entry(7).body["details"]["description"] == "Count trees"
    assert texts(session)[-1] == "user: Go on"
    assert session.entry(8).body["source"]["parts"][0]["text"] == "A notice"


def test_a_typed_command_that_a_sub_agent_carries_out_is_a_prompt_with_its_name(root: Path) -> None:
    talk = Conversation()
    talk.message("user", [{"type": "subtask", "prompt": "Review it", "agent": "build", "command": "review"}])
    talk.reply(said("Fine."))
    session = opened(Database(root).write(talk))
    assert headline(session, 0) == ("you", "/review", "")
    assert session.tree.prompts_upto(session.leaf) == 1
    body = session.entry(0).body
    assert body["message"]["content"][0]["text"].startswith("The following tool"), "as it is sent"
    assert body["details"]["prompt"] == "Review it"


def test_attachments(root: Path) -> None:
    talk = Conversation()
    picture = {
        "type": "file",
        "mime": "image/png",
        "filename": "tree.png",
        "url": "data:image/png;base64,iVBO",
    }
    talk.ask(
        "Look",
        picture,
        {"type": "file", "mime": "application/pdf", "filename": "map.pdf", "url": "file:///map.pdf"},
    )
    talk.reply(call("read", "Image read", filePath="tree.png", attachments=[picture]))
    session = opened(Database(root).write(talk))
    content = session.entry(0).message["content"]
    assert content[1] == {"type": "image", "data": "iVBO", "mimeType": "image/png", "name": "tree.png"}
    assert content[2]["text"] == "[file map.pdf, application/pdf]"
    assert session.entry(2).message["content"][1]["type"] == "image"


def test_an_attached_text_is_sent_once_as_the_text_that_opencode_adds(root: Path) -> None:
    """The attachment itself is not sent (tried with 1.18.33): fails where its contents are in the context twice."""
    talk = Conversation()
    told = [said('Called the Read tool: {"filePath":"a.txt"}', synthetic=True), said("pears", synthetic=True)]
    attached = {"type": "file", "mime": "text/plain", "filename": "a.txt", "url": "data:text/plain,pears"}
    talk.ask("See", *told, attached)
    folder = {"type": "file", "mime": "application/x-directory", "filename": "yard", "url": "file:///yard"}
    talk.ask("Look", said("<entries>a.txt</entries>", synthetic=True), folder)
    session = opened(Database(root).write(talk))
    assert texts(session) == [
        "user: See",
        'custom: Called the Read tool: {"filePath":"a.txt"} pears',
        "user: Look",
        "custom: <entries>a.txt</entries>",
    ]


def test_order_is_that_of_time_also_where_ids_begin_again(root: Path) -> None:
    turn = (1 << 36) * 26
    talk = Conversation(at=turn - 2500)
    for name in ("one", "two", "three"):
        talk.turn(name)
    names = [body["id"] for body, _ in talk.messages]
    assert names != sorted(names)
    for path in (Database(root).write(talk), write_tree(root / "files", talk)):
        sent = texts(opened(path))
        assert sent == [
            line for name in ("one", "two", "three") for line in (f"user: {name}?", f"assistant: {name}.")
        ]


def test_parts_of_a_message_stay_in_order_where_ids_begin_again(root: Path) -> None:
    talk = Conversation()
    talk.message("user", [said("first"), said("second"), said("third")])
    for part, number in zip(
        talk.messages[0][1], ("ffffffffffff", "000000000001", "000000000002"), strict=True
    ):
        part["id"] = f"prt_{number}00000000000000"
    assert texts(opened(Database(root).write(talk))) == ["user: first second third"]


def test_failed_and_stopped_replies(root: Path) -> None:
    talk = Conversation()
    talk.ask("Edit it")
    talk.reply(
        call("edit", filePath="a.txt", oldString="a", newString="b", number=1),
        call("bash", status="error", error="Tool execution aborted", command="cat b.txt",
             metadata={"interrupted": True, "output": "half of it"}, number=2),
        error={"name": "MessageAbortedError", "data": {"message": "stopped"}},
    )  # fmt: skip
    talk.ask("Again")
    talk.reply(said("I began"), error={"name": "APIError", "data": {"message": "overloaded"}})
    talk.ask("And again")
    talk.reply({"type": "reasoning", "text": "Hm"}, error={"name": "MessageAbortedError"})
    talk.ask("Once more")
    # A stopped reply is sent with what it thought as soon as it holds anything else, here the files found changed.
    changed = {"type": "patch", "hash": "0", "files": ["/a"]}
    talk.reply({"type": "reasoning", "text": "Oh"}, changed, error={"name": "MessageAbortedError"})
    talk.ask("Now")
    session = opened(Database(root).write(talk))
    assert texts(session) == [
        "user: Edit it",
        "assistant: edit(filePath=a.txt, oldString=a, newString=b) bash(command=",
        "toolResult: done",
        "toolResult: half of it",
        "user: Again",
        "user: And again",
        "user: Once more",
        "assistant: Oh",
        "user: Now",
    ]
    stopped, failed = session.entry(1).message, session.entry(5).message
    assert (stopped["stopReason"], failed["stopReason"], failed["errorMessage"]) == (
        "aborted",
        "error",
        "overloaded",
    )
    assert [one.path for one in working_set(session).modified] == ["a.txt"]
    assert not working_set(session).read
    assert problems(session) == []


def test_calls_that_never_ended(root: Path) -> None:
    talk = Conversation()
    talk.ask("Run it")
    talk.reply(call("bash", status="running", command="cat a.txt"))
    store = Database(root)
    path = store.write(talk)
    session = opened(path)
    assert shape(session) == ["user -1", "assistant 0"]
    assert problems(session) == ["dangling-call"]
    talk.ask("And now?")
    store.write(talk)
    growth = session.refresh()
    assert growth is not None
    assert (growth.added, growth.replaced) == (2, False)
    assert texts(session)[-2:] == ["toolResult: [Tool execution was interrupted]", "user: And now?"]
    assert not working_set(session).read


def test_tools_and_the_files_they_name(root: Path) -> None:
    patch = (
        "*** Begin Patch\n*** Add File: new.txt\n+pear\n*** Update File: old.txt\n@@\n-a\n+b\n*** End Patch"
    )
    talk = Conversation()
    talk.ask("Work")
    talk.reply(
        call("write", filePath=f"{FOLDER}/w.txt", content="a\nb\n", number=1),
        call("multiedit", filePath="m.txt", edits=[{"oldString": "a", "newString": "b"}], number=2),
        call("apply_patch", patchText=patch, number=3),
        call("bash", "a", command="cat c.txt", workdir="sub", number=4),
        call("bash", "a", command="sed -n 1,5p s.txt", number=5),
        call("bash", "", command="cat gone.txt", metadata={"exit": 1}, number=6),
        call("bash", "a", command="cat p.txt | wc", number=7),
        call("read", status="error", error="File not found", filePath="lost.txt", number=8),
        call("list", "a", path="listed", number=9),
        call("grep", "a", pattern="x", path="grepped", number=10),
    )
    session = opened(Database(root).write(talk))
    used = working_set(session)
    assert [one.path for one in used.modified] == ["m.txt", "new.txt", "old.txt", "w.txt"]
    assert [one.path for one in used.read] == ["s.txt", "sub/c.txt"]
    failed = session.entry(7).message
    assert (failed["isError"], failed["exitCode"]) == (True, 1)


def test_a_file_that_a_command_changed_is_known_by_the_snapshots(root: Path) -> None:
    talk = Conversation()
    talk.ask("Work")
    talk.reply(
        call("edit", filePath="m.txt", oldString="a", newString="b", number=1),
        call("bash", "", command="make list", metadata={"exit": 2}, number=2),
        {"type": "patch", "hash": "abc", "files": [f"{FOLDER}/m.txt", f"{FOLDER}/list.txt", 7]},
        {"type": "patch", "hash": "abc", "files": 7},
    )
    talk.reply(said("Done."), {"type": "patch", "hash": "abd", "files": [f"{FOLDER}/by-somebody.txt"]})
    session = opened(Database(root).write(talk))
    used = working_set(session)
    assert [(one.path, one.entries) for one in used.modified] == [("list.txt", (3,)), ("m.txt", (1,))]
    assert {one.path: one.edits for one in changed_files(session, range(len(session)))} == {
        "list.txt": 1,
        "m.txt": 1,
    }


def test_an_edit_is_shown_with_the_lines_of_the_file(root: Path) -> None:
    patch = "Index: a\n====\n--- a\n+++ a\n@@ -3,3 +3,4 @@\n one\n-two\n+zwei\n+drei\n four\n\\ No newline at end of file\n"
    talk = Conversation()
    talk.ask("Edit")
    talk.reply(call("edit", filePath="a", oldString="two", newString="zwei\ndrei", metadata={"diff": patch}))
    session = opened(Database(root).write(talk))
    result = session.entry(2)
    assert result.message["details"]["diff"] == " 3 one\n-4 two\n+4 zwei\n+5 drei\n 5 four"
    made = call_hunks(tool_calls(session.entry(1).message)[0], result.body, OPENCODE_TOOLS)
    assert [(line.sign, line.number, line.text) for line in made[0].lines][1:3] == [
        ("-", 4, "two"),
        ("+", 4, "zwei"),
    ]
    assert made[0].exact
    assert [(one.added, one.removed) for one in changed_files(session, range(3))] == [(2, 1)]
