"""`fork` as a command."""

from __future__ import annotations

import json
import os
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import pytest

from tests.acting import Acting, call
from tests.codex_rollout import Rollout
from tests.pi_file import HEADER, conversation

if TYPE_CHECKING:
    from tests.cli.conftest import Run

KEYS = {"agent", "path", "id", "cwd", "resume", "prompt"}


@pytest.fixture
def session(tmp_path: Path) -> Path:
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    file.user("plant a pear tree in src/pear.py")
    file.said(call("edit", "e", path="src/pear.py", oldText="a", newText="b"))
    file.answered("e", "edit")
    file.said("planted")
    file.user("water it")
    file.said("watered, and fed")
    return file.path


def test_a_fork_is_written_and_its_command_said(run: Run, session: Path) -> None:
    outcome = run("fork", session, "#4", "--json")
    assert outcome.code == 0
    document = outcome.document
    assert set(document) >= KEYS
    assert document["agent"] == "pi"
    assert document["prompt"] == "water it"
    assert document["cwd"] == str(session.parent)
    assert document["resume"] == ["pi", "--session", document["path"]]
    assert document["env"] == {}
    assert (document["entry"], document["end"]) == ("00000005", "00000004")
    with open(document["path"], "rb") as file:
        header, *lines = [json.loads(line) for line in file]
    assert header["id"] == document["id"]
    assert [line["id"] for line in lines] == [f"{number:08x}" for number in range(1, 5)]


def test_a_dry_run_writes_nothing(run: Run, session: Path) -> None:
    outcome = run("fork", session, "leaf", "--dry-run", "--json")
    assert outcome.code == 0
    assert outcome.document["kept"] == 6
    assert outcome.document["prompt"] is None
    assert os.listdir(session.parent) == ["s.jsonl"]


@pytest.mark.parametrize("to", ["pi", "codex", "claude", "opencode"])
@pytest.mark.parametrize("rewound", [False, True])
def test_where_nothing_was_said_there_is_nothing_to_fork(
    run: Run, tmp_path: Path, to: str, *, rewound: bool
) -> None:
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    if rewound:
        file.user("plant a pear tree")
        file.said("planted")
        file.entry("custom", None, customType="leafward.leaf", data={})
    outcome = run("fork", file.path, "leaf", "--to", to, "--dry-run")
    assert (outcome.code, outcome.err.count("\n")) == (1, 1)
    assert "nothing" in outcome.err


@pytest.mark.parametrize("to", ["codex", "claude", "opencode"])
def test_replies_that_were_broken_off_are_counted_where_they_are_left_out(
    run: Run, tmp_path: Path, to: str
) -> None:
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    file.user("plant a pear tree")
    file.said("half of it", stop="aborted")
    file.user("go on")
    file.said("", stop="error")
    file.user("and now")
    file.said("planted")
    outcome = run("fork", file.path, "leaf", "--to", to, "--cwd", tmp_path, "--dry-run", "--json")
    document = outcome.document
    assert (document["kept"], document["left"]) == (4, 2)
    said = {one["code"]: one["text"] for one in document["diagnostics"]}
    assert (
        said["broken-replies-left"]
        == "2 aborted or failed replies left out, 1 of them with text or tool calls"
    )


def test_what_is_put_in_is_shown_before_it_is_written(run: Run, session: Path) -> None:
    plain = run("fork", session, "#3", "--dry-run")
    assert "adds" not in plain.out
    options = ("--summary", "extractive", "--inject")
    shown = run("fork", session, "#3", *options, "--dry-run")
    assert "adds     a summary of the abandoned branch and the injected context, ~" in shown.out
    assert "water it" in shown.out.partition("## Goal")[2]
    document = run("fork", session, "#3", *options, "--json").document
    text = Path(document["path"]).read_text()
    assert json.dumps(document["injected"], ensure_ascii=False) in text


@pytest.mark.parametrize(
    ("to", "holds"),
    [
        ("pi", "6 entries, the history before the compaction included"),
        ("codex", "4 messages of the context, the summary included"),
    ],
)
def test_what_stands_before_a_compaction_is_said_to_come_along_or_not(
    run: Run, tmp_path: Path, to: str, holds: str
) -> None:
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    file.user("plant a pear tree")
    file.said("planted")
    kept = file.user("water it")
    file.entry("compaction", summary="A tree stands.", firstKeptEntryId=kept, tokensBefore=9)
    file.user("feed it")
    file.said("fed")
    assert f"holds    {holds}" in run("fork", file.path, "#5", "--to", to, "--cwd", tmp_path, "--dry-run").out


@pytest.mark.parametrize("to", ["pi", "codex", "claude", "opencode"])
def test_a_block_without_its_text_stops_no_conversion(run: Run, tmp_path: Path, to: str) -> None:
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    blocks = [{"type": "text"}, {"type": "text", "text": 5}, {"type": "text", "text": "plant a pear tree"}]
    file.entry("message", message={"role": "user", "content": blocks})
    file.entry("message", message={"role": "assistant", "content": blocks, "stopReason": "stop"})
    outcome = run("fork", file.path, "leaf", "--to", to, "--cwd", tmp_path, "--json")
    assert outcome.code == 0, outcome.err
    if to != "opencode":
        assert "plant a pear tree" in Path(outcome.document["path"]).read_text()


@pytest.mark.parametrize("to", ["codex", "claude", "opencode"])
def test_a_text_that_is_too_large_to_be_read_whole_is_said_to_be_cut(
    run: Run, tmp_path: Path, to: str
) -> None:
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    file.user("say much")
    file.said("word " * 8_000_000)
    file.user("say little")
    file.said("word")
    outcome = run("fork", file.path, "leaf", "--to", to, "--cwd", tmp_path)
    assert outcome.code == 0
    assert (
        "only the beginning of 1 message: a line of the source is too large to be read whole" in outcome.err
    )
    assert "of 1 message" not in run("fork", file.path, "leaf", "--to", "pi", "--cwd", tmp_path).err


def test_an_illegal_cut_says_where_instead(run: Run, session: Path) -> None:
    outcome = run("fork", session, "#1", "--json")
    assert outcome.code == 1
    assert outcome.out == ""
    assert "1 tool call has no result here" in outcome.err
    assert "the nearest entry that works is 00000003" in outcome.err
    outcome = run("fork", session, "#2", "--to", "claude")
    assert outcome.code == 1
    assert "Claude Code cannot go on at 00000003" in outcome.err
    assert os.listdir(session.parent) == ["s.jsonl"]


def test_an_unknown_agent_names_the_nearest(run: Run, session: Path) -> None:
    outcome = run("fork", session, "leaf", "--to", "codec")
    assert outcome.code == 2
    assert "did you mean codex?" in outcome.err
    assert "did you mean" not in run("fork", session, "leaf", "--to", "nope").err


def test_a_folder_that_is_gone_is_an_error_before_anything_is_written(run: Run, tmp_path: Path) -> None:
    path = conversation(tmp_path / "s.jsonl").path
    path.write_bytes(path.read_bytes().replace(str(HEADER["cwd"]).encode(), b"/gone/orchard"))
    outcome = run("fork", path, "leaf")
    assert outcome.code == 1
    assert "project folder not found: /gone/orchard" in outcome.err
    assert os.listdir(tmp_path) == ["s.jsonl"]
    outcome = run("fork", path, "leaf", "--dry-run", "--json")
    assert outcome.code == 0
    assert "cwd-missing" in {one["code"] for one in outcome.document["diagnostics"]}


def test_one_whose_folder_is_gone_begins_in_another(run: Run, tmp_path: Path) -> None:
    path = conversation(tmp_path / "s.jsonl").path
    path.write_bytes(path.read_bytes().replace(str(HEADER["cwd"]).encode(), b"/gone/orchard"))
    said = run("fork", path, "leaf").err
    assert "--cwd FOLDER" in said
    said = run("resume", path).err
    assert f"leafward fork {quote(str(path))} leaf --cwd FOLDER" in said
    assert "cwd-missing" in {one["code"] for one in run("resume", path, "--json").document["diagnostics"]}
    folder = tmp_path / "orchard"
    outcome = run("fork", path, "leaf", "--cwd", folder)
    assert (outcome.code, outcome.out) == (1, "")
    assert f"no folder {folder}" in outcome.err
    folder.mkdir()
    document = run("fork", path, "leaf", "--cwd", folder, "--json").document
    assert document["cwd"] == str(folder)
    assert [one["code"] for one in document["diagnostics"]] == ["other-folder", "inherited-usage"]
    again = run("resume", document["path"], "--json").document
    assert (again["cwd"], again["diagnostics"]) == (str(folder), [])


def test_what_is_left_behind_can_be_summarised_and_context_injected(run: Run, session: Path) -> None:
    outcome = run("fork", session, "#4", "--summary", "extractive", "--inject", "--json")
    assert outcome.code == 0
    with open(outcome.document["path"], "rb") as file:
        last = [json.loads(line) for line in file][-1]
    assert last["type"] == "custom_message"
    assert "water" in last["content"]
    assert "src/pear.py" in last["content"]


def test_context_beside_a_summary_of_nothing_is_no_summary(run: Run, session: Path) -> None:
    outcome = run("fork", session, "leaf", "--summary", "extractive", "--inject", "--json")
    assert outcome.code == 0
    with open(outcome.document["path"], "rb") as file:
        added = [line for line in map(json.loads, file) if line["type"] == "custom_message"]
    assert [line["customType"] for line in added] == ["leafward.injection"]


def test_to_another_agent_and_back(run: Run, session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = session.parent / ".codex"
    monkeypatch.setenv("CODEX_HOME", str(home))
    there = run("fork", session, "leaf", "--to", "codex", "--json")
    assert there.code == 0
    assert there.document["path"].startswith(str(home))
    assert there.document["resume"] == ["codex", "resume", "-C", str(session.parent), there.document["id"]]
    back = run("fork", there.document["path"], "leaf", "--to", "pi", "--json")
    assert back.code == 0
    said = run("context", back.document["path"], "--json").document["messages"]
    first = run("context", session, "--json").document["messages"]
    assert [(one["role"], one["text"]) for one in said] == [(one["role"], one["text"]) for one in first]


def test_options_that_do_not_go_together(run: Run, session: Path) -> None:
    assert run("fork", session, "leaf", "--run", "--json").code == 2
    assert run("fork", session, "leaf", "--model", "x").code == 2


def test_resume_names_a_store_that_is_not_the_usual_one(run: Run, tmp_path: Path) -> None:
    rollout = Rollout(tmp_path / "else where" / ".codex", cwd=str(tmp_path))
    rollout.turn("one", "first")
    outcome = run("resume", rollout.path, "--json")
    assert outcome.document["env"] == {"CODEX_HOME": str(tmp_path / "else where" / ".codex")}
    said = run("resume", rollout.path, "--print").out
    assert said.startswith(
        f"cd -- {quote(str(tmp_path))} && CODEX_HOME='{tmp_path}/else where/.codex' codex resume -C "
    )


def test_the_new_session_hangs_under_its_source(run: Run, session: Path) -> None:
    made = run("fork", session, "leaf", "--json").document
    listed = run("ls", session.parent, "--json").document["sessions"]
    (child,) = [one for one in listed if one["id"] == made["id"]]
    assert child["relation"] == "fork"
    assert child["parent"] is not None


def test_a_session_told_to_another_agent_hangs_under_its_source_too(
    run: Run, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = session.parent / ".codex"
    monkeypatch.setenv("CODEX_HOME", str(home))
    made = run("fork", session, "leaf", "--to", "codex", "--json").document
    listed = run("ls", session.parent, "--json").document["sessions"]
    found = {one["id"]: one for one in listed}
    assert found[made["id"]]["relation"] == "fork"
    assert found[made["id"]]["parent"] in (str(session), HEADER["id"])
