"""Claude Code: the tree behind the rows: replies, results, branches, compactions, forks, and where a session stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.compaction.xray.xray import xray_of
from leafward.context.basis import leaf_before
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.entries import Kind, tool_calls
from leafward.session.messages import message_text, prompt_text
from leafward.summaries.survival.spans import compactions, replaced_by
from tests.claude_transcript import Transcript
from tests.foreign_sessions import problems, said, texts

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session


def place(session: Session) -> str:
    """The text that the conversation stands at."""
    return said(session)[-1][1]


def said_at(session: Session, at: int) -> list[str]:
    """Texts of the context at an entry."""
    return [message_text(message_body(session, one)) for one in context_at(session, at).messages]


# --- replies and results ---


def test_the_rows_of_a_reply_are_one_entry(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("go")
    transcript.block({"type": "thinking", "thinking": "hm", "signature": "s"}, "m1")
    transcript.block({"type": "text", "text": "let me see"}, "m1")
    transcript.call("Bash", "c1", "m1", command="ls")
    transcript.result("c1", "files")
    transcript.reply("two files")
    session = transcript.opened()
    assert [Kind(kind).name for kind in session.columns.kind] == [
        "USER", "ASSISTANT", "TOOL_RESULT", "ASSISTANT",
    ]  # fmt: skip
    message = (session.body(1) or {})["message"]
    assert [block["type"] for block in message["content"]] == ["thinking", "text", "toolCall"]
    assert (message["stopReason"], message["model"]) == ("toolUse", "claude-sonnet-4-5")
    assert len(session.raw(1).splitlines()) == 3
    assert (session.body(2) or {})["message"]["toolName"] == "Bash"


@pytest.mark.parametrize("chained", [False, True], ids=["each under its call", "one under the other"])
@pytest.mark.parametrize("late", [False, True], ids=["calls first", "the second call after the first result"])
def test_calls_made_together_are_no_branch(tmp_path: Path, *, chained: bool, late: bool) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("go")
    one = transcript.call("Bash", "c1", "m1", command="ls")
    first = transcript.result("c1", "one") if late else ""
    two = transcript.call("Bash", "c2", "m1", command="pwd", parentUuid=one)
    last = transcript.result("c2", "two", parentUuid=two)
    if not late:
        first = transcript.result("c1", "one", parentUuid=last if chained else one)
    transcript.attachment("reminder", parentUuid=first)
    transcript.reply("both")
    session = transcript.opened()
    assert session.tree.branch_points() == []
    assert problems(session) == {}
    replies = [index for index, kind in enumerate(session.columns.kind) if kind == Kind.ASSISTANT]
    assert len(replies) == 2
    assert [call.id for call in tool_calls((session.body(replies[0]) or {})["message"])] == ["c1", "c2"]
    told = said(session)
    assert sorted(told[2:4]) == [("toolResult", "one"), ("toolResult", "two")]
    assert told[4:] == [("custom", "reminder"), ("assistant", "both")]


def test_results_of_several_calls_in_one_row(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("go")
    transcript.call("Bash", "c1", "m1", command="ls")
    transcript.call("Bash", "c2", "m1", command="pwd")
    blocks = [{"type": "tool_result", "tool_use_id": one, "content": one} for one in ("c1", "c2")]
    stopped = "[Request interrupted by user for tool use]"
    transcript.row("user", message={"content": [*blocks, {"type": "text", "text": stopped}]})
    session = transcript.opened()
    assert said(session)[2:] == [("toolResult", "c1"), ("toolResult", f"c2\n{stopped}")]
    assert len({str(session.columns.id(index)) for index in range(len(session))}) == len(session)
    assert problems(session) == {}


@pytest.mark.parametrize("calls", [["c1"], ["c1", "c2"]], ids=["one result", "two results"])
def test_a_prompt_in_the_row_of_a_result_begins_a_turn(tmp_path: Path, calls: list[str]) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("go")
    for call in calls:
        transcript.call("Bash", call, "m1", command="ls")
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    blocks = [{"type": "tool_result", "tool_use_id": one, "content": one} for one in calls]
    told = {"type": "text", "text": "<system-reminder>the list is empty</system-reminder>"}
    words = {"type": "text", "text": "it is in worktree 2"}
    transcript.row("user", message={"content": [*blocks, told, words, picture]})
    transcript.reply("then there", "m2")
    session = transcript.opened()
    assert said(session)[2:] == [
        *(("toolResult", one) for one in calls[:-1]),
        ("toolResult", f"{calls[-1]}\n{told['text']}"),
        ("user", "it is in worktree 2\n[image image/png, 2 bytes]"),
        ("assistant", "then there"),
    ]
    assert session.tree.branch_points() == []
    assert problems(session) == {}
    typed = len(calls) + 2
    assert Kind(session.columns.kind[typed]) is Kind.USER
    content = (session.body(typed) or {})["message"]["content"]
    assert [block["type"] for block in content] == ["text", "image"]
    assert context_at(session, session.place).messages.entry.tolist() == list(range(len(session)))


@pytest.mark.parametrize("rendered", [False, True], ids=["2.1.40", "2.1.330"])
def test_a_prompt_typed_while_the_agent_worked_begins_a_turn(tmp_path: Path, *, rendered: bool) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("count the pears")
    transcript.call("Bash", "c1", "m1", command="ls")
    transcript.result("c1", "files")
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    words = [{"type": "text", "text": "and the plums"}, picture]
    sent = [{"type": "text", "text": "The user sent a message: and the plums"}, picture]
    fields = {"rendered": [{"role": "user", "content": sent}]} if rendered else {}
    transcript.row("attachment", attachment={"type": "queued_command", "prompt": words}, **fields)
    transcript.reply("three of each", "m2")
    session = transcript.opened()
    assert [Kind(kind).name for kind in session.columns.kind] == [
        "USER", "ASSISTANT", "TOOL_RESULT", "USER", "ASSISTANT",
    ]  # fmt: skip
    assert prompt_text(session.body(3) or {}) == "and the plums"
    shown = "The user sent a message: and the plums" if rendered else "and the plums"
    assert said(session)[3] == ("user", f"{shown}\n[image image/png, 2 bytes]")
    assert session.tree.branch_points() == []
    assert problems(session) == {}


def test_a_notice_in_the_queue_is_no_prompt(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("count the pears", "Seven.")
    for origin, words in (("human", "<task-notification>done</task-notification>"), ("task", "done")):
        queued = {"type": "queued_command", "prompt": words, "origin": {"kind": origin}}
        transcript.row("attachment", attachment=queued)
    session = transcript.opened()
    assert [Kind(kind).name for kind in session.columns.kind] == ["USER", "ASSISTANT", "INJECTED", "INJECTED"]


def test_progress_and_attachments_are_no_branches(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("go")
    call = transcript.call("Bash", "c1", "m1", command="ls")
    transcript.row("progress", data={"type": "hook_progress"})
    transcript.row("progress", data={"type": "bash_progress"}, parentUuid=call)
    result = transcript.result("c1", "files", parentUuid=call)
    transcript.attachment("beside", parentUuid=result)
    transcript.reply("seen", parentUuid=result)
    transcript.row("system", subtype="turn_duration", durationMs=3)
    transcript.prompt("on")
    session = transcript.opened()
    assert session.tree.branch_points() == []
    assert list(session.tree.leaves()) == [session.place]
    assert place(session) == "on"


def test_a_result_that_comes_late_is_no_branch(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("go")
    transcript.call("Bash", "c1", "m1", command="ls")
    two = transcript.call("Bash", "c2", "m1", command="pwd")
    first = transcript.result("c1", "one")
    transcript.reply("on the way", "m2", parentUuid=first)
    tip = transcript.prompt("next")
    transcript.result("c2", "two", parentUuid=two)
    transcript.tip = tip
    transcript.reply("last", "m3")
    session = transcript.opened()
    assert session.tree.branch_points() == []
    assert texts(session) == [
        "go", "Bash(command=ls)\nBash(command=pwd)", "one", "two", "on the way", "next", "last",
    ]  # fmt: skip


def test_a_second_reply_to_one_prompt_is_a_branch(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    prompt = transcript.prompt("go")
    transcript.reply("one way", "m1")
    transcript.reply("another", "m2", parentUuid=prompt)
    session = transcript.opened()
    assert len(session.tree.branch_points()) == 1
    assert place(session) == "another"


def test_errors_of_the_service_are_replies_that_failed(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("go")
    said_ = {
        "id": "x",
        "role": "assistant",
        "model": "<synthetic>",
        "content": [{"type": "text", "text": "API Error"}],
    }
    transcript.row("assistant", message=said_, isApiErrorMessage=True)
    transcript.row("assistant", message=said_, isApiErrorMessage=True)
    session = transcript.opened()
    bodies = [(session.body(index) or {})["message"] for index in (1, 2)]
    assert [body["stopReason"] for body in bodies] == ["error", "error"]


# --- who speaks ---


@pytest.mark.parametrize(
    ("text", "fields", "kind"),
    [
        ("plant a tree", {}, "USER"),
        ("<b>bold</b> words", {}, "USER"),
        ("expanded", {"isMeta": True}, "INJECTED"),
        ("<command-name>/compact</command-name>", {}, "INJECTED"),
        ("<local-command-stdout>done</local-command-stdout>", {}, "INJECTED"),
        ("<system-reminder>note</system-reminder>", {}, "INJECTED"),
        ("[Request interrupted by user]", {}, "INJECTED"),
        ("<command-message>init</command-message>\n<command-name>/init</command-name>", {}, "USER"),
        (
            "<command-message>The skill is running</command-message>\n<command-name>peel</command-name>",
            {},
            "CUSTOM_MESSAGE",
        ),
        ("<bash-input>ls</bash-input>", {}, "CUSTOM_MESSAGE"),
        ("<task-notification>x</task-notification>", {}, "CUSTOM_MESSAGE"),
        ("done", {"origin": {"kind": "task-notification"}}, "CUSTOM_MESSAGE"),
        ("typed", {"origin": {"kind": "human"}}, "USER"),
    ],
)
def test_what_a_person_typed_and_what_was_injected(
    tmp_path: Path, text: str, fields: dict[str, object], kind: str
) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("first", "yes")
    transcript.prompt(text, **fields)
    session = transcript.opened()
    assert Kind(session.columns.kind[2]).name == kind
    assert said(session)[-1][1] == text
    body = session.body(2) or {}
    if kind != "USER":
        assert (body["type"], body["display"], body["injected"]) == ("custom_message", False, True)
        assert body["customType"].startswith("claude.")


def test_attachments_are_sent_ahead_of_the_prompt(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("first", "yes")
    transcript.prompt("second")
    transcript.attachment("where it runs")
    transcript.attachment("what day it is", "date")
    transcript.row("attachment", attachment={"type": "prompt_snapshot"})
    transcript.reply("seen")
    session = transcript.opened()
    assert texts(session) == [
        "first", "yes", "where it runs", "what day it is", "second", "seen",
    ]  # fmt: skip
    assert [Kind(session.columns.kind[index]).name for index in range(2, 6)] == [
        "USER", "INJECTED", "INJECTED", "CUSTOM",
    ]  # fmt: skip


def test_attachments_without_stored_text_say_what_their_fields_say(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("go")
    file = {"type": "file", "content": {"type": "text", "file": {"filePath": "a.py", "content": "x = 1"}}}
    transcript.row("attachment", attachment=file)
    transcript.row("attachment", attachment={"type": "queued_command", "prompt": "and this"})
    transcript.row("attachment", attachment={"type": "hook_success", "content": "", "stdout": "{}"})
    assert texts(transcript.opened()) == ["x = 1", "and this", "go"]


def test_images_and_documents(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}
    paper = {"type": "document", "title": "plan.pdf", "source": {"type": "base64", "data": "QUJD"}}
    transcript.row("user", message={"content": [{"type": "text", "text": "look"}, picture, paper]})
    body = transcript.opened().body(0) or {}
    kinds = [block["type"] for block in body["message"]["content"]]
    assert kinds == ["text", "image", "text"]
    assert body["message"]["content"][1] == {"type": "image", "data": "QUJD", "mimeType": "image/png"}
    assert "plan.pdf" in body["message"]["content"][2]["text"]


# --- going back, and where it stands ---


# --- compactions ---


def test_a_summary_alone(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    transcript.boundary("what happened")
    transcript.turn("two", "second")
    session = transcript.opened()
    assert session.columns.kind.count(Kind.COMPACTION) == 1
    assert said(session) == [
        ("compactionSummary", "what happened"), ("user", "two"), ("assistant", "second"),
    ]  # fmt: skip
    assert len(list(session.tree.leaves())) == 1
    at = session.columns.kind.find(Kind.COMPACTION)
    assert (session.body(at) or {})["tokensBefore"] == 900
    assert [text for _, text in said(session, at - 1)] == ["one", "first"]


def test_a_tail_that_is_kept_comes_behind_the_summary(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    kept = [transcript.prompt("two"), transcript.attachment("note"), transcript.reply("second")]
    summary = f"{99:08x}-0000-4000-8000-000000000000"
    transcript.row(
        "system",
        subtype="compact_boundary",
        parentUuid=None,
        logicalParentUuid=transcript.tip,
        compactMetadata={"preservedMessages": {"anchorUuid": summary, "uuids": kept, "allUuids": kept}},
    )
    transcript.prompt("what happened", isCompactSummary=True, uuid=summary)
    transcript.turn("three", "third")
    session = transcript.opened()
    # An attachment goes ahead of every message up to the last reply: the summary too (Claude Code 2.1).
    assert texts(session) == [
        "note", "what happened", "two", "second", "three", "third",
    ]  # fmt: skip
    assert problems(session) == {}


@pytest.mark.parametrize(
    "told", [{"direction": "from"}, {"messagesSummarized": 2}], ids=["2.1.110", "2.1.77"]
)
def test_a_beginning_that_is_kept_comes_before_the_summary(tmp_path: Path, told: dict[str, object]) -> None:
    transcript = Transcript(tmp_path)
    kept = [transcript.prompt("one"), transcript.reply("first")]
    fork = transcript.tip
    transcript.turn("two", "second")
    boundary = f"{98:08x}-0000-4000-8000-000000000000"
    segment = {"headUuid": kept[0], "tailUuid": kept[1], "anchorUuid": boundary}
    transcript.row(
        "system",
        subtype="compact_boundary",
        uuid=boundary,
        parentUuid=None,
        logicalParentUuid=fork,
        compactMetadata={"preservedSegment": segment},
    )
    transcript.prompt("what came then", isCompactSummary=True, summarizeMetadata=told)
    transcript.prompt("three")
    session = transcript.opened()
    assert texts(session) == ["one", "first", "what came then", "three"]
    [point] = session.tree.branch_points()
    assert (session.body(point) or {})["source"]["uuid"] == fork
    # What it summarised is what was left: that stood in the context before.
    [summary] = compactions(session)
    replaced = replaced_by(session, summary).messages
    assert [message_text(one.message) for one in replaced] == ["two", "second"]
    assert xray_of(session, summary).before_at == leaf_before(session, summary)
    assert said_at(session, leaf_before(session, summary)) == ["one", "first", "two", "second"]


def test_a_boundary_without_a_summary_still_cuts(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    transcript.row(
        "system",
        subtype="compact_boundary",
        content="compacted",
        parentUuid=None,
        logicalParentUuid=transcript.tip,
    )
    transcript.prompt("two")
    session = transcript.opened()
    assert said(session) == [("compactionSummary", "compacted"), ("user", "two")]


def test_results_that_were_replaced_or_cleared(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("go")
    for call in ("c1", "c2", "c3"):
        transcript.call("Bash", call, command=call)
        transcript.result(call, f"long {call}")
    transcript.row(
        "content-replacement",
        replacements=[{"kind": "tool-result", "toolUseId": "c1", "replacement": "short c1"}],
    )
    transcript.row(
        "system",
        subtype="microcompact_boundary",
        microcompactMetadata={"compactedToolIds": ["c2", "c3"]},
    )
    transcript.prompt("on")
    session = transcript.opened()
    results = [text for role, text in said(session) if role == "toolResult"]
    assert results == ["short c1", "[Old tool result content cleared]", "[Old tool result content cleared]"]
    before = [text for role, text in said(session, 6) if role == "toolResult"]
    assert before == ["long c1", "long c2", "long c3"]
    assert problems(session) == {}
