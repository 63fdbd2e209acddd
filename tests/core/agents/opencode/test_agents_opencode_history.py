"""Going back, forks and compactions in opencode."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.agents.opencode.agent import OpenCode
from leafward.agents.opencode.storage import trees
from leafward.context.model_context import context_at
from leafward.context.recorded_usage import usage_total
from leafward.session.entries import Kind
from leafward.session.entry_headline import headline
from tests.opencode_store import (
    START,
    Conversation,
    Database,
    call,
    opened,
    problems,
    said,
    shape,
    texts,
    write_tree,
)

if TYPE_CHECKING:
    from leafward.session.session import Session


def prompts(session: Session) -> list[str]:
    return [line.partition(": ")[2] for line in texts(session) if line.startswith("user")]


# --- reverts ---


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
        assert prompts(session) == ["one?"]
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
    assert prompts(session) == ["one?"]


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
    assert prompts(session) == ["one?", "three?"]
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


def prompts_at(session: Session, at: int) -> list[str]:
    sent = texts(session, context_at(session, at))
    return [line.partition(": ")[2] for line in sent if line.startswith("user")]


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
    assert prompts(session) == ["one?", "four?"]
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
    assert prompts(session) == ["one?", "three?"]
    assert shape(session)[2:] == ["user 1", "assistant 2", "user 1", "assistant 4"]


# --- forks ---


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


# --- compactions ---


def test_a_summary_comes_before_the_kept_tail(root: Path) -> None:
    talk = Conversation()
    talk.turn("one")
    talk.turn("two")
    tail = talk.messages[-1][0]["id"]
    talk.turn("three")
    talk.compaction("All about pears", tail)
    talk.message("user", [said("Continue", synthetic=True, metadata={"compaction_continue": True})])
    talk.reply(said("Going on."))
    session = opened(Database(root).write(talk))
    assert texts(session) == [
        "custom: What did we do so far?",
        "compactionSummary: All about pears",
        "assistant: two.",
        "user: three?",
        "assistant: three.",
        "custom: Continue",
        "assistant: Going on.",
    ]
    body = session.entry(session.columns.kind.index(Kind.COMPACTION)).body
    assert body["tokensBefore"] == 150
    assert body["usage"]["cost"] == {"total": 0.25}
    assert prompts_at(session, 5) == ["one?", "two?", "three?"]


def with_a_tail(root: Path, version: str) -> Session:
    """Three turns, the second of them kept by a compaction before the third."""
    talk = Conversation(version=version)
    talk.turn("one")
    tail = talk.turn("two")
    talk.compaction("All about pears", tail)
    talk.turn("three")
    return opened(Database(root).write(talk))


def test_up_to_1_14_34_the_kept_tail_comes_first(root: Path) -> None:
    assert texts(with_a_tail(root, "1.14.34")) == [
        "user: two?",
        "assistant: two.",
        "custom: What did we do so far?",
        "compactionSummary: All about pears",
        "user: three?",
        "assistant: three.",
    ]


def test_a_session_from_before_there_were_tails_goes_on_as_later_versions_do(root: Path) -> None:
    """What a compaction keeps in a session that 1.1 or 1.3 began was kept by a later version (tried: 1.1.53, 1.2.27, 1.18.33)."""
    assert texts(with_a_tail(root, "1.1.53")) == [
        "custom: What did we do so far?",
        "compactionSummary: All about pears",
        "user: two?",
        "assistant: two.",
        "user: three?",
        "assistant: three.",
    ]


def test_a_summary_that_failed_is_left_out(root: Path) -> None:
    talk = Conversation()
    talk.turn("one")
    talk.compaction("Half", finish="error", error={"name": "ContextOverflowError"})
    talk.compaction("Torn", finish=None)
    session = opened(Database(root).write(talk))
    assert session.columns.kind.count(Kind.COMPACTION) == 0
    assert texts(session) == [
        "user: one?",
        "assistant: one.",
        "custom: What did we do so far?",
        "custom: What did we do so far?",
        "assistant: Torn",
    ]


def test_a_prompt_that_was_too_long_and_is_put_again_is_one_prompt(root: Path) -> None:
    """Behind the summary opencode puts it again, as if typed (tried with 1.18.33); typed again by a person it is another one."""
    talk = Conversation()
    talk.turn("one")
    picture = {"type": "file", "mime": "image/png", "filename": "a.png", "url": "data:image/png;base64,AAAA"}
    talk.ask("two?", picture)
    talk.reply(error={"name": "ContextOverflowError", "data": {"message": "prompt is too long"}})
    talk.compaction("So far: one", auto=True)
    talk.messages[-2][1][0]["overflow"] = True
    talk.ask("two?", said("[Attached image/png: a.png]"), said("told", synthetic=True))
    talk.reply(said("two."))
    talk.ask("two?")
    session = opened(Database(root).write(talk))
    kinds = session.columns.kind
    asked = [headline(session, at).text for at, kind in enumerate(kinds) if kind == Kind.USER]
    assert asked == ["one?", "two?", "two?"]
    assert texts(session) == [
        "custom: What did we do so far?",
        "compactionSummary: So far: one",
        "custom: two? [Attached image/png: a.png] told",
        "assistant: two.",
        "user: two?",
    ]


@pytest.mark.parametrize("version", ["1.18.33", "1.14.34", "1.3.2"])
def test_a_summary_that_failed_after_its_tail_was_chosen_leaves_out_what_is_before_it(
    root: Path, version: str
) -> None:
    """opencode stores where the tail begins though the request failed, and sends nothing from before (tried with 1.18.33).

    1.14.34 sends all: its code puts nothing in another order.
    """
    talk = Conversation(version=version)
    talk.turn("one")
    talk.compaction("So far: one")
    talk.turn("two")
    tail = talk.turn("three")
    talk.compaction("", tail, finish=None, error={"name": "APIError", "data": {"message": "overloaded"}})
    talk.turn("four")
    session = opened(Database(root).write(talk))
    sent = texts(session)
    before = [
        "custom: What did we do so far?",
        "compactionSummary: So far: one",
        "user: two?",
        "assistant: two.",
    ]
    kept = [
        "user: three?",
        "assistant: three.",
        "custom: What did we do so far?",
        "user: four?",
        "assistant: four.",
    ]
    assert sent == (before + kept if version == "1.14.34" else kept)
    assert problems(session) == []


def test_of_what_such_a_summary_leaves_out_the_first_prompt_is_part(root: Path) -> None:
    talk = Conversation(version="1.18.33")
    talk.turn("one")
    tail = talk.turn("two")
    talk.compaction("", tail, finish=None, error={"name": "APIError", "data": {"message": "overloaded"}})
    talk.turn("three")
    sent = texts(opened(Database(root).write(talk)))
    assert [text for text in sent if "one" in text] == []
    assert sent[0] == "user: two?"


def test_the_last_of_several_summaries_counts(root: Path) -> None:
    talk = Conversation()
    talk.turn("one")
    talk.compaction("First")
    talk.turn("two")
    talk.compaction("Second")
    talk.turn("three")
    session = opened(Database(root).write(talk))
    assert session.columns.kind.count(Kind.COMPACTION) == 2
    assert texts(session)[:2] == ["custom: What did we do so far?", "compactionSummary: Second"]
    assert prompts(session) == ["three?"]


def test_a_tail_that_is_not_there_keeps_everything_and_is_said(root: Path) -> None:
    talk = Conversation()
    talk.turn("one")
    talk.compaction("Summary", "msg_of_the_source")
    session = opened(Database(root).write(talk))
    assert texts(session) == [
        "user: one?",
        "assistant: one.",
        "custom: What did we do so far?",
        "compactionSummary: Summary",
    ]
    assert problems(session) == ["tail-missing"]


def test_pruned_outputs_in_the_tail_stay_cleared(root: Path) -> None:
    talk = Conversation()
    talk.ask("Look")
    talk.reply(call("read", "long", filePath="a", number=1, compacted=START + 2500))
    tail = talk.messages[-1][0]["id"]
    talk.compaction("Summary", tail)
    session = opened(Database(root).write(talk))
    assert [line for line in texts(session) if line.startswith("toolResult")] == [
        "toolResult: [Old tool result content cleared]"
    ]
    assert "long" in str(session.entry(2).message["content"])


def test_summaries_and_system_prompts_of_the_oldest_versions(root: Path) -> None:
    talk = Conversation(version="0.5.29")
    talk.ask("one?")
    talk.reply(said("one."), system=["Tend trees.", "Be kind."])
    talk.message(
        "assistant",
        [said("All so far")],
        summary=True,
        system=["Summarise."],
        time={"created": talk.time + 1000, "completed": talk.time + 2000},
    )
    talk.turn("two")
    session = opened(write_tree(root, talk, nested=True))
    assert shape(session)[:2] == ["system -1", "user 0"]
    assert texts(session) == [
        "system: Tend trees. Be kind.",
        "compactionSummary: All so far",
        "user: two?",
        "assistant: two.",
    ]
    assert session.cwd == "/home/ada/orchard"


def test_a_compaction_under_way_is_said(root: Path) -> None:
    talk = Conversation(compacting=START)
    talk.turn("one")
    assert problems(opened(Database(root).write(talk))) == ["compacting"]
