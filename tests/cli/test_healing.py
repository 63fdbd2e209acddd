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
from tests.broken_shapes import END, SHAPES, written
from tests.codex_rollout import Rollout
from tests.oracle.provider_rules import messages_errors
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
