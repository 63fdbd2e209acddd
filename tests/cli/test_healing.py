"""`heal`: a new session that a provider takes, from each shape that none takes; the old one stays."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward import agents
from leafward.branches.healing import BEGINNING, healing
from tests.acting import Acting, call
from tests.broken_shapes import END, SHAPES, document, pdf, png, written
from tests.claude_transcript import Transcript
from tests.codex_rollout import Rollout
from tests.oracle.provider_rules import messages_errors, responses_errors
from tests.pi_file import HEADER

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
    with closing(agents.agent_named("claude").open(Path(made["path"]))) as session:
        assert session.cwd == str(tmp_path)


def test_what_is_missing_is_said_and_nothing_is_made_up(run: Run, tmp_path: Path) -> None:
    file = written("one_of_two_open", tmp_path / ".claude")
    text = Path(run("heal", file.path, "--cwd", tmp_path, "--json").document["path"]).read_text("utf-8")
    assert text.count("No result is recorded for this call.") == 1
    assert '"7"' in text
    file = written("no_beginning", tmp_path / "other" / ".claude")
    made = run("heal", file.path, "--cwd", tmp_path, "--json").document["path"]
    assert BEGINNING in Path(made).read_text("utf-8")


def test_the_preview_names_each_change(run: Run, tmp_path: Path) -> None:
    file = written("large_image", tmp_path / ".claude")
    outcome = run("heal", file.path, "--cwd", tmp_path, "--dry-run")
    assert outcome.code == 0
    assert "would begin a session of Claude Code with 1 change" in outcome.out
    assert "5.3 MiB as base64, more than 5" in outcome.out
    assert "nothing was written" in outcome.err


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
        with closing(agents.agent_named(agent).open(Path(made["path"]))) as session:
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
    """What a provider says of thinking that was signed for another request cannot be told from the session."""
    file = Transcript(tmp_path / ".claude")
    file.prompt("count the pears")
    file.block({"type": "thinking", "thinking": "seven", "signature": "c2lnbmVk"}, "msg_t", None)
    file.block({"type": "text", "text": "Seven."}, "msg_t", "end_turn")
    assert "--anyway" in run("heal", file.path, "--cwd", tmp_path).out
    assert run("heal", file.path, "--cwd", tmp_path, "--json").document["path"] is None
    made = run("heal", file.path, "--cwd", tmp_path, "--anyway", "--json").document
    assert [one["code"] for one in made["diagnostics"]] == ["thinking-left"]
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
    assert [one["code"] for one in made["diagnostics"]] == ["documents-left"]
    forked = run("fork", file.path, "leaf", "--to", "pi", "--cwd", tmp_path, "--dry-run", "--json").document
    assert "documents-left" in {one["code"] for one in forked["diagnostics"]}


def test_doctor_says_what_would_heal_it(run: Run, tmp_path: Path) -> None:
    file = written("open_call_in_the_middle", tmp_path / ".claude")
    document = run("doctor", file.path, "--json").document
    assert [one["code"] for one in document["heal"]] == ["open-call"]
    text = run("doctor", file.path).out
    assert f"1 open-call); leafward heal {file.session} --dry-run" in text
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
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEAFWARD_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "config").mkdir(parents=True)
    (tmp_path / "home" / "config" / "config.toml").write_text("window = 6000\nkeep-recent = 2000\n")
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
