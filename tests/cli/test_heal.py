"""`heal`: a new session that a provider takes, from each shape that none takes; the old one stays."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.registry import agent_named
from leafward.branches.healing.healing import BEGINNING, healing
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.entries import Kind
from leafward.session.messages import message_text
from tests.acting import Acting, call, usage
from tests.broken_shapes import END, SHAPES, document, pdf, png, written
from tests.claude_transcript import IDS, Transcript
from tests.codex_rollout import Rollout
from tests.oracle.provider_rules import messages_errors, responses_errors
from tests.pi_file import HEADER, PiFile

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.mark.parametrize("name", SHAPES)
def test_each_shape_is_healed_and_its_healed_session_needs_nothing(
    run: Run, tmp_path: Path, name: str
) -> None:
    file = written(name, tmp_path / ".claude")
    before = file.path.read_bytes()
    preview = run("heal", file.path, "--cwd", tmp_path, "--dry-run", "--json").document
    assert {one["code"] for one in preview["changes"]} == SHAPES[name][1]
    assert not Path(preview["path"]).exists()
    made = run("heal", file.path, "--cwd", tmp_path, "--json").document
    assert made["changes"] == preview["changes"]
    assert file.path.read_bytes() == before
    again = run("heal", made["path"], "--json").document
    assert (again["changes"], again["path"]) == ([], None)
    with closing(agent_named("claude").open(Path(made["path"]))) as session:
        assert session.cwd == str(tmp_path)


def test_what_is_missing_is_said_and_nothing_is_made_up(run: Run, tmp_path: Path) -> None:
    file = written("one_of_two_open", tmp_path / ".claude")
    text = Path(run("heal", file.path, "--cwd", tmp_path, "--json").document["path"]).read_text("utf-8")
    assert text.count("No result is recorded for this call.") == 1
    assert '"7"' in text
    file = written("no_beginning", tmp_path / "other" / ".claude")
    made = run("heal", file.path, "--cwd", tmp_path, "--json").document["path"]
    assert BEGINNING in Path(made).read_text("utf-8")


def test_a_sub_agent_that_is_sent_with_its_parents_beginning_does_not_lack_one(
    run: Run, tmp_path: Path
) -> None:
    """A new session made from it does: there its parent's conversation is not sent."""
    made = Transcript(tmp_path, "agent-f1", folder=f"projects/-home-ada-orchard/{IDS[0]}/subagents")
    made.row("fork-context-ref", agentId="f1", parentSessionId=IDS[0], parentLastUuid=IDS[1], contextLength=2)
    made.defaults = {"isSidechain": True, "agentId": "f1", "sessionId": IDS[0]}
    made.reply("I dig.")
    assert "no-beginning" not in run("doctor", made.path).out
    healed = run("heal", made.path, "--cwd", tmp_path, "--dry-run", "--json").document
    assert [one["code"] for one in healed["changes"]] == ["no-beginning"]


@pytest.mark.parametrize("to", ["pi", "codex"])
def test_a_fork_of_empty_texts_needs_no_healing(run: Run, tmp_path: Path, to: str) -> None:
    transcript = Transcript(tmp_path / ".claude")
    transcript.prompt("look")
    transcript.reply("\n\n", "m1")
    transcript.call("Bash", "c1", "m1", command="ls")
    transcript.result("c1", "pear.py")
    transcript.reply("one file")
    document = run("fork", transcript.path, "leaf", "--to", to, "--cwd", tmp_path, "--json").document
    assert run("heal", document["path"], "--json").document["changes"] == []
    assert [
        one["code"]
        for one in run("heal", transcript.path, "--cwd", tmp_path, "--dry-run", "--json").document["changes"]
    ] == ["empty-text"]


def test_the_preview_names_each_change(run: Run, tmp_path: Path) -> None:
    file = written("large_image", tmp_path / ".claude")
    outcome = run("heal", file.path, "--cwd", tmp_path, "--dry-run")
    assert outcome.code == 0
    assert "would begin a session of Claude Code with 1 change" in outcome.out
    assert "5.3 MiB as base64, more than 5" in outcome.out
    assert "nothing was written" in outcome.err


@pytest.mark.parametrize("how", ["--dry-run", "--json"])
def test_a_preview_is_refused_as_healing_is_where_the_folder_is_gone(
    run: Run, tmp_path: Path, how: str
) -> None:
    gone = tmp_path / "gone"
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(gone)})
    file.user("plant a pear tree")
    file.said("let me look", call("bash", "b", command="plant"))
    file.user("never mind")
    refused = run("heal", file.path, how)
    assert (refused.code, refused.out) == (1, "")
    said = f"leafward: project folder not found: {gone}; --cwd FOLDER begins it in another folder\n"
    assert refused.err == said
    assert run("heal", file.path, "--cwd", tmp_path, "--dry-run").code == 0


def test_a_sound_session_is_left_alone(run: Run, tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    file.user("plant a pear tree")
    file.said("planted")
    outcome = run("heal", file.path)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("nothing to heal")
    assert [one.name for one in tmp_path.iterdir()] == ["s.jsonl"]


def test_pi_and_codex_are_healed_as_well(run: Run, tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    file.user("plant a pear tree")
    file.said("let me look", call("bash", "b", command="plant"))
    file.user("never mind")
    file.said("all right")
    rollout = Rollout(tmp_path / ".codex")
    rollout.turn("plant?", "planted.")
    rollout.item("function_call_output", call_id="lost", output="7")
    for path, code, agent in ((file.path, "open-call", "pi"), (rollout.path, "orphan-result", "codex")):
        made = run("heal", path, "--cwd", tmp_path, "--json").document
        assert [one["code"] for one in made["changes"]] == [code]
        with closing(agent_named(agent).open(Path(made["path"]))) as session:
            assert healing(session).changes == ()


def test_what_openai_refuses_of_a_call_is_healed_in_a_thread_of_codex(run: Run, tmp_path: Path) -> None:
    """A tool of a namespace has a dot between the two, which is no part of a name; what a model makes up has."""
    rollout = Rollout(tmp_path / ".codex")
    rollout.turn("plant?", "planted.")
    for call_id, fields in (
        ("one", {"name": "functions.exec\0", "arguments": "{}"}),
        ("two", {"name": "exec", "arguments": '{"cmd": "ls'}),
        ("three", {"name": "find", "namespace": "mcp__pears", "arguments": "{}"}),
    ):
        rollout.item("function_call", call_id=call_id, **fields)
        rollout.item("function_call_output", call_id=call_id, output="7")
    made = run("heal", rollout.path, "--cwd", tmp_path, "--json").document
    assert [one["code"] for one in made["changes"]] == ["tool-name", "arguments"]
    rows = [json.loads(line)["payload"] for line in Path(made["path"]).read_text("utf-8").splitlines()]
    items = [row for row in rows if row.get("type", "").startswith("function_call")]
    assert responses_errors({"input": items}) == []
    assert [one["name"] for one in items if "name" in one] == ["functions_exec", "exec", "mcp__pears_find"]
    assert json.loads(items[2]["arguments"]) == {"input": '{"cmd": "ls'}


def test_ids_of_other_providers_are_left_alone_where_they_are_their_own(run: Run, tmp_path: Path) -> None:
    """pi 1.5.2 joins two ids of OpenAI by `|` and takes them apart again; Kimi's have dots and colons."""
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    file.user("count the pears")
    file.said("let me look", call("bash", "call_1|fc_1", command="ls"), model="gpt-5")
    file.answered("call_1|fc_1", "bash")
    file.said("seven", model="gpt-5")
    assert run("heal", file.path, "--json").document["changes"] == []


def test_more_images_than_one_request_takes_are_left_alone_where_no_reply_is_anthropics(
    run: Run, tmp_path: Path
) -> None:
    rollout = Rollout(tmp_path / ".codex")
    image = {"type": "input_image", "image_url": f"data:image/png;base64,{png(2400, 2)}"}
    for _ in range(21):
        rollout.turn("what is this?", "a pear.")
        rollout.item("message", role="user", content=[image])
    assert run("heal", rollout.path, "--json").document["changes"] == []


def test_a_session_without_a_known_fault_is_written_anyway_where_that_is_wanted(
    run: Run, tmp_path: Path
) -> None:
    """Whether a provider accepts thinking that was signed for another request cannot be told from the session."""
    file = Transcript(tmp_path / ".claude")
    file.prompt("count the pears")
    file.block({"type": "thinking", "thinking": "seven", "signature": "c2lnbmVk"}, "msg_t", None)
    file.block({"type": "text", "text": "Seven."}, "msg_t", "end_turn")
    assert "--anyway" in run("heal", file.path, "--cwd", tmp_path).out
    assert run("heal", file.path, "--cwd", tmp_path, "--json").document["path"] is None
    made = run("heal", file.path, "--cwd", tmp_path, "--anyway", "--json").document
    assert [one["code"] for one in made["diagnostics"]] == ["thinking-left", "counts-left"]
    assert "c2lnbmVk" not in Path(made["path"]).read_text("utf-8")
    said = run("heal", file.path, "--cwd", tmp_path, "--anyway", "--dry-run")
    assert "would begin a session of Claude Code with 0 changes" in said.out
    assert "1 piece of thinking left out" in said.err


def test_a_document_that_is_sound_is_said_to_be_told_by_its_name(run: Run, tmp_path: Path) -> None:
    """In a healed session, and in a fork into another agent."""
    file = Transcript(tmp_path / ".claude")
    document(file, pdf())
    file.turn("and then?", "All right.")
    assert run("heal", file.path, "--json").document["changes"] == []
    made = run("heal", file.path, "--cwd", tmp_path, "--anyway", "--dry-run", "--json").document
    assert [one["code"] for one in made["diagnostics"]] == ["documents-left", "counts-left"]
    forked = run("fork", file.path, "leaf", "--to", "pi", "--cwd", tmp_path, "--dry-run", "--json").document
    assert "documents-left" in {one["code"] for one in forked["diagnostics"]}


def test_what_stands_before_a_gap_comes_first_in_the_new_session(run: Run, tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    for number, parent in enumerate((None, "never written", "nor was this")):
        file.user(f"plant row {number}", *((parent,) if parent else ()))
        file.said(f"planted row {number}")
    before = file.path.read_bytes()
    preview = run("heal", file.path, "--cwd", tmp_path, "--dry-run", "--json").document
    assert [one["code"] for one in preview["changes"]] == ["gap", "gap"]
    made = run("heal", file.path, "--cwd", tmp_path, "--json").document
    assert made["messages"] == 6
    with closing(agent_named("pi").open(Path(made["path"]))) as session:
        messages = [message_body(session, one) for one in context_at(session).messages]
    said = [message_text(one) for one in messages if one["role"] in ("user", "assistant")]
    assert said == [f"{word} row {number}" for number in range(3) for word in ("plant", "planted")]
    again = run("heal", made["path"], "--json").document
    assert (again["changes"], again["path"]) == ([], None)
    assert file.path.read_bytes() == before


def test_where_nothing_was_said_behind_a_gap_the_session_goes_on_before_it(run: Run, tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    file.user("plant a row")
    file.said("planted")
    file.entry("model_change", "never written", provider="local", modelId="scripted-2")
    assert (
        "`leafward heal` begins a session that goes on before it"
        in run("compact", file.path, "--dry-run").err
    )
    made = run("heal", file.path, "--cwd", tmp_path, "--json").document
    assert ([one["code"] for one in made["changes"]], made["messages"]) == (["gap"], 2)
    assert [one["text"] for one in run("context", made["path"], "--json").document["messages"]] == [
        "plant a row",
        "planted",
    ]


def test_gaps_that_lead_to_each_other_end(run: Run, tmp_path: Path) -> None:
    """Right before either of two gaps stands an entry whose path begins behind the other one."""
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    file.user("plant a row")
    file.said("planted", parent="00000005")
    file.user("water it", "never written")
    watered = file.said("watered")
    assert file.user("build a fence", "nor was this") == "00000005"
    file.said("it grows", parent=watered)
    made = run("heal", file.path, "--cwd", tmp_path, "--dry-run", "--json").document
    assert (made["messages"], [one["code"] for one in made["changes"]]) == (5, ["gap"])

    silent = PiFile(tmp_path / "silent.jsonl", {**HEADER, "cwd": str(tmp_path)})
    for parent in ("00000004", "never written", "?", "nor was this", "00000003"):
        silent.entry("model_change", parent, provider="local", modelId="scripted-2")
    assert run("heal", silent.path, "--dry-run").code == 1


@pytest.fixture
def small_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A configuration with a window that a dozen turns fill."""
    monkeypatch.setenv("LEAFWARD_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "config").mkdir(parents=True)
    (tmp_path / "home" / "config" / "config.toml").write_text("window = 6000\nkeep-recent = 2000\n")


def test_what_the_window_has_no_room_for_is_left_out_before_a_gap(
    run: Run, tmp_path: Path, small_window: None
) -> None:
    file = long_session(tmp_path / "s.jsonl", tmp_path)
    file.user("and now?", "never written")
    file.said("nothing")
    made = run("heal", file.path, "--cwd", tmp_path, "--json").document
    assert made["messages"] == 2
    assert "no room" in made["changes"][0]["text"]


THINKING = "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."


def refused(file: Transcript, said: str) -> None:
    """Row of Claude Code 2.1 after the provider refused a request."""
    message = {
        "id": "refused",
        "type": "message",
        "role": "assistant",
        "model": "<synthetic>",
        "content": [{"type": "text", "text": f"API Error: 400 {said}"}],
        "stop_reason": "stop_sequence",
    }
    file.row("assistant", isApiErrorMessage=True, error="invalid_request", message=message)


def test_thinking_that_the_provider_refused_is_a_change(run: Run, tmp_path: Path) -> None:
    """As in anthropics/claude-code #63463, #12743 and many more: signed, and refused for good."""
    file = Transcript(tmp_path / ".claude")
    file.prompt("count the pears")
    file.block({"type": "thinking", "thinking": "seven", "signature": "c2lnbmVk"}, "msg_t", None)
    file.block({"type": "text", "text": "Seven."}, "msg_t", "end_turn")
    assert run("heal", file.path, "--dry-run", "--json").document["changes"] == []
    file.prompt("and the plums")
    refused(file, f'{{"type":"invalid_request_error","message":"messages.1.content.0: {THINKING}"}}')
    made = run("heal", file.path, "--cwd", tmp_path, "--json").document
    assert [one["code"] for one in made["changes"]] == ["refused-thinking"]
    text = Path(made["path"]).read_text("utf-8")
    assert '"thinking"' not in text
    assert "API Error" not in text
    assert "and the plums" in text


def test_images_that_the_provider_refused_are_those_behind_the_last_reply(run: Run, tmp_path: Path) -> None:
    """As in anthropics/claude-code #47391, #25592, #53228: bytes that look right, and cannot be used."""
    file = Transcript(tmp_path / ".claude")

    def show() -> None:
        source = {"type": "base64", "media_type": "image/png", "data": png()}
        content = [{"type": "text", "text": "what is this?"}, {"type": "image", "source": source}]
        file.row("user", message={"role": "user", "content": content})

    show()
    file.reply("A pear.")
    show()
    refused(file, '{"type":"invalid_request_error","message":"Could not process image"}')
    file.prompt("go on")
    refused(file, '{"type":"invalid_request_error","message":"Could not process image"}')
    made = run("heal", file.path, "--cwd", tmp_path, "--json").document
    assert [one["code"] for one in made["changes"]] == ["image"]
    text = Path(made["path"]).read_text("utf-8")
    assert text.count('"image/png"') == 1
    assert text.count("the provider could not use it") == 1


def test_a_prompt_that_the_provider_called_too_long_is_compacted(run: Run, tmp_path: Path) -> None:
    file = long_session(tmp_path / "s.jsonl", tmp_path)
    file.user("and now?")
    error = '400 {"type":"invalid_request_error","message":"prompt is too long: 12100 tokens > 8000 maximum"}'
    message = {"role": "assistant", "content": [], "stopReason": "error", "errorMessage": error}
    file.entry("message", message={**message, "provider": "anthropic", "model": "claude-x"})
    made = run("heal", file.path, "--cwd", tmp_path, "--json").document
    (change,) = made["changes"]
    assert change["code"] == "over-window"
    assert "is over the window of 8,000" in change["text"]


def test_a_refusal_that_nothing_explains_is_said(run: Run, tmp_path: Path) -> None:
    file = Transcript(tmp_path / ".claude")
    file.turn("count the pears", "Seven.")
    file.prompt("and the plums")
    refused(file, '{"type":"invalid_request_error","message":"the moon is full"}')
    document = run("heal", file.path, "--json").document
    assert (document["changes"], document["path"]) == ([], None)
    assert [one["code"] for one in document["diagnostics"]] == ["refused"]
    assert "the moon is full" in run("heal", file.path).err
    # An answer ends it: what was refused before is past.
    file.turn("try again", "Two.")
    assert run("heal", file.path, "--json").document["diagnostics"] == []


def test_doctor_says_what_would_heal_it(run: Run, tmp_path: Path) -> None:
    file = written("open_call_in_the_middle", tmp_path / ".claude")
    document = run("doctor", file.path, "--json").document
    assert [one["code"] for one in document["heal"]] == ["open-call"]
    text = run("doctor", file.path).out
    assert f"(1 open-call)\nleafward heal {quote(str(file.path))} --dry-run" in text
    sound = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    sound.user("plant a pear tree")
    sound.said("planted")
    assert run("doctor", sound.path, "--json").document["heal"] == []
    assert run("doctor", sound.path).out == "nothing wrong\n"


@pytest.mark.parametrize("name", SHAPES)
def test_each_shape_breaks_the_providers_rules_and_its_healed_session_none(
    run: Run, tmp_path: Path, name: str
) -> None:
    """The rows sent as they stand there, a reply from its several rows."""
    file = written(name, tmp_path / ".claude")
    assert messages_errors({"messages": sent(file.path)}) != []
    made = run("heal", file.path, "--cwd", tmp_path, "--json").document["path"]
    assert messages_errors({"messages": sent(Path(made))}) == []


def sent(path: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    messages = [row["message"] for row in rows if row["type"] in ("user", "assistant")]
    return [{"role": one["role"], "content": one["content"]} for one in [*messages, PROMPT]]


PROMPT = {"role": "user", "content": END}


def long_session(path: Path, tmp_path: Path) -> Acting:
    """Some 12,000 tokens in twelve turns."""
    file = Acting(path, {**HEADER, "cwd": str(tmp_path)})
    for number in range(12):
        file.user(f"plant row {number}: never plant plums. " + "pear " * 100)
        file.said(f"planted row {number}. " + "apple pear quince " * 200)
    return file


def test_a_context_over_the_window_is_compacted_in_the_new_session(
    run: Run, tmp_path: Path, small_window: None
) -> None:
    file = long_session(tmp_path / "s.jsonl", tmp_path)
    before = file.path.read_bytes()
    preview = run("heal", file.path, "--cwd", tmp_path, "--dry-run", "--json").document
    assert [one["code"] for one in preview["changes"]] == ["over-window"]
    assert "is over the window of 6,000" in preview["changes"][0]["text"]
    made = run("heal", file.path, "--cwd", tmp_path, "--json").document
    text = Path(made["path"]).read_text("utf-8")
    assert "Summary of how this conversation went on before" in text
    assert "never plant plums" in text
    assert "planted row 11" in text
    assert '"planted row 0. ' not in text
    again = run("heal", made["path"], "--json").document
    assert (again["changes"], again["path"], again["diagnostics"]) == ([], None, [])
    assert file.path.read_bytes() == before


def test_an_assumed_window_is_only_said(run: Run, tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    for _ in range(2):
        file.user("plant " + "pears " * 80_000)
        file.said("planted")
    document = run("heal", file.path, "--json").document
    assert (document["changes"], document["path"]) == ([], None)
    (found,) = document["diagnostics"]
    assert found["code"] == "over-window"
    assert "over the window of 200,000 that is assumed" in found["text"]


def test_counts_are_kept_up_to_the_first_change(run: Run, tmp_path: Path) -> None:
    """The messages before a reply are unchanged, so its count is still that of its request."""
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    for number in range(2):
        file.user(f"plant row {number}")
        file.said(f"planted row {number}", tokens=usage(6_000 + 100 * number, output=20))
    file.user("water them")
    file.said("let me look", call("bash", "b", command="water"), tokens=usage(6_200, output=20))
    file.user("never mind")
    file.said("all right", tokens=usage(6_300, output=20))
    made = run("heal", file.path, "--cwd", tmp_path, "--json").document
    assert [one["code"] for one in made["changes"]] == ["open-call"]
    assert "counts-left" in [one["code"] for one in made["diagnostics"]]
    with closing(agent_named("pi").open(Path(made["path"]))) as session:
        context = context_at(session)
        counted = [
            (session.body(entry) or {})["message"]["usage"]["totalTokens"]
            for entry, kind in enumerate(session.columns.kind)
            if kind == Kind.ASSISTANT
        ]
        total, not_in_file = context.total, context.ledger.not_in_file
    assert counted == [6_000, 6_100, 6_200, 0]
    assert 6_200 < total < 6_300
    assert not_in_file > 5_900


def test_counts_behind_a_gap_are_not_kept(run: Run, tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    for number, parent in enumerate((None, "never written")):
        file.user(f"plant row {number}", *((parent,) if parent else ()))
        file.said(f"planted row {number}", tokens=usage(6_000 + 100 * number, output=20))
    made = run("heal", file.path, "--cwd", tmp_path, "--json").document
    with closing(agent_named("pi").open(Path(made["path"]))) as session:
        context = context_at(session)
        assert context.size.from_usage == 6_000
        assert 6_000 < context.total < 6_050
