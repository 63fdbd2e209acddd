"""New transcripts of Claude Code: which rows they hold, where they may end, and what is said of what cannot be copied."""

from __future__ import annotations

import hashlib
import json
import shutil
from typing import TYPE_CHECKING

import pytest

from leafward.agents.rewrites import only_grew
from leafward.base.errors import Refused
from leafward.branches import fork as forking
from leafward.context.model_context import context_at
from leafward.session.entries import Kind
from leafward.session.journal.session_operations import label
from tests.claude_forks import draft, parallel, prompt, rows_of, uuids, written
from tests.claude_transcript import CLAUDE, DATA, Transcript, opened
from tests.foreign_sessions import said
from tests.forks import at_home, texts
from tests.surroundings import CORPORA, THOROUGH

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.agents.fork_draft import ForkPoint
    from leafward.session.session import Session


# --- which rows ---


def test_before_a_prompt_the_fork_holds_what_the_prompt_follows(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    kept = [
        talk.prompt("One?"),
        talk.attachment("Rules."),
        talk.reply("One."),
        talk.row("system", subtype="turn_duration"),
    ]
    talk.row("last-prompt", lastPrompt="One?", leafUuid=kept[-1])
    talk.turn("Two?", "Two.")
    source = talk.opened()
    made = draft(source, prompt(source, "Two?"))
    assert made.prompt == "Two?"
    rows = rows_of(made)
    assert uuids(rows) == kept
    assert made.draft.path == talk.path.with_name(f"{made.draft.id}.jsonl")
    assert {row["sessionId"] for row in rows} == {made.draft.id}
    assert [row["forkedFrom"] for row in rows] == [
        {"sessionId": talk.session, "messageUuid": name} for name in kept
    ]
    assert made.draft.resume.argv == ("claude", "--resume", made.draft.id)
    assert made.draft.resume.cwd == "/home/ada/orchard"
    # Behind the reply is the same file.
    assert uuids(rows_of(draft(source, source.columns.parent[prompt(source, "Two?")]))) == kept


def test_every_call_of_a_reply_keeps_its_result(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("Begin", "Begun.")
    rows = parallel(talk)
    talk.turn("More", "More.")
    source = talk.opened()
    made = draft(source, prompt(source, "More"))
    assert set(rows) <= set(uuids(rows_of(made)))
    assert said(written(made, tmp_path / "copy")) == said(
        source, source.columns.parent[prompt(source, "More")]
    )


def test_results_below_rows_of_progress_come_along(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.prompt("Look")
    first = talk.call("Read", "toolu_a", "msg_two", file_path="/a")
    second = talk.call("Read", "toolu_b", "msg_two", file_path="/b")
    progress = talk.row("progress", data={"type": "hook_progress"}, parentUuid=first)
    late = talk.result("toolu_a", "aaa")
    talk.result("toolu_b", "bbb", parentUuid=second)
    talk.reply("Both.")
    talk.turn("More", "More.")
    source = talk.opened()
    made = rows_of(draft(source, prompt(source, "More")))
    assert {first, second, progress, late} <= set(uuids(made))


def test_each_branch_of_a_rewound_session_by_itself(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    fork = talk.turn("One?", "One.")
    left = [talk.prompt("Left?"), talk.reply("Left.")]
    right = [talk.prompt("Right?", parentUuid=fork), talk.reply("Right.")]
    source = talk.opened()
    for mine, other in ((left, right), (right, left)):
        reply = source.columns.index(mine[1][:8])
        names = uuids(rows_of(draft(source, reply)))
        assert names[-2:] == mine
        assert not set(other) & set(names)


def test_past_compactions_everything_before_is_kept(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    first = [talk.prompt("One?"), talk.reply("One.")]
    kept = [talk.prompt("Two?"), talk.reply("Two.")]
    preserved = {"anchorUuid": "", "uuids": kept, "allUuids": kept}
    talk.boundary("So far: one.", preservedMessages=preserved)
    second = talk.turn("Three?", "Three.")
    talk.boundary("So far: three.", preservedMessages={**preserved, "allUuids": [second], "uuids": [second]})
    talk.turn("Four?", "Four.")
    talk.turn("Five?", "Five.")
    source = talk.opened()
    made = draft(source, prompt(source, "Five?"))
    names = uuids(rows_of(made))
    assert {*first, *kept, second} <= set(names)
    assert names == [row["uuid"] for row in map(json.loads, talk.path.read_text().splitlines())][: len(names)]
    copy = written(made, tmp_path / "copy")
    assert said(copy) == said(source, source.columns.parent[prompt(source, "Five?")])
    # Before the compaction the conversation is whole again.
    early = draft(source, prompt(source, "Two?"))
    assert uuids(rows_of(early)) == first


def test_what_a_compaction_kept_comes_along_where_its_chain_is_gone(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    kept = [talk.prompt("Two?", parentUuid=None), talk.reply("Two.")]
    missing = "ffffffff-0000-4000-8000-00000000dead"
    talk.boundary("So far.", missing, preservedMessages={"anchorUuid": "", "uuids": kept, "allUuids": kept})
    talk.turn("Three?", "Three.")
    source = talk.opened()
    assert set(kept) <= set(uuids(rows_of(draft(source, source.place))))


def test_behind_a_lost_row_the_fork_hangs_on_the_row_before_it(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    reply = talk.turn("One?", "One.")
    later = talk.prompt("Two?", parentUuid="00000000-0000-4000-8000-000000000000")
    talk.reply("Two.")
    source = talk.opened()
    rows = {row["uuid"]: row for row in rows_of(draft(source, source.leaf))}
    assert rows[later]["parentUuid"] == reply


def test_rows_outside_the_chain_stay_behind_but_replaced_results(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.prompt("Look")
    talk.call("Read", "toolu_a", file_path="/a")
    talk.result("toolu_a", "a" * 50)
    talk.row(
        "content-replacement",
        replacements=[{"kind": "tool-result", "toolUseId": "toolu_a", "replacement": "cut"}],
    )
    talk.reply("Seen.")
    talk.prompt("Again")
    talk.call("Read", "toolu_b", file_path="/b")
    talk.result("toolu_b", "b" * 50)
    talk.row(
        "content-replacement",
        replacements=[{"kind": "tool-result", "toolUseId": "toolu_b", "replacement": "cut"}],
    )
    talk.reply("Seen too.")
    for kind in ("queue-operation", "ai-title", "file-history-snapshot", "mode"):
        talk.row(kind, messageId="m")
    source = talk.opened()
    rows = rows_of(draft(source, prompt(source, "Again")))
    assert [row["type"] for row in rows] == ["user", "assistant", "user", "content-replacement", "assistant"]
    assert rows[3]["replacements"][0]["toolUseId"] == "toolu_a"
    assert {row["sessionId"] for row in rows} == {rows[0]["sessionId"]}


def test_a_name_says_that_it_is_a_fork(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("One?", "One.")
    talk.row("custom-title", customTitle="Pears")
    source = talk.opened()
    made = draft(source, source.place)
    assert rows_of(made)[-1] == {
        "type": "custom-title",
        "customTitle": "Pears (fork)",
        "sessionId": made.draft.id,
    }
    forking_path = written(made, talk.path.parent)
    again = draft(forking_path, forking_path.place)
    assert rows_of(again)[-1]["customTitle"] == "Pears (fork)"


def test_a_fork_of_a_fork_names_the_one_it_was_made_from(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    kept = [talk.prompt("One?"), talk.reply("One.")]
    source = talk.opened()
    first = draft(source, source.place)
    copy = written(first, talk.path.parent)
    assert copy.header["relation"] == "fork"
    assert copy.header["parentSession"] == str(talk.path)
    assert copy.inherited == len(copy.columns)
    rows = rows_of(draft(copy, copy.place))
    assert uuids(rows) == kept
    assert {row["forkedFrom"]["sessionId"] for row in rows} == {first.draft.id}


def test_what_is_put_in_is_an_attachment_behind_the_last_row(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    last = talk.turn("One?", "One.")
    source = talk.opened()
    rows = rows_of(draft(source, source.place, at_home("Mind the pears.")))
    assert rows[-1]["parentUuid"] == last
    assert rows[-1]["attachment"]["content"] == "Mind the pears."
    copy = written(draft(source, source.place, at_home("Mind the pears.")), tmp_path / "copy")
    assert said(copy)[-1] == ("custom", "Mind the pears.") or ("custom", "Mind the pears.") in said(copy)


# --- where it may end ---


def test_inside_a_turn_it_is_refused_and_the_nearest_end_is_named(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("One?", "One.")
    talk.prompt("Look")
    talk.block({"type": "thinking", "thinking": "Hm.", "signature": "s"}, "msg_x", None)
    talk.block({"type": "text", "text": "I look."}, "msg_x")
    talk.call("Read", "toolu_a", "msg_x", file_path="/a")
    talk.result("toolu_a", "aaa")
    end = talk.reply("Seen.")
    source = talk.opened()
    kinds = source.columns.kind
    places = {Kind(kind): index for index, kind in enumerate(kinds)}
    calling, result = source.columns.parent[places[Kind.TOOL_RESULT]], places[Kind.TOOL_RESULT]
    for index in (calling, result):
        cut = forking.cuts(source, index, (CLAUDE,))["claude"]
        assert not cut.legal
        assert "inside a turn" in str(cut.rule)
        nearest = forking.cuts(source, cut.nearest, (CLAUDE,))["claude"]
        assert nearest.legal
        with pytest.raises(Refused, match=r"inside a turn.*nearest entry that works"):
            draft(source, index)
    assert forking.cuts(source, source.columns.index(end[:8]), (CLAUDE,))["claude"].legal
    first = forking.cuts(source, prompt(source, "One?"), (CLAUDE,))["claude"]
    assert not first.legal
    assert "nothing comes before it" in str(first.rule)


def test_right_behind_a_compaction_what_it_left_comes_along(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("One?", "One.")
    summary = talk.boundary("So far.")
    behind = [
        talk.prompt("<local-command-caveat>Run here.</local-command-caveat>", isMeta=True),
        talk.prompt("<command-name>/compact</command-name>"),
        talk.prompt("<local-command-stdout>Compacted</local-command-stdout>"),
        talk.attachment("A file again.", "file"),
    ]
    talk.turn("Two?", "Two.")
    source = talk.opened()
    made = draft(source, source.columns.index(summary[:8]))
    assert uuids(rows_of(made))[-5:] == [summary, *behind]
    assert uuids(rows_of(draft(source, prompt(source, "Two?"))))[-5:] == [summary, *behind]


def test_a_notice_at_the_end_is_kept_and_said(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("One?", "One.")
    notice = talk.prompt([{"type": "text", "text": "[Request interrupted by user]"}])  # type: ignore[arg-type]
    talk.turn("Two?", "Two.")
    source = talk.opened()
    made = draft(source, prompt(source, "Two?"))
    assert uuids(rows_of(made))[-1] == notice
    assert "notice" in {remark.code for remark in made.remarks}
    behind = draft(source, source.tree.content_at(source.columns.index(uuids(rows_of(made))[1][:8])))
    assert notice not in uuids(rows_of(behind))
    assert "notice" not in {remark.code for remark in behind.remarks}


def test_a_command_that_nobody_answered_stays_behind(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("One?", "One.")
    command = talk.prompt("<command-message>review</command-message>")
    source = talk.opened()
    made = draft(source, source.columns.index(command[:8]))
    assert command not in uuids(rows_of(made))


def test_of_a_sub_agent_there_is_nothing_to_resume(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("One?", "One.")
    side = talk.reply("From beside.", isSidechain=True)
    source = talk.opened()
    with pytest.raises(Refused, match="sub-agent"):
        draft(source, source.columns.index(side[:8]))
    helper = talk.path.with_name("agent-a1b2c3.jsonl")
    shutil.copy(talk.path, helper)
    with pytest.raises(Refused, match="sub-agent"):
        draft(opened(helper), 1)


# --- stored sessions ---


def stored() -> list[Path]:
    found = sorted(DATA.rglob("*.jsonl"))
    if CORPORA.is_dir():
        recorded = sorted((CORPORA / "claude").glob("*/.claude/projects/*/*.jsonl"))
        real = sorted((CORPORA / "real" / "claude").glob("*.jsonl"))
        found += [*recorded, *real] if THOROUGH else [*recorded[::3], *real[::2]]
    return [path for path in found if path.stat().st_size and not path.name.startswith("agent-")]


def sent(session: Session, at: int) -> list[tuple[str, str]]:
    """Texts of a context that are sent."""
    messages = context_at(session, at).messages
    return [one for one, message in zip(texts(session, at), messages, strict=True) if message.sent]


@pytest.mark.parametrize("path", stored(), ids=lambda path: path.stem[:8])
def test_at_every_end_of_a_stored_session_the_context_is_the_same(path: Path, tmp_path: Path) -> None:
    source = opened(path)
    before = hashlib.sha256(path.read_bytes()).digest()
    lines = {
        row.get("uuid"): row for row in map(json.loads, path.read_text("utf-8").splitlines()) if "uuid" in row
    }
    ends = 0
    kinds = source.columns.kind
    near = {
        near
        for at, kind in enumerate(kinds)
        if kind == Kind.COMPACTION
        for near in (range(at - 6, at + 7) if THOROUGH else range(at - 3, at + 4))
    }
    for entry, kind in enumerate(kinds):
        if kind not in (Kind.USER, Kind.ASSISTANT, Kind.COMPACTION, Kind.CUSTOM):
            continue
        if entry not in near and (
            kind == Kind.CUSTOM or (len(source) > 200 and entry % (40 if THOROUGH else 160))
        ):
            continue
        cut: ForkPoint = forking.cuts(source, entry, (CLAUDE,))["claude"]
        if not cut.legal:
            continue
        made = draft(source, entry)
        ends += 1
        rows = rows_of(made)
        named = [row for row in rows if "uuid" in row]
        for row in named:
            was = lines[row["uuid"]]
            if was["parentUuid"] not in lines:
                # A lost row: the row before it in the file takes its place.
                was = {**was, "parentUuid": row["parentUuid"]}
            assert {**row, "sessionId": was.get("sessionId"), "forkedFrom": was.get("forkedFrom")} == {
                "forkedFrom": None,
                **was,
            }
        order = list(lines)
        assert [order.index(row["uuid"]) for row in named] == sorted(
            order.index(row["uuid"]) for row in named
        )
        copy = written(made, tmp_path)
        at = source.columns.parent[entry] if kind == Kind.USER else entry
        if kind == Kind.CUSTOM:
            # What the agent put in right behind comes along.
            wanted = sent(source, at)
            assert sent(copy, copy.leaf)[: len(wanted)] == wanted
        elif kind != Kind.COMPACTION:
            assert sent(copy, copy.leaf) == sent(source, at)
    assert ends or len(source.columns) < 30
    assert hashlib.sha256(path.read_bytes()).digest() == before


# --- ends at compactions, and behind what nobody said ---


def compacted_talk(tmp_path: Path) -> Transcript:
    """Two turns, a compaction with attachments before its summary, and a turn."""
    talk = Transcript(tmp_path)
    talk.turn("One?", "One.")
    talk.turn("Two?", "Two.")
    talk.row(
        "system",
        subtype="compact_boundary",
        content="compacted",
        parentUuid=None,
        logicalParentUuid=talk.tip,
        compactMetadata={"trigger": "auto", "preTokens": 900},
    )
    talk.attachment("Rules.")
    talk.prompt("So far: one and two.", isCompactSummary=True)
    talk.turn("Three?", "Three.")
    return talk


def notices(made: forking.Fork) -> list[str]:
    return [remark.text for remark in made.draft.remarks if remark.code == "notice"]


def test_an_end_right_before_a_summary_is_before_its_compaction(tmp_path: Path) -> None:
    source = compacted_talk(tmp_path).opened()
    at = source.columns.kind.find(Kind.COMPACTION)
    reply = source.columns.index(source.columns.id(prompt(source, "Two?") + 1))
    for entry in range(reply, at):
        made = draft(source, entry)
        rows = rows_of(made)
        assert rows[-1]["type"] == "assistant", entry
        assert not any(row.get("subtype") == "compact_boundary" for row in rows)
        copied = said(written(made, tmp_path / f"copy{entry}"))
        assert [text for _, text in copied] == ["One?", "One.", "Two?", "Two."]
        assert notices(made) == []


def test_an_end_at_a_summary_says_that_it_is_answered(tmp_path: Path) -> None:
    source = compacted_talk(tmp_path).opened()
    made = draft(source, source.columns.kind.find(Kind.COMPACTION))
    [text] = notices(made)
    assert "a summary" in text
    assert notices(draft(source, source.place)) == []


def test_a_reply_that_a_compaction_kept_needs_no_other(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    kept = [talk.prompt("Two?"), talk.reply("Two.")]
    talk.boundary("So far.", preservedMessages={"anchorUuid": "", "uuids": kept, "allUuids": kept})
    source = talk.opened()
    assert notices(draft(source, source.columns.kind.find(Kind.COMPACTION))) == []


def test_what_a_command_left_is_answered_by_some_versions_only(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("One?", "One.")
    talk.prompt("<command-name>/cost</command-name>")
    talk.prompt("<local-command-stdout>$1</local-command-stdout>")
    source = talk.opened()
    [text] = notices(draft(source, source.place))
    assert "2.1.330 does not" in text
    talk.prompt("<system-reminder>Mind the pears.</system-reminder>")
    source = talk.opened()
    [text] = notices(draft(source, source.place))
    assert "a notice" in text


def test_in_a_copy_of_a_compaction_the_end_is_behind_what_it_kept(tmp_path: Path) -> None:
    [path] = (DATA / "2.1.330").rglob("1dd894bd*.jsonl")
    copy = tmp_path / path.name
    shutil.copy(path, copy)
    source = opened(copy)
    at = source.columns.kind.find(Kind.COMPACTION)
    cut = forking.cuts(source, at)["claude"]
    assert not cut.legal
    assert cut.nearest > at


def test_a_label_from_elsewhere_is_no_rewrite(tmp_path: Path) -> None:
    """It is written to the sidecar: the agent's own file stays as long as it was."""
    transcript = Transcript(tmp_path)
    transcript.turn("How many pears?", "Seven.")
    session = transcript.opened()
    assert label(transcript.opened(), 0, "pears").entries
    assert session.changed_on_disk()
    assert only_grew(session)


def test_a_transcript_that_was_written_over_to_the_same_length_did_not_grow(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("How many pears?", "Seven.")
    session = transcript.opened()
    transcript.path.write_bytes(transcript.path.read_bytes().replace(b"Seven", b"Eight"))
    assert session.changed_on_disk()
    assert not only_grew(session)
