"""Compactions of opencode: the summary, the kept tail, what was pruned, and summaries that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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

    from leafward.session.session import Session


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
    assert prompts_at(session) == ["three?"]


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
