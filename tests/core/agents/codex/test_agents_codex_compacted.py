"""Threads of Codex: what a compaction leaves, what calls did, what came with a message."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.codex.entries.compactions import encrypted_size
from leafward.agents.recognition import agent_of
from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.draft.replacement import carried_text
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.compaction.stored_summary.summary_comparison import compare_summaries, summary_at
from leafward.compaction.xray.alignment import Link
from leafward.compaction.xray.xray import xray_of
from leafward.context.estimators import Estimator, estimated_tokens
from leafward.context.model_context import context_at
from leafward.files.working_set import working_set
from leafward.session.entries import Kind
from leafward.session.messages import SUMMARY_BASIS, SummaryBasis, encrypted_tokens, messages_of
from leafward.session.tokens import SUMMARY_TOKENS
from leafward.summaries.fates.report import Status, survival_of
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.survival.spans import replaced_by
from tests.codex_rollout import Rollout
from tests.foreign_sessions import entries_by_text, problems, said
from tests.surroundings import CORPORA, needs_corpora

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.context.model_context import Context


def message(text: str, role: str = "user", **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}], **more}


def test_a_message_cut_to_fit_is_an_entry_of_its_own(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("long " * 100, "A")
    rollout.turn("short", "B")
    cut = "long …90 tokens truncated…long "
    rollout.line("compacted", message="S", replacement_history=[message(cut), message("short"), message("S")])
    rollout.turn("next", "C")
    session = rollout.opened()
    assert said(session)[:4] == [
        ("custom", cut),
        ("user", "short"),
        ("compactionSummary", "S"),
        ("user", "next"),
    ]
    literal = session.columns.parent[session.columns.kind.index(Kind.COMPACTION)]
    assert (session.body(literal) or {})["injected"] is True
    rollout.line("compacted", message="T", replacement_history=[message(cut), message("next"), message("T")])
    assert said(rollout.opened()) == [("custom", cut), ("user", "next"), ("compactionSummary", "T")]


def test_without_history_the_newest_messages_within_the_budget_are_kept(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.said("<environment_context>x</environment_context>")
    rollout.turn("first", "A")
    rollout.turn("m" * 40_000, "B")
    rollout.turn("n" * 60_000, "C")
    rollout.line("compacted", message="the summary")
    session = rollout.opened()
    roles = said(session)
    assert [role for role, _ in roles] == ["custom", "custom", "user", "compactionSummary"]
    assert roles[2][1] == "n" * 60_000
    assert roles[1][1] == "m" * 10_000 + "…5000 tokens truncated…" + "m" * 10_000
    assert roles[3][1] == "the summary"


def test_without_history_the_messages_of_the_developer_come_first(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path, cli_version="0.101.0")
    rollout.said("<permissions instructions>all</permissions instructions>", "developer")
    rollout.said("<environment_context>here</environment_context>")
    rollout.said("<collaboration_mode>default</collaboration_mode>", "developer")
    rollout.turn("one", "A")
    assert [text for _, text in said(rollout.opened())][1].startswith("<environment")
    rollout.line("compacted", message="S")
    beginnings = [text.partition(">")[0] for _, text in said(rollout.opened())]
    assert beginnings == [
        "<permissions instructions",
        "<collaboration_mode",
        "<environment_context",
        "one",
        "S",
    ]


@pytest.mark.parametrize("resumed", [True, False], ids=["by a newer version", "by the same version"])
def test_a_newer_version_leaves_out_the_context_ahead_of_a_summary_without_history(
    tmp_path: Path, *, resumed: bool
) -> None:
    """0.116 to 0.171 go on in such a thread with the summary first, and put their own context ahead of the next prompt."""
    rollout = Rollout(tmp_path, cli_version="0.80.0")
    rollout.said("<environment_context>old</environment_context>")
    rollout.turn("one", "A")
    rollout.line("compacted", message="S")
    rollout.turn("two", "B")
    assert [text for _, text in said(rollout.opened())] == [
        "<environment_context>old</environment_context>", "one", "S", "two", "B",
    ]  # fmt: skip
    if resumed:
        rollout.event("task_started", turn_id="new")
    rollout.said("<permissions instructions>all</permissions instructions>", "developer")
    rollout.said("<environment_context>new</environment_context>")
    rollout.turn("three", "C")
    session = rollout.opened()
    context = [text for _, text in said(session)]
    assert ("<environment_context>old</environment_context>" in context) is not resumed
    assert context[-3:] == ["<environment_context>new</environment_context>", "three", "C"]
    assert session.columns.kind.count(Kind.CONTEXT_EDIT) == resumed
    assert problems(session) == {}


def test_a_review_is_kept_as_what_it_found(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path, cli_version="0.101.0")
    rollout.turn("one", "A")
    rollout.event("entered_review_mode")
    rollout.event("user_message", message="Review the changes")
    rollout.said("<user_action>all is well</user_action>")
    rollout.event("exited_review_mode")
    rollout.turn("two", "B")
    rollout.line("compacted", message="S")
    assert [text for _, text in said(rollout.opened())] == [
        "one",
        "<user_action>all is well</user_action>",
        "two",
        "S",
    ]


def test_what_a_review_found_is_the_message_that_a_compaction_repeats_without_its_id(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path, cli_version="0.142.0")
    rollout.turn("one", "A")
    found = "<user_action>all is well</user_action>"
    rollout.line("response_item", **message(found), id="review_rollout_user")
    rollout.turn("two", "B")
    history = [message(text) for text in ("one", found, "two", "S")]
    rollout.line("compacted", message="S", replacement_history=history)
    session = rollout.opened()
    assert [text for _, text in said(session)] == ["one", found, "two", "S"]
    assert bytes(session.columns.kind).count(Kind.INJECTED) == 1


def test_an_encrypted_summary_shows_what_was_kept_in_plain_text(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("a", "A")
    rollout.line(
        "compacted",
        message="",
        replacement_history=[message("a"), {"type": "compaction", "encrypted_content": "x" * 77}],
        retained_context={
            "user_messages": [{"order": 0, "text": "a"}],
            "assistant_messages": [{"order": 1, "text": "A"}],
        },
    )
    session = rollout.opened()
    role, text = said(session)[-1]
    assert role == "compactionSummary"
    assert "77 characters that only the provider can read" in text
    assert text.endswith("user: a\nassistant: A")
    body = session.body(session.columns.kind.index(Kind.COMPACTION)) or {}
    assert body["encrypted"] is True


def test_no_fact_is_taken_from_the_line_that_stands_for_an_encrypted_summary(tmp_path: Path) -> None:
    """It fails where `8 characters` and its tokens are facts that the other branch lacks."""
    rollout = Rollout(tmp_path)
    context = encrypted(rollout, "x" * 8_000)
    found = compare_summaries(summary_at(context.session, context.compaction), "")
    assert (found.only_before, found.only_after) == ((), ())


def encrypted(rollout: Rollout, content: str, counted: int = 0) -> Context:
    """The context right behind a compaction with an encrypted summary; `counted` is what Codex counted there."""
    rollout.turn("a", "A")
    summary = {"type": "compaction", "encrypted_content": content}
    rollout.line("compacted", message="", replacement_history=[message("a"), summary])
    if counted:
        last = {"input_tokens": 0, "output_tokens": 0, "total_tokens": counted}
        rollout.event("token_count", info={"last_token_usage": last})
    rollout.event("context_compacted")
    session = rollout.opened()
    return context_at(session, session.columns.kind.index(Kind.COMPACTION))


def test_an_encrypted_summary_is_as_large_as_what_is_encrypted(tmp_path: Path) -> None:
    found = encrypted(Rollout(tmp_path), "x" * 8_000)
    assert found.contents.summary == (8_000 * 3 // 4 - 650) // 4 + 1 == 1_338
    assert found.summary_basis is SummaryBasis.LENGTH
    text = said(found.session)[-1][1]
    assert "; ~1,338 tokens, estimated from its length." in text


def test_xray_and_plan_count_it_as_the_context_does(tmp_path: Path) -> None:
    found = encrypted(Rollout(tmp_path), "x" * 8_000)
    session = found.session
    xray = xray_of(session, found.compaction)
    assert sum(amount.after for amount in xray.ledger) == xray.after == found.total
    assert next(amount.after for amount in xray.ledger if amount.link is Link.REPLACED) == 1_338
    planned = plan(measure(session, session.leaf), PlanSettings())
    assert planned.tokens.previous_summary == 1_338


def test_in_the_xray_what_is_sent_ahead_of_the_summary_stands_there(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("asked", "A")
    rollout.line("compacted", message="S", replacement_history=[message("asked"), message("S")])
    session = rollout.opened()
    links = [row.link for row in xray_of(session, session.columns.kind.index(Kind.COMPACTION)).rows]
    assert links == [Link.KEPT, Link.REPLACED]


def test_one_that_was_replaced_by_a_word_is_what_codex_counted_of_it(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path, base_instructions={"text": "You are Codex. " * 80})
    item = len(json.dumps(message("a"), separators=(",", ":")))
    counted = 300 + -(-item // 4) + 1_382
    found = encrypted(rollout, "REDACTED", counted)
    assert (found.contents.summary, found.summary_basis) == (1_382, SummaryBasis.COUNT)
    assert "~1,382 tokens, from the agent's count after the compaction." in said(found.session)[-1][1]


@pytest.mark.parametrize("counted", [0, 3, 10**11, 10**30])
def test_of_one_of_which_nothing_tells_the_size_it_is_unknown(tmp_path: Path, counted: int) -> None:
    rollout = Rollout(tmp_path, base_instructions={"text": "You are Codex. " * 80})
    found = encrypted(rollout, "REDACTED", counted)
    assert (found.contents.summary, found.summary_basis) == (0, SummaryBasis.UNKNOWN)
    assert "how many tokens that are is unknown." in said(found.session)[-1][1]


def test_where_an_item_beside_it_is_nested_too_deep_the_size_is_unknown() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    summary = {"type": "compaction", "encrypted_content": "REDACTED"}
    payload = {"replacement_history": [{"type": "message", "content": deep}, summary]}
    assert encrypted_size(payload, 1, "You are Codex.", 9_000).basis is SummaryBasis.UNKNOWN


@pytest.mark.parametrize("size", [-5, 2**31, 2**62])
def test_a_size_that_no_summary_can_have_is_none(size: int) -> None:
    body: dict[str, Any] = {
        "summary": "eight of",
        "encrypted": True,
        SUMMARY_BASIS: "length",
        SUMMARY_TOKENS: size,
    }
    assert encrypted_tokens(body) is None
    for sent in (*messages_of(body, Kind.COMPACTION), {"role": "branchSummary", **body}):
        assert {estimated_tokens(sent, estimator) for estimator in (Estimator.PI, Estimator.CODEX)} == {2}


@needs_corpora
def test_the_summary_of_a_real_session_is_what_codex_counted_of_it() -> None:
    """Codex took the context to be 15,563 tokens then; its prompt and the other items are 14,181 of them."""
    path = CORPORA / "real/codex/jdx__mise__49_42d2638f78.jsonl"
    with closing(agent_of(path).open(path)) as session:
        found = context_at(session, session.columns.kind.index(Kind.COMPACTION))
        assert found.ledger.summary == 15_563 - 14_181
        assert found.total == found.ledger.total == 19_796, "as the next request was counted"


def test_of_an_encrypted_summary_nothing_is_said_to_be_lost(tmp_path: Path) -> None:
    found = []
    for kind in ("message", "compaction"):
        rollout = Rollout(tmp_path / kind)
        rollout.turn("never touch the file src/orchard.py", "The port is 8123, as src/pears.py says.")
        item = message("a summary") if kind == "message" else {"type": kind, "encrypted_content": "x" * 77}
        rollout.line("compacted", message="", replacement_history=[message("go on"), item])
        session = rollout.opened()
        found.append(survival_of(session, session.columns.kind.index(Kind.COMPACTION)))
    readable, encrypted = found
    assert readable.lost > 1
    assert not readable.unreadable
    assert encrypted.unreadable
    assert encrypted.lost == 0


def test_a_rollback_past_a_compaction_is_a_branch_of_what_it_replaced_which_is_not_sent(
    tmp_path: Path,
) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("a", "A")
    rollout.turn("b", "B")
    rollout.line("compacted", message="S", replacement_history=[message("a"), message("S")])
    rollout.turn("c", "C")
    rollout.event("thread_rolled_back", num_turns=2)
    rollout.turn("d", "D")
    session = rollout.opened()
    assert said(session) == [("user", "d"), ("assistant", "D")]
    places = entries_by_text(session)
    assert session.tree.is_ancestor(places["A"], session.leaf)
    assert not session.tree.is_ancestor(places["B"], session.leaf)


def test_only_calls_that_went_well_count(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch\n"
    rollout = Rollout(tmp_path)
    rollout.prompt("go")
    rollout.call("exec_command", {"cmd": "cat a.txt"}, "Process exited with code 0\nOutput:\nx", "1")
    rollout.call("exec_command", {"cmd": "cat b.txt"}, "Process exited with code 1\nOutput:\n", "2")
    rollout.call(
        "shell",
        {"command": ["bash", "-lc", "sed -n 1,5p c.txt"], "workdir": "sub"},
        json.dumps({"output": "x", "metadata": {"exit_code": 0}}),
        "3",
    )
    rollout.call("exec_command", {"cmd": "cat d.txt | wc"}, "Process exited with code 0", "4")
    rollout.item(
        "custom_tool_call", name="apply_patch", input=patch.format("e.txt"), call_id="5", status="completed"
    )
    rollout.item(
        "custom_tool_call_output",
        call_id="5",
        output=json.dumps({"output": "Success", "metadata": {"exit_code": 0}}),
    )
    rollout.call(
        "apply_patch", {"input": patch.format("f.txt")}, "Success. Updated the following files:", "6"
    )
    rollout.call("exec_command", {"cmd": f"apply_patch <<'X'\n{patch.format('g.txt')}X"}, "Exit code: 0", "7")
    rollout.item("custom_tool_call", name="apply_patch", input=patch.format("h.txt"), call_id="8")
    rollout.event("patch_apply_end", call_id="8", success=False, changes={})
    rollout.item("custom_tool_call_output", call_id="8", output="verification failed")
    rollout.call("view_image", {"path": "i.png"}, "attached", "9")
    rollout.item(
        "local_shell_call",
        call_id="10",
        status="completed",
        action={"type": "exec", "command": ["cat", "j.txt"]},
    )
    rollout.item("function_call_output", call_id="10", output="x")
    found = working_set(rollout.opened())
    assert [use.path for use in found.read] == ["a.txt", "i.png", "j.txt", "sub/c.txt"]
    assert [use.path for use in found.modified] == ["e.txt", "f.txt", "g.txt"]


def test_what_codex_says_a_command_printed_counts(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.prompt("go")
    rollout.item(
        "function_call", name="exec_command", arguments=json.dumps({"cmd": "ls && cat a.txt"}), call_id="1"
    )
    parsed = [
        {"type": "list_files", "cmd": "ls"},
        {"type": "read", "cmd": "cat a.txt", "name": "a.txt", "path": "a.txt"},
    ]
    rollout.event(
        "exec_command_end", call_id="1", exit_code=0, parsed_cmd=parsed, cwd="/home/ada/orchard/sub"
    )
    rollout.item("function_call_output", call_id="1", output="x")
    assert [use.path for use in working_set(rollout.opened()).read] == ["sub/a.txt"]


def test_calls_and_results_say_which_tool_and_how_it_ended(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.prompt("go")
    for call in "12":
        rollout.item("function_call", name="exec_command", arguments='{"cmd":"false"}', call_id=call)
    for call in "21":
        rollout.event("exec_command_end", call_id=call, exit_code=int(call))
        rollout.item("function_call_output", call_id=call, output="x")
    session = rollout.opened()
    assert session.columns.kind.count(Kind.ASSISTANT) == 1
    results = [
        session.body(index) or {}
        for index, kind in enumerate(session.columns.kind)
        if kind == Kind.TOOL_RESULT
    ]
    assert [(body["message"]["toolCallId"], body["message"]["toolName"], body["message"]["exitCode"], body["message"]["isError"]) for body in results] == [("2", "exec_command", 2, True), ("1", "exec_command", 1, True)]  # fmt: skip
    assert not problems(session)


def test_images_keep_their_data_and_lose_their_frame(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    content = [
        {"type": "input_text", "text": '<image name=[Image #1] path="/x.png">'},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "what is it"},
    ]
    rollout.item("message", role="user", content=content)
    rollout.event("user_message", message="what is it")
    session = rollout.opened()
    index = session.columns.kind.index(Kind.USER)
    assert (session.body(index) or {})["message"]["content"] == [
        {"type": "image", "data": "AAAA", "mimeType": "image/png", "name": 'name=[Image #1] path="/x.png"'},
        {"type": "text", "text": "what is it"},
    ]


def test_of_an_encrypted_summary_only_what_can_be_read_beside_it_is_carried_on(tmp_path: Path) -> None:
    """The line that says how large it is are our words: they are no summary, in the next one either."""
    rollout = Rollout(tmp_path)
    rollout.turn("a", "A")
    summary = {"type": "compaction", "encrypted_content": "x" * 8_000}
    kept = {"user_messages": [{"order": 0, "text": "Never prune the pear in August."}]}
    rollout.line("compacted", message="", replacement_history=[message("a"), summary], retained_context=kept)
    rollout.turn("Prune the apple in src/apple.py, please, and say when it is done.", "It is pruned.")
    rollout.line("compacted", message="The apple is pruned.", replacement_history=[message("b")])
    session = rollout.opened()
    first, second = (at for at, kind in enumerate(session.columns.kind) if kind == Kind.COMPACTION)
    for compaction in (first, second):
        assert not any("encrypted" in fate.fact.text for fate in survival_of(session, compaction).fates)
        assert not any(fate.status is Status.INVENTED for fate in survival_of(session, compaction).fates)
    assert not any("1,338" in fate.fact.text for fate in survival_of(session, second).fates)
    words = replaced_by(session, second).previous
    assert "is encrypted" not in words
    assert "Never prune the pear in August." in words
    planned = plan(measure(session, session.columns.parent[second]), PlanSettings(keep_recent=0))
    assert carried_text(session, planned) == words
    assert "is encrypted" not in draft(session, planned, Extractive()).text
