"""Going back in opencode: what a revert hides, keeps or deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.context.model_context import context_at
from leafward.session.entries import Kind
from leafward.session.headlines.entry_headline import headline
from tests.opencode_store import (
    START,
    Conversation,
    Database,
    call,
    opened,
    problems,
    prompts_at,
    said,
    shape,
    texts,
    write_tree,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_a_pending_revert_hides_what_follows_and_leaves_it_as_a_branch(root: Path) -> None:
    talk = Conversation()
    talk.turn("one")
    second = talk.turn("two")
    talk.turn("three")
    talk.info["revert"] = {"messageID": second, "snapshot": "abc"}
    for path in (Database(root).write(talk), write_tree(root / "files", talk)):
        session = opened(path)
        assert shape(session) == [
            "user -1", "assistant 0", "user 1", "assistant 2", "user 3", "assistant 4", "unknown 1",
        ]  # fmt: skip
        assert prompts_at(session) == ["one?"]
        assert session.branches == 1
        assert session.leaf == 6
        marker = session.entry(6)
        assert (marker.type, marker.body["data"]["messageID"]) == ("opencode.revert", second)
        assert headline(session, 6)[:2] == ("note", "4 messages reverted, not deleted yet")
        assert len(list(session.tree.leaves())) == 2
        assert problems(session) == []


def test_a_revert_in_the_middle_of_a_reply_keeps_the_parts_before_it(root: Path) -> None:
    talk = Conversation()
    talk.ask("Work")
    reply = talk.reply(said("First"), call("write", filePath="a", content="b", number=1), said("Then"))
    talk.info["revert"] = {"messageID": reply, "partID": talk.messages[1][1][3]["id"]}
    session = opened(Database(root).write(talk))
    assert shape(session) == ["user -1", "assistant 0", "toolResult 1", "assistant 2", "unknown 2"]
    assert texts(session) == [
        "user: Work",
        "assistant: First write(filePath=a, content=b)",
        "toolResult: done",
    ]
    assert "Then" in str(session.entry(3).message["content"])
    assert session.branches == 1


def test_a_revert_of_everything_leaves_an_empty_conversation(root: Path) -> None:
    talk = Conversation()
    first = talk.turn("one")
    talk.info["revert"] = {"messageID": first}
    session = opened(Database(root).write(talk))
    assert session.leaf == -1
    assert texts(session) == []
    assert len(session) == 2


def test_a_revert_to_a_message_that_is_not_there_is_said(root: Path) -> None:
    talk = Conversation()
    talk.turn("one")
    talk.info["revert"] = {"messageID": "msg_gone"}
    session = opened(Database(root).write(talk))
    assert problems(session) == ["revert-target"]
    assert prompts_at(session) == ["one?"]


def test_what_a_revert_deleted_is_found_in_the_events(root: Path) -> None:
    store, talk = Database(root), Conversation()
    talk.turn("one")
    talk.ask("two?")
    talk.reply(call("write", filePath="a.txt", content="b", number=1))
    talk.reply(said("two."))
    path = store.write(talk)
    gone = [body["id"] for body, _ in talk.messages[2:]]
    store.remove(talk, *gone)
    talk.turn("three")
    store.write(talk)
    session = opened(path)
    assert shape(session) == [
        "user -1", "assistant 0", "user 1", "assistant 2", "toolResult 3", "assistant 4", "user 1", "assistant 6",
    ]  # fmt: skip
    assert [session.columns.id(index) for index in (2, 3, 5)] == gone
    assert prompts_at(session) == ["one?", "three?"]
    assert prompts_at(session, 5) == ["one?", "two?"]
    assert session.branches == 1
    assert session.entry(4).message["toolName"] == "write"
    assert problems(session) == []


def test_a_first_prompt_that_was_taken_back_is_no_damage(root: Path) -> None:
    store, talk = Database(root), Conversation()
    talk.turn("one")
    path = store.write(talk)
    store.remove(talk, *[body["id"] for body, _ in talk.messages])
    talk.turn("two")
    store.write(talk)
    session = opened(path)
    assert shape(session) == ["user -1", "assistant 0", "user -1", "assistant 2"]
    assert problems(session) == []


def test_a_revert_of_what_came_after_a_revert(root: Path) -> None:
    store, talk = Database(root), Conversation()
    talk.turn("one")
    path = store.write(talk)
    for name in ("two", "three", "four"):
        talk.turn(name)
        store.write(talk)
        if name != "four":
            store.remove(talk, *[body["id"] for body, _ in talk.messages[2:]])
    talk.turn("five")
    store.write(talk)
    store.remove(talk, *[body["id"] for body, _ in talk.messages[4:]])
    session = opened(path)
    roots = {
        index: parent
        for index, parent in enumerate(session.columns.parent)
        if session.columns.kind[index] == Kind.USER
    }
    assert roots == {0: -1, 2: 1, 4: 1, 6: 1, 8: 7}
    assert prompts_at(session) == ["one?", "four?"]
    assert session.branches == 3, "five lies below where it goes on"
    assert prompts_at(session, 9) == ["one?", "four?", "five?"]


def test_outputs_pruned_before_what_a_revert_deleted_are_cleared_there_too(root: Path) -> None:
    store, talk = Database(root), Conversation()
    talk.ask("Look")
    talk.reply(call("read", "long", filePath="a", number=1, compacted=START + 3500))
    talk.reply(said("Seen."))
    talk.turn("two")
    path = store.write(talk)
    gone = [body["id"] for body, _ in talk.messages[3:]]
    store.remove(talk, *gone)
    talk.turn("three")
    store.write(talk)
    session = opened(path)
    two = next(index for index in range(len(session)) if session.columns.id(index) == gone[0])
    for at in (two, session.leaf):
        said_there = texts(session, context_at(session, at))
        assert "toolResult: [Old tool result content cleared]" in said_there
    assert session.branches == 1


def test_a_message_deleted_from_the_middle_hangs_beside_what_followed_it(root: Path) -> None:
    store, talk = Database(root), Conversation()
    talk.turn("one")
    second = talk.turn("two")
    reply = talk.messages[-1][0]["id"]
    talk.turn("three")
    path = store.write(talk)
    store.remove(talk, second, reply)
    session = opened(path)
    assert prompts_at(session) == ["one?", "three?"]
    assert shape(session)[2:] == ["user 1", "assistant 2", "user 1", "assistant 4"]
