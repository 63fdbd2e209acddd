"""Claude Code: who goes back to a message that a compaction kept, and what is written late or twice behind one."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.registry import agent_named
from leafward.compaction.draft.replacement import replacing
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.compaction.xray.xray import xray_of
from leafward.context.entry_metrics import EntryMetrics
from leafward.context.model_context import context_at
from leafward.context.sizes import Sizes
from leafward.session.entries import EntryIndex, Kind
from leafward.session.journal import session_operations
from tests.claude_transcript import DATA, Transcript, compactions, in_one_piece, opened
from tests.foreign_sessions import said, texts
from tests.oracle.forked import fork

if TYPE_CHECKING:
    from pathlib import Path


REQUEST = "0badcafe-0000-4000-8000-000000000000"
"""The id of a recorded request."""
GONE_BACK = DATA / "2.1.332" / "projects" / "-tmp-demo-project" / "8215b2d2-5227-4e82-9228-b9403db6f8de.jsonl"
"""A real session whose compaction keeps two turns, and that goes on from the first of them."""


def test_a_real_session_that_goes_back_to_a_kept_message_is_sent_as_recorded() -> None:
    """Messages that the real 2.1.332 sent with the last prompt, noted beside the session: calls, replies and prompts in this order."""
    session = opened(GONE_BACK)
    assert session.branches == 1
    [at] = compactions(session)
    prompt = session.columns.kind.rfind(Kind.USER)
    last = context_at(session, session.columns.parent[prompt])
    assert last.compaction == at
    told = [
        (message.role, text.split("\n", 1)[0][:28])
        for message, (_, text) in zip(last.messages, said(session, last.at), strict=True)
        if message.sent and not session.hoisted[message.entry]
    ]
    assert told == [
        ("compactionSummary", "This session is being contin"),
        ("user", "Compare the fruit"),
        ("assistant", "Which are alike?"),
        ("toolResult", "1\tapples"),
        ("toolResult", "1\tpears"),
        ("toolResult", "1\tplums"),
        ("assistant", "Bash(command=ls nowhere, des"),
        ("toolResult", "1\tpears"),
        ("toolResult", "Exit code 2"),
        ("assistant", "They differ."),
        ("user", "Good night"),
        ("assistant", "They differ."),
    ]


def test_what_names_the_end_of_what_was_kept_follows_the_summary(tmp_path: Path) -> None:
    """For Claude Code kept messages follow the summary, and the next row follows them, where nothing was inserted with the compaction."""
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    head = transcript.prompt("two")
    tail = transcript.reply("second")
    summary = transcript.boundary("what happened", tail)
    text = transcript.path.read_text()
    kept = {"headUuid": head, "anchorUuid": summary, "tailUuid": tail}
    transcript.path.write_text(
        text.replace('"preTokens":900', f'"preTokens":900,"preservedSegment":{json.dumps(kept)}')
    )
    transcript.prompt("three", parentUuid=tail)
    session = transcript.opened()
    in_one_piece(session)
    assert texts(session) == ["what happened", "two", "second", "three"]
    transcript.reply("third")
    transcript.prompt("three anew", parentUuid=tail)
    session.refresh()
    assert session.branches == 1
    assert texts(session) == ["what happened", "two", "second", "three anew"]
    [at] = compactions(session)
    assert xray_of(session, at).messages_before == 4


def kept_by(transcript: Transcript, head: str, tail: str, *uuids: str, **said: Any) -> str:
    """A compaction that keeps rows from before it, which it may list; returns the id of its summary."""
    summary = f"{transcript.number:08x}-0000-4000-8000-000000005a11"
    metadata: dict[str, Any] = {"trigger": "manual", "preTokens": 900}
    metadata["preservedSegment"] = {"headUuid": head, "anchorUuid": summary, "tailUuid": tail}
    if uuids:
        metadata["preservedMessages"] = {"anchorUuid": summary, "uuids": list(uuids)}
    given = {"parentUuid": None, "logicalParentUuid": tail, "compactMetadata": metadata, **said}
    transcript.row("system", subtype="compact_boundary", content="compacted", **given)
    return transcript.prompt("what happened", isCompactSummary=True, uuid=summary)


def kept_two_turns(transcript: Transcript, *, listed: bool) -> tuple[str, str, str]:
    """A compaction that keeps the last two turns; the ids of its summary, of the first kept reply and of the last kept row."""
    transcript.turn("one", "first")
    head = transcript.prompt("two")
    inside = transcript.reply("second")
    asked = transcript.prompt("three")
    last = transcript.reply("third")
    tail = transcript.row("system", subtype="turn_duration")
    rows = (head, inside, asked, last, tail) if listed else ()
    return kept_by(transcript, head, tail, *rows), inside, tail


def test_a_summary_up_to_a_prompt_follows_what_it_kept(tmp_path: Path) -> None:
    """ "Summarize up to here" of the real 2.1.332 names the row before the prompt, and keeps the prompt and what came after it."""
    transcript = Transcript(tmp_path)
    transcript.prompt("one")
    back = transcript.reply("first")
    head = transcript.prompt("two")
    inside = transcript.reply("second")
    transcript.turn("three", "third")
    asked = transcript.prompt("three anew", parentUuid=inside)
    tail = transcript.reply("third anew")
    kept_by(transcript, head, tail, head, inside, asked, tail, logicalParentUuid=back)
    transcript.turn("four", "fourth")
    session = transcript.opened()
    assert texts(session) == [
        "what happened", "two", "second", "three anew", "third anew", "four", "fourth"
    ]  # fmt: skip
    assert session.branches == 1, "the turn that was taken back"
    [at] = compactions(session)
    assert xray_of(session, at).messages_before == 6
    assert [note.code for note in session.source.notes] == []


def test_an_earlier_summary_that_a_compaction_keeps_is_sent_ahead_of_its_own(tmp_path: Path) -> None:
    """ "Summarize from here" behind another compaction names that one's summary among what it keeps, and 2.1.332 sends both."""
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    earlier = transcript.boundary("what happened at first")
    asked = transcript.prompt("two")
    back = transcript.reply("second")
    transcript.turn("three", "third")
    boundary = f"{transcript.number:08x}-0000-4000-8000-00000000b0bb"
    kept = {"headUuid": earlier, "anchorUuid": boundary, "tailUuid": back}
    listed = {"anchorUuid": boundary, "uuids": [earlier, asked, back]}
    transcript.row(
        "system",
        subtype="compact_boundary",
        uuid=boundary,
        parentUuid=None,
        logicalParentUuid=back,
        compactMetadata={"trigger": "manual", "preservedSegment": kept, "preservedMessages": listed},
    )
    transcript.prompt("what happened later", isCompactSummary=True)
    transcript.turn("four", "fourth")
    session = transcript.opened()
    shown = ["what happened at first", "two", "second", "what happened later", "four", "fourth"]
    assert texts(session) == shown
    first, last = compactions(session)
    context = context_at(session)
    assert context.compaction == last
    assert [one.entry for one in context.messages if one.role == "compactionSummary"] == [first, last]
    parts = context.contents
    assert parts.total == sum(context.messages.tokens)
    sizes = Sizes(session, EntryMetrics(session))
    assert sizes.contents(sizes.outline(session.leaf)) == parts.total
    replaced = replacing(session, plan(measure(session), PlanSettings(keep_recent=1)))
    assert first in [one.entry for one in replaced.summarised]
    assert replaced.previous == "what happened later"


@pytest.mark.parametrize("first", [True, False], ids=["at once", "later"])
@pytest.mark.parametrize("listed", [True, False])
def test_what_names_an_earlier_kept_row_is_sent_behind_the_summary_without_what_was_kept_after_it(
    tmp_path: Path, *, listed: bool, first: bool
) -> None:
    """As the real 2.1.332 sends it, asked to go on at a row that its compaction kept."""
    transcript = Transcript(tmp_path)
    summary, inside, _ = kept_two_turns(transcript, listed=listed)
    if not first:
        transcript.attachment("files read last")
        transcript.turn("four", "fourth")
    transcript.prompt("three anew", parentUuid=inside)
    anew = transcript.reply("third anew")
    session = transcript.opened()
    [at] = compactions(session)
    assert texts(session) == ["what happened", "two", "second", "three anew", "third anew"]
    assert xray_of(session, at).messages_before == 6
    assert [text for _, text in said(session, at)] == ["what happened", "two", "second", "three", "third"]
    assert session.branches == (0 if first else 1)
    assert [index for index, parent in enumerate(session.columns.parent) if parent < 0] == [0]
    transcript.turn("four anew", "fourth anew")
    session.refresh()
    assert texts(session)[-4:] == ["three anew", "third anew", "four anew", "fourth anew"]
    assert "third" not in texts(session)
    assert transcript.opened().source.kept_until == session.source.kept_until
    assert anew
    assert summary


def test_sizes_of_such_a_branch_count_what_is_sent(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    _, inside, _ = kept_two_turns(transcript, listed=True)
    transcript.turn("four", "fourth")
    there = transcript.opened()
    transcript.prompt("three anew", parentUuid=inside)
    session = transcript.opened()
    sizes = Sizes(session, EntryMetrics(session))
    for at in range(len(session)):
        entries = [message.entry for message in context_at(session, at).messages]
        assert sorted(sizes.outline(EntryIndex(at)).entries) == sorted(set(entries)), at
        assert context_at(session, at).contents.total == sizes.contents(sizes.outline(EntryIndex(at)))
    assert texts(there)[-2:] == ["four", "fourth"]
    assert context_at(session).total < context_at(session, session.columns.parent[session.leaf]).total


def test_a_hook_that_tells_late_of_a_kept_row_cuts_nothing_off(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    _, inside, _ = kept_two_turns(transcript, listed=True)
    prompt = transcript.prompt("four")
    transcript.attachment("a hook that ran long", parentUuid=inside)
    transcript.reply("fourth", parentUuid=prompt)
    session = transcript.opened()
    assert session.branches == 0
    assert [text for text in texts(session) if "hook" not in text] == [
        "what happened", "two", "second", "three", "third", "four", "fourth"
    ]  # fmt: skip


def test_what_stands_ahead_of_the_prompt_that_goes_back_comes_with_it(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    _, inside, _ = kept_two_turns(transcript, listed=True)
    transcript.turn("four", "fourth")
    transcript.attachment("a hook of the start", parentUuid=inside)
    transcript.turn("three anew", "third anew")
    session = transcript.opened()
    sent = texts(session)
    assert sorted(sent) == sorted(
        ["what happened", "two", "second", "a hook of the start", "three anew", "third anew"]
    )


def test_a_second_compaction_behind_a_row_that_the_first_one_kept(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    _, inside, tail = kept_two_turns(transcript, listed=True)
    transcript.boundary("in short", tail)
    transcript.turn("four", "fourth")
    session = transcript.opened()
    in_one_piece(session)
    first, second = compactions(session)
    assert first in session.tree.path(second)
    assert xray_of(session, second).messages_before == 5
    assert "fourth" in texts(session)
    transcript.boundary("otherwise", inside)
    *_, third = compactions(transcript.opened())
    assert xray_of(transcript.opened(), third).messages_before == 4, "the second compaction kept nothing"


def test_a_second_compaction_behind_an_earlier_row_that_the_first_one_kept(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    _, inside, _ = kept_two_turns(transcript, listed=True)
    transcript.turn("four", "fourth")
    transcript.boundary("otherwise", inside)
    session = transcript.opened()
    first, second = compactions(session)
    assert first in session.tree.path(second)
    assert xray_of(session, second).messages_before == 3


def test_what_was_kept_and_is_written_again_behind_the_summary_makes_no_branch(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    head = transcript.prompt("two")
    tail = transcript.reply("second")
    lines = transcript.path.read_bytes().splitlines(keepends=True)[2:]
    summary = kept_by(transcript, head, tail, head, tail)
    again = json.loads(lines[0])
    transcript.raw(json.dumps({**again, "parentUuid": summary}, separators=(",", ":")).encode() + b"\n")
    transcript.raw(lines[1])
    transcript.tip = tail
    transcript.turn("three", "third")
    session = transcript.opened()
    in_one_piece(session)
    assert texts(session) == ["what happened", "two", "second", "three", "third"]
    [at] = compactions(session)
    assert xray_of(session, at).messages_before == 4


def test_forks_of_a_branch_that_went_back_hold_what_is_sent_there(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path / "home" / ".claude")
    _, inside, _ = kept_two_turns(transcript, listed=True)
    transcript.turn("four", "fourth")
    anew = transcript.prompt("three anew", parentUuid=inside)
    transcript.reply("third anew")
    session = transcript.opened()
    env = {"HOME": str(tmp_path / "home")}
    prompt = next(at for at in range(len(session)) if (session.body(at) or {})["source"]["uuid"] == anew)
    for target in ("claude", "pi", "codex"):
        made = fork(session, session.leaf, env, to=target, source="claude", cwd=str(tmp_path))
        copy = agent_named(target).open(made.draft.path)
        spoken = [text for role, text in said(copy, copy.leaf) if role != "custom" and "# AGENTS" not in text]
        assert [text for text in spoken if text in {*texts(session), "third", "fourth"}][-4:] == [
            "two", "second", "three anew", "third anew"
        ], target  # fmt: skip
        assert "third" not in spoken
        assert "fourth" not in spoken
        copy.close()
    before = fork(session, prompt, env, to="claude", source="claude", cwd=str(tmp_path))
    assert "went-back" in [remark.code for remark in before.remarks]


@pytest.mark.parametrize("below", [False, True])
def test_recorded_requests_tell_equal_replies_apart_by_their_order(tmp_path: Path, *, below: bool) -> None:
    """A model that says "Understood." again and again: what the compaction kept is what was sent, and no other turn."""
    transcript = Transcript(tmp_path)
    transcript.turn("one", "Understood.")
    head = transcript.prompt("two")
    tail = transcript.reply("Understood.")
    kept_by(transcript, head, tail, head, tail)
    transcript.prompt("three")
    if below:
        transcript.reply("Understood.")
        transcript.prompt("four")
    reply = {"content": [{"type": "text", "text": "Understood."}], "role": "assistant"}
    digest = hashlib.sha256(json.dumps(reply, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    sent = ["what happened", "two", digest, "three", *((digest, "four") if below else ())]
    tail_of_request = []
    for one in sent:
        name = one if one == digest else hashlib.sha256(one.encode()).hexdigest()
        if one != digest:
            transcript.row("api-request-blob", hash=name, message={"role": "user", "content": one})
        tail_of_request.append(name)
    transcript.row("api-request", id=REQUEST, keep=0, tail=tail_of_request)
    transcript.reply("Understood.", requestRef=REQUEST)
    session = transcript.opened()
    assert [note.code for note in session.source.notes] == []
    assert texts(session)[:3] == ["what happened", "two", "Understood."]
    assert "one" not in texts(session)


def test_what_leafward_keeps_beside_such_a_session_moves_nothing(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    _, inside, _ = kept_two_turns(transcript, listed=True)
    transcript.turn("four", "fourth")
    session = transcript.opened()
    session_operations.label(session, EntryIndex(1), "before")
    transcript.prompt("three anew", parentUuid=inside)
    transcript.reply("third anew")
    session.refresh()
    session_operations.label(session, EntryIndex(2), "behind")
    again = transcript.opened()
    for one in (session, again):
        assert len(one.labels) == 2
        assert texts(one) == ["what happened", "two", "second", "three anew", "third anew"]
