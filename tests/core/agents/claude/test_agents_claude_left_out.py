"""Claude Code before 2.1.80, resumed, goes on from inside a reply whose rows have one time, and leaves out what stands behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.branches import fork as forking
from leafward.cli.output.page import Page
from leafward.cli.verbs.tree import tree_text
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.entries import Kind
from leafward.session.messages import message_text
from tests.claude_forks import draft, rows_of, written
from tests.claude_transcript import CLAUDE, DATA, Transcript, opened

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session

PROMPTS = ["Thank you all", "Good night", "Good morning"]
LEFT_OUT = ["You are welcome.", "Sleep well."]
THOUGHT = [{"type": "thinking", "thinking": "Polite.", "signature": "c2ln"}]
SPOKEN = [{"type": "text", "text": "You are welcome."}]


def recorded() -> Session:
    """A session of 2.0.42: two prompts that each resumed it."""
    [path] = (DATA / "2.0.42").rglob("*.jsonl")
    return opened(path)


def messages(session: Session, at: int, *, sent: bool = True) -> list[str]:
    """The texts of a context that are sent, or those that are not."""
    found = (one for one in context_at(session, at).messages if one.sent == sent)
    return [text for one in found if (text := message_text(message_body(session, one)))]


def of_kind(session: Session, kind: Kind) -> list[int]:
    return [index for index, one in enumerate(session.columns.kind) if one == kind]


def test_the_context_of_each_prompt_is_what_was_sent() -> None:
    session = recorded()
    prompts = of_kind(session, Kind.USER)
    thinking = ["Polite.", "Late."]
    assert [messages(session, at) for at in prompts] == [
        PROMPTS[:1],
        [PROMPTS[0], thinking[0], PROMPTS[1]],
        [PROMPTS[0], thinking[0], PROMPTS[1], thinking[1], PROMPTS[2]],
    ]


def test_what_was_left_out_is_there_and_called_not_sent() -> None:
    session = recorded()
    assert session.branches == 0
    assert messages(session, session.leaf, sent=False) == LEFT_OUT
    assert [note.code for note in session.source.notes] == ["left-out"] * 2
    assert "Claude Code 2.0.42" in session.source.notes[0].text
    assert session.source.notes[0].text in "\n".join(tree_text(session, Page(300)))


def test_a_reply_is_counted_once() -> None:
    session = recorded()
    replies = [(session.body(index) or {})["message"] for index in of_kind(session, Kind.ASSISTANT)]
    assert [one["usage"]["output"] for one in replies if "usage" in one] == [20, 20, 20]


def test_a_fork_sends_what_is_shown(tmp_path: Path) -> None:
    source = recorded()
    made = draft(source, source.leaf)
    assert not [row for row in rows_of(made) if str(row.get("message")).count("Sleep well.")]
    copy = written(made, tmp_path)
    assert messages(copy, copy.leaf) == messages(source, source.leaf)


def test_no_fork_ends_with_them() -> None:
    source = recorded()
    cut = forking.cuts(source, of_kind(source, Kind.ASSISTANT)[1], (CLAUDE,))["claude"]
    assert not cut.legal


@pytest.mark.parametrize(
    ("version", "behind"),
    [
        ("2.1.80", SPOKEN),
        ("unknown", SPOKEN),
        ("2.0.42", [{"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "/a"}}]),
    ],
    ids=["a version that sends all of it", "a version that is not known", "a call"],
)
def test_a_reply_stays_whole(tmp_path: Path, version: str, behind: list[dict[str, Any]]) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("Thank you all", version=version)
    first = transcript.block(THOUGHT[0], "msg_1", version=version)
    transcript.block(behind[0], "msg_1", version=version)
    transcript.prompt("Good night", parentUuid=first, version=version)
    session = transcript.opened()
    assert len(of_kind(session, Kind.ASSISTANT)) == 1
    assert session.source.notes == []


def test_words_that_a_prompt_follows_were_sent(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("Thank you all", version="2.0.42")
    first = transcript.block(THOUGHT[0], "msg_1", version="2.0.42")
    last = transcript.block(SPOKEN[0], "msg_1", version="2.0.42")
    transcript.prompt("Good night", parentUuid=first, version="2.0.42")
    transcript.prompt("Good morning", parentUuid=last, version="2.0.42")
    session = transcript.opened()
    assert len(of_kind(session, Kind.ASSISTANT)) == 1


def test_it_is_found_when_the_prompt_is_appended(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("Thank you all", version="2.0.42")
    first = transcript.block(THOUGHT[0], "msg_1", version="2.0.42")
    transcript.block(SPOKEN[0], "msg_1", version="2.0.42")
    session = transcript.opened()
    assert len(of_kind(session, Kind.ASSISTANT)) == 1
    transcript.prompt("Good night", parentUuid=first, version="2.0.42")
    growth = session.refresh()
    assert growth is not None
    assert messages(session, of_kind(session, Kind.USER)[-1], sent=False) == ["You are welcome."]


def test_a_reply_that_a_resumed_one_goes_past_is_a_branch(tmp_path: Path) -> None:
    """2.1.48 rarely goes on from the prompt itself, which it answers by itself (the sweep of versions has seen it)."""
    transcript = Transcript(tmp_path)
    transcript.defaults = {"version": "2.1.48"}
    prompt = transcript.prompt(PROMPTS[0])
    transcript.block(THOUGHT[0], "msg_1", None, timestamp="2026-11-21T10:00:01.000Z")
    transcript.block(SPOKEN[0], "msg_1", "end_turn", timestamp="2026-11-21T10:00:01.000Z")
    itself = {"id": "made-up", "role": "assistant", "model": "<synthetic>"}
    text = [{"type": "text", "text": "No response requested."}]
    transcript.row("assistant", message={**itself, "content": text}, parentUuid=prompt)
    transcript.turn(PROMPTS[1], "Sleep well.")
    session = transcript.opened()
    assert session.branches == 1
    first, second = of_kind(session, Kind.USER)
    assert session.tree.branch_points() == [first]
    assert "You are welcome." not in messages(session, second)
    assert messages(session, second)[-1] == PROMPTS[1]
