"""Claude Code: a session stays in one piece over its compactions, whatever they name as the row before them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from leafward.cli.output.page import Page
from leafward.cli.verbs.tree import tree_json, tree_text
from leafward.compaction.xray.xray import xray_of
from leafward.context.model_context import context_at
from leafward.doctor.session_problems import check
from leafward.session.entries import Damage, Kind
from leafward.summaries.fates.report import survival_of
from tests.claude_transcript import NOWHERE, Transcript, boundary, compactions, in_one_piece, opened
from tests.corpus_counts import claude_branches, lines_of
from tests.foreign_sessions import said, texts
from tests.surroundings import CORPORA, needs_corpora

if TYPE_CHECKING:
    from pathlib import Path


NAMED: dict[str, dict[str, Any]] = {
    "a row that was never written": {"logicalParentUuid": NOWHERE},
    "nothing": {},
    "null": {"logicalParentUuid": None},
    "a parent that was never written": {"parentUuid": NOWHERE},
    "what is no id": {"logicalParentUuid": 7},
}


@pytest.mark.parametrize("named", NAMED)
def test_a_compaction_follows_the_row_before_it_where_it_names_none_that_is_there(
    tmp_path: Path, named: str
) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    boundary(transcript, **NAMED[named])
    transcript.turn("two", "second")
    boundary(transcript, "what happened then", **NAMED[named])
    transcript.turn("three", "third")
    session = transcript.opened()
    in_one_piece(session)
    first, second = compactions(session)
    assert texts(session) == ["what happened then", "three", "third"]
    assert [text for _, text in said(session, first - 2)] == ["one", "first"]
    assert [text for _, text in said(session, second - 2)] == ["what happened", "two", "second"]
    assert xray_of(session, first).messages_before == 2
    assert xray_of(session, second).messages_before == 3


def test_that_the_place_was_inferred_is_said(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    boundary(transcript, logicalParentUuid=NOWHERE)
    transcript.turn("two", "second")
    session = transcript.opened()
    [note] = [problem for problem in check(session) if problem.code == "inferred-parent"]
    assert "no row of this file" in note.text
    [remark] = tree_json(session)["diagnostics"]
    assert (remark["code"], remark["entry"]) == ("inferred-parent", note.entry)
    assert note.text in "\n".join(tree_text(session, Page(200)))
    [at] = compactions(session)
    assert (session.body(at) or {})["details"]["inferredParent"] == note.text


def test_a_compaction_whose_place_is_recorded_is_not_called_inferred(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    transcript.boundary("what happened")
    session = transcript.opened()
    in_one_piece(session)
    assert session.source.notes == []
    [at] = compactions(session)
    assert "inferredParent" not in (session.body(at) or {})["details"]


def test_a_place_behind_what_was_kept_is_known_whatever_the_compaction_names(tmp_path: Path) -> None:
    """Where a hook ran as the session was resumed, 2.1.332 names its row, which was never written."""
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    kept = transcript.tip
    segment = {"headUuid": kept, "tailUuid": kept, "anchorUuid": "summary"}
    transcript.boundary("what happened", NOWHERE, preservedSegment=segment)
    transcript.turn("two", "second")
    session = transcript.opened()
    in_one_piece(session)
    assert session.source.notes == []
    assert texts(session) == ["what happened", "first", "two", "second"]
    [at] = compactions(session)
    assert "inferredParent" not in (session.body(at) or {})["details"]


def test_with_nothing_before_it_what_it_summarised_lies_elsewhere(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    boundary(transcript, logicalParentUuid=NOWHERE)
    transcript.turn("two", "second")
    session = transcript.opened()
    in_one_piece(session)
    assert [note.code for note in session.source.notes] == ["missing-base"]


def test_rows_of_hooks_that_hang_on_nothing_split_nothing(tmp_path: Path) -> None:
    # As 2.1.37 writes it: the row of a hook and the compaction name the same row, which was only ever in memory.
    transcript = Transcript(tmp_path)
    transcript.prompt("one")
    transcript.call("Edit", "c1", file_path="a.py", old_string="a", new_string="b")
    transcript.row("progress", parentUuid=NOWHERE, data={"type": "hook_progress", "hookEvent": "PostToolUse"})
    boundary(transcript, logicalParentUuid=NOWHERE)
    transcript.row("progress", data={"type": "hook_progress", "hookEvent": "SessionStart"})
    transcript.reply("on")
    session = transcript.opened()
    in_one_piece(session)
    assert set(session.columns.damage.values()) == {Damage.ORPHAN}
    assert texts(session) == ["what happened", "on"]


@pytest.mark.parametrize(("seconds", "codes"), [(5, []), (6, ["gap"])])
def test_a_lost_row_is_bridged_and_said_where_claude_code_would_not(
    tmp_path: Path, seconds: int, codes: list[str]
) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("one")
    transcript.reply("first", timestamp="2026-02-01T10:00:00.000Z")
    transcript.prompt("two", parentUuid=NOWHERE, timestamp=f"2026-02-01T10:00:0{seconds}.000Z")
    session = transcript.opened()
    in_one_piece(session)
    assert texts(session) == ["one", "first", "two"]
    notes = [note for note in check(session) if note.code == "gap"]
    assert [note.code for note in notes] == codes
    assert all(note.entry == session.columns.id_at(2) for note in notes)


def test_side_lines_between_are_not_what_a_compaction_follows(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    reply = transcript.turn("one", "first")
    transcript.prompt("look", isSidechain=True, parentUuid=None, agentId="a1")
    transcript.reply("found", isSidechain=True, agentId="a1")
    boundary(transcript, logicalParentUuid=NOWHERE)
    transcript.prompt("two")
    session = transcript.opened()
    [at] = compactions(session)
    above = session.columns.parent[session.columns.parent[at]]
    assert (session.body(above) or {})["source"]["uuid"] == reply
    assert session.branches == 0, "the side line is none"


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize(
    "form", ["<command-name>/compact</command-name>", "/compact keep the names", "/compact"]
)
def test_a_typed_compaction_is_no_branch(tmp_path: Path, form: str, *, before: bool) -> None:
    transcript = Transcript(tmp_path)
    last = transcript.turn("one", "first")
    if before:
        transcript.prompt(form)
        transcript.prompt("<local-command-stdout></local-command-stdout>")
    transcript.boundary("what happened", after=last)
    if not before:
        transcript.prompt(form)
        transcript.prompt("<local-command-stdout>Compacted</local-command-stdout>")
    transcript.turn("two", "second")
    session = transcript.opened()
    in_one_piece(session)
    assert session.columns.kind.count(Kind.USER) == 2


def test_a_rewound_turn_before_a_compaction_stays_a_branch(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    fork = transcript.turn("one", "first")
    transcript.turn("left", "left too")
    transcript.boundary("what happened", after=fork)
    transcript.turn("two", "second")
    session = transcript.opened()
    assert session.branches == 1


def test_what_was_kept_says_what_a_compaction_follows(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    kept = [transcript.prompt("one"), transcript.reply("first")]
    transcript.turn("two", "second")
    own = f"{98:08x}-0000-4000-8000-000000000000"
    segment = {"headUuid": kept[0], "tailUuid": kept[1], "anchorUuid": own}
    boundary(
        transcript,
        "what came then",
        uuid=own,
        logicalParentUuid=NOWHERE,
        compactMetadata={"preservedSegment": segment},
    )
    transcript.prompt("three")
    session = transcript.opened()
    assert texts(session) == ["one", "first", "what came then", "three"]
    [point] = session.tree.branch_points()
    assert (session.body(point) or {})["source"]["uuid"] == kept[1]


def test_a_summary_whose_boundary_was_never_written_ends_nothing(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    transcript.prompt("what happened", isCompactSummary=True, parentUuid=NOWHERE)
    transcript.turn("two", "second")
    session = transcript.opened()
    in_one_piece(session)
    assert texts(session) == ["what happened", "two", "second"]


def test_what_is_appended_later_is_placed_as_if_read_at_once(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    session = transcript.opened()
    boundary(transcript, logicalParentUuid=NOWHERE)
    transcript.turn("two", "second")
    session.reload()
    boundary(transcript)
    session.reload()
    again = transcript.opened()
    in_one_piece(again)
    assert list(again.columns.parent) == list(session.columns.parent)
    assert [note.code for note in session.source.notes] == ["inferred-parent"] * 2


def test_a_row_that_was_written_late_is_followed_all_the_same(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    tip = transcript.tip
    late = f"{97:08x}-0000-4000-8000-000000000000"
    boundary(transcript, logicalParentUuid=late)
    after = transcript.tip
    transcript.reply("late", uuid=late, parentUuid=tip)
    transcript.prompt("two", parentUuid=after)
    session = transcript.opened()
    assert session.branches == 0
    assert session.source.notes == []
    [at] = compactions(session)
    assert [text for _, text in said(session, session.columns.parent[session.columns.parent[at]])][
        -1
    ] == "late"


REAL = CORPORA / "real" / "claude"


@needs_corpora
@pytest.mark.parametrize("path", sorted(REAL.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_real_session_is_in_one_piece(path: Path) -> None:
    """Counted from the raw lines: no person went back in any of them, and each compaction has its summary."""
    rows = lines_of(path)
    summaries = [row["message"]["content"] for row in rows if row.get("isCompactSummary")]
    assert claude_branches(rows) == 0
    session = opened(path)
    assert session.branches == 0
    assert len(session.tree.content_children(-1)) == 1
    assert session.leaf >= len(session) - 5
    found = compactions(session)
    assert [(session.body(at) or {})["summary"] for at in found] == summaries
    for at, following in zip(found, [*found[1:], len(session)], strict=True):
        xray = xray_of(session, at)
        assert xray.messages_before > 50
        assert xray.before > xray.after
        assert len(survival_of(session, at).fates) > 50
        context = context_at(session, following - 1)
        assert context.messages[0].role == "compactionSummary"
        sent = [message.entry for message in context.messages[1:]]
        assert sent
        assert all(at < entry < following for entry in sent)
    assert json.dumps(tree_json(session)["diagnostics"]).count("inferred-parent") == sum(
        row.get("subtype") == "compact_boundary"
        and row["logicalParentUuid"] not in {one.get("uuid") for one in rows}
        for row in rows
    )


def test_side_lines_that_hang_on_nothing_begin_where_they_say(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    last = transcript.turn("one", "first")
    transcript.prompt("look", isSidechain=True, parentUuid=NOWHERE, agentId="a1")
    transcript.reply("found", isSidechain=True, agentId="a1")
    transcript.prompt("two", parentUuid=last)
    session = transcript.opened()
    assert texts(session) == ["one", "first", "two"]
    assert len(session.tree.content_children(-1)) == 2


def test_what_a_command_left_beside_the_chain_is_shown_and_not_sent(tmp_path: Path) -> None:
    # As 2.1.33 leaves it: the agent answers the caveat, and the conversation goes on from that answer.
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    caveat = transcript.prompt("Caveat: mind this", isMeta=True)
    transcript.prompt("<command-name>/exit</command-name>")
    transcript.prompt("<local-command-stdout>Goodbye!</local-command-stdout>")
    transcript.reply("No response requested.", parentUuid=caveat)
    transcript.turn("two", "second")
    session = transcript.opened()
    in_one_piece(session)
    shown = zip(texts(session), context_at(session).messages, strict=True)
    assert {text: message.sent for text, message in shown} == {
        "one": True,
        "first": True,
        "Caveat: mind this": True,
        "<command-name>/exit</command-name>": False,
        "<local-command-stdout>Goodbye!</local-command-stdout>": False,
        "No response requested.": True,
        "two": True,
        "second": True,
    }


def twice_in_one_process(transcript: Transcript, *, copied: bool) -> None:
    """Two compactions without a restart, as 2.1.26x writes them: the row that ends the turn before the second one hangs on one
    from before the first, and what the first one replaced may stand in the file again ahead of it.
    """
    transcript.prompt("one")
    ahead = transcript.attachment("a date")
    kept = transcript.reply("first")
    ahead_of_reply = transcript.path.read_bytes().splitlines(keepends=True)[:2]
    ended = transcript.row("system", subtype="stop_hook_summary")
    segment = {"headUuid": kept, "tailUuid": ended, "anchorUuid": "summary"}
    transcript.boundary("what happened", ended, preservedSegment=segment)
    transcript.turn("two", "second")
    transcript.prompt("three")
    last = transcript.reply("third")
    if copied:
        transcript.raw(b"".join(ahead_of_reply))
    ended = transcript.row("system", subtype="stop_hook_summary", parentUuid=ahead)
    segment = {"headUuid": last, "tailUuid": ended, "anchorUuid": "summary"}
    transcript.boundary("what happened then", ended, preservedSegment=segment)
    transcript.turn("four", "fourth")


@pytest.mark.parametrize("copied", [False, True], ids=["once", "and what came before again"])
def test_a_second_compaction_in_one_process_follows_what_came_after_the_first(
    tmp_path: Path, copied: bool
) -> None:
    transcript = Transcript(tmp_path)
    twice_in_one_process(transcript, copied=copied)
    session = transcript.opened()
    assert session.branches == 0
    first, second = compactions(session)
    assert texts(session) == ["what happened then", "third", "four", "fourth"]
    assert first in session.tree.path(second)
    assert xray_of(session, second).messages_before == 6
    assert [note.entry for note in session.source.notes if note.code == "inferred-parent"] != []


def test_a_compaction_behind_a_rewind_stays_where_it_is(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("one")
    back = transcript.reply("first")
    transcript.boundary("what happened", back)
    transcript.turn("two", "second")
    transcript.prompt("again", parentUuid=back)
    last = transcript.reply("another")
    transcript.boundary("another course", last, preservedSegment={"headUuid": last, "tailUuid": last})
    session = transcript.opened()
    assert session.branches == 1
    assert "second" not in texts(session)
    assert session.source.notes == []


def test_a_compaction_that_names_what_it_kept_behind_it_follows_the_row_before_it(tmp_path: Path) -> None:
    """Of an automatic compaction the last reply may be written behind the summary alone, hanging on that."""
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    head = transcript.turn("two", "second")
    asked = transcript.prompt("three")
    kept = "00000000-0000-4000-8000-000000000abc"
    metadata = {
        "trigger": "auto",
        "preTokens": 900,
        "preservedSegment": {"headUuid": head, "anchorUuid": "summary", "tailUuid": kept},
        "preservedMessages": {"anchorUuid": "summary", "uuids": [head, asked, kept]},
    }
    boundary(transcript, logicalParentUuid=kept, compactMetadata=metadata)
    transcript.reply("third", uuid=kept)
    transcript.turn("four", "fourth")
    session = transcript.opened()
    assert session.branches == 0
    assert [index for index, parent in enumerate(session.columns.parent) if parent < 0] == [0]
    [at] = compactions(session)
    assert xray_of(session, at).messages_before == 5
    assert texts(session) == ["what happened", "second", "three", "third", "four", "fourth"]
    assert [note.code for note in session.source.notes] == ["inferred-parent"]


def test_a_compaction_that_is_written_behind_what_hangs_on_it_follows_what_came_before(
    tmp_path: Path,
) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    boundary(transcript, logicalParentUuid=NOWHERE)
    transcript.turn("two", "second")
    transcript.turn("three", "third")
    lines = transcript.path.read_bytes().splitlines(keepends=True)
    transcript.path.write_bytes(b"".join([*lines[:2], *lines[4:6], *lines[2:4], *lines[6:]]))
    session = transcript.opened()
    assert session.branches == 0
    assert len(session.tree.content_children(-1)) == 1
    [at] = compactions(session)
    assert xray_of(session, at).messages_before == 2
    assert texts(session) == ["what happened", "two", "second", "three", "third"]
