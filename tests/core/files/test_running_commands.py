"""Commands that run beside others or still run at their result, formatters, and a `cd` that may fail: nothing stale is called exact."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from leafward.files.file_replay.knowledge import Certainty
from leafward.files.file_replay.remarks import StepRemark
from leafward.files.file_replay.replay import Rebuilt, replay
from leafward.files.file_request import BulkCommand
from leafward.files.opaque_calls import opaque_calls
from leafward.files.running_commands import process_in
from leafward.files.shell import formatters
from leafward.files.shell.effects import effects
from tests.acting import Acting, call, reading
from tests.claude_transcript import Transcript
from tests.claude_transcript import opened as opened_claude
from tests.codex_rollout import Rollout
from tests.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path

UNKNOWN, EXACT = Certainty.UNKNOWN, Certainty.EXACT
_WRITES = """#!/bin/sh
some=
for one; do if [ -f "$one" ]; then echo formatted >> "$one"; some=1; fi; done
[ "$some" ] || find . -name '*.py' -exec sh -c 'echo formatted >> "$1"' x {} \\;
"""
"""Changes the files that it is given; without any all below the folder."""


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workbench:
    """Two known files, and formatters that change what they are given and everything below the folder."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("black", "prettier", "npx", "gofmt", "eslint", "ruff", "cargo", "npm", "make", "python3"):
        (tools / name).write_text(_WRITES, "utf-8")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    made = Workbench(tmp_path / "s.jsonl", tmp_path / "work", 1)
    for name in ("a.py", "src/b.py"):
        made.write(name, f"{name}\n")
    return made


def after(bench: Workbench, script: str) -> dict[str, Rebuilt]:
    """What is known of the two files behind a command; what is called exact lies there."""
    bench.run(script)
    bench.reply("Done.")
    with reading(bench.file.path) as session:
        found = {name: replay(session).rebuilt(name) for name in ("a.py", "src/b.py")}
    for name, one in found.items():
        if one.certainty is EXACT:
            assert one.text == bench.text(name), (script, name)
    return found


@pytest.mark.parametrize(
    "script",
    [
        "cd nowhere; echo x > a.py",
        "cd nowhere || echo x > a.py",
        "cd nowhere\necho x > a.py",
        "cd nowhere 2>/dev/null; echo x > a.py",
        "(cd nowhere; echo x > a.py)",
        "pushd nowhere; echo x > a.py",
        "cd nowhere; rm a.py",
        "cd nowhere; cp src/b.py a.py; true",
        "bash -c 'cd nowhere; echo x > a.py'",
        "cd nowhere; sed -i s/a/b/ a.py",
        "cd nowhere; true || exit 1; echo x > a.py",
        "cd src; cd nowhere; echo x > ../a.py",
    ],
)
def test_where_a_cd_failed_the_file_of_the_folder_before_it_is_not_known(
    bench: Workbench, script: str
) -> None:
    found = after(bench, script)["a.py"]
    assert found.certainty is UNKNOWN
    assert found.remarks[-1][1] is StepRemark.BY_CD


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("cd src; echo x > ../a.py", "x\n"),
        ("cd src; echo x > c.py", "a.py\n"),
        ("cd nowhere && echo x > a.py; true", "a.py\n"),
        ("cd src || exit 1; echo x > c.py", "a.py\n"),
        ("cd src && true; cd ..; echo x > a.py", "x\n"),
        ("cd nowhere & echo x > a.py", "x\n"),
        ("cd src && true || exit 1; echo x > c.py", "a.py\n"),
        ("(cd src; ls); echo x > a.py", "x\n"),
    ],
)
def test_where_it_did_not_fail_all_is_known(bench: Workbench, script: str, text: str) -> None:
    assert after(bench, script)["a.py"].text == text


@pytest.mark.parametrize(
    ("script", "both"),
    [
        ("black .", True),
        ("black -q a.py", False),
        ("cd src && black ..", True),
        ("python3 -m black --line-length 100 .", True),
        ("prettier --write a.py", False),
        ("npx --yes prettier@3 --write .", True),
        ("gofmt -w a.py", False),
        ("eslint --fix .", True),
        ("ruff format", True),
        ("ruff check --fix --select I", True),
        ("cargo fmt --all", True),
        ("npm run format:all", True),
        ("make fmt", True),
        ("black --config x.toml", True),
    ],
)
def test_what_a_formatter_left_is_not_known(bench: Workbench, script: str, both: bool) -> None:
    found = after(bench, script)
    assert found["a.py"].certainty is UNKNOWN
    assert found["a.py"].remarks[-1][1] is StepRemark.BY_FORMATTER
    if both:
        assert found["src/b.py"].certainty is UNKNOWN


def test_each_formatter_has_a_sign() -> None:
    asked = {" ".join((name, options[0])) for name, options in formatters._ASKED.items()}
    asked |= {" ".join((*verb, *options[:1])) for verb, options in formatters._VERBS.items()}
    for script in asked | {*formatters._ALWAYS}:
        assert [one.by for one in effects(script)] == [BulkCommand.FORMATTER], script


@pytest.mark.parametrize(
    "script",
    [
        "black --check .",
        "prettier --check .",
        "prettier a.py",
        "gofmt -l .",
        "eslint .",
        "ruff check .",
        "ruff format --diff",
        "cargo fmt -- --check",
        "npm run build",
        "npm run format:check",
        "make test",
        "echo black .",
    ],
)
def test_what_only_checks_is_no_formatter(script: str) -> None:
    assert [one.by for one in effects(script)] == []


@pytest.mark.parametrize(
    "script",
    ["(sleep 0.3; echo x > a.py) &", "sleep 0.3 && echo x > a.py & true", "{ sleep 0.3; rm a.py; } & echo"],
)
def test_what_runs_in_the_background_changes_a_file_at_any_moment(bench: Workbench, script: str) -> None:
    assert after(bench, f"({script}) > /dev/null 2>&1")["a.py"].certainty is UNKNOWN
    # What is read meanwhile may be changed right behind it.
    bench.read("a.py")
    bench.reply("Read.")
    with reading(bench.file.path) as session:
        assert replay(session).rebuilt("a.py").certainty is UNKNOWN
        assert replay(session).rebuilt("src/b.py").certainty is EXACT


def test_behind_wait_what_is_read_is_known(bench: Workbench) -> None:
    assert after(bench, "(sleep 0.1; echo x > a.py) & wait")["a.py"].certainty is UNKNOWN
    bench.read("a.py")
    bench.reply("Read.")
    with reading(bench.file.path) as session:
        assert replay(session).rebuilt("a.py").text == "x\n"


@pytest.mark.parametrize(
    "text",
    [
        "Command running in background with ID: b1x. Output is being written to: /tmp/x",
        "Command was manually backgrounded by user with ID: b1x. Output is being written to: /tmp/x",
        "Command did not complete within its 2m 0s timeout and was moved to the background (ID: b1x). Output is",
    ],
)
def test_what_claude_code_left_running_changes_a_file_later(tmp_path: Path, text: str) -> None:
    file = Transcript(tmp_path)
    file.prompt("Begin")
    file.call("Bash", "call_1", command="echo one > a.py")
    file.result("call_1", "")
    file.call("Bash", "call_2", command="sleep 200; echo two > a.py; echo three > b.py")
    file.result("call_2", text)
    assert process_in(text) == "b1x"
    made = replay(opened_claude(file.path))
    assert [made.rebuilt(name).certainty for name in ("a.py", "b.py")] == [UNKNOWN, UNKNOWN]


RUNS = "Chunk ID: 1\nWall time: 1.0 seconds\nProcess running with session ID 4711\nOutput:\n"
ENDED = "Chunk ID: 2\nWall time: 1.0 seconds\nProcess exited with code {}\nOutput:\n"


def codex_files(tmp_path: Path, *between: str, code: int = 0, ends: bool = True) -> dict[str, Rebuilt]:
    """What is known behind a command that ran on past its result, with commands meanwhile."""
    file = Rollout(tmp_path, cli_version="0.171.0")
    file.prompt("Begin")
    script = "cat > a.py <<'X'\none\nX\nmake all > log.txt"
    file.call("exec_command", {"cmd": script, "yield_time_ms": 1000}, RUNS, "call_1")
    for number, command in enumerate(between, 10):
        file.call("exec_command", {"cmd": command}, ENDED.format(0), f"call_{number}")
    if ends:
        file.call("write_stdin", {"session_id": 4711, "chars": ""}, ENDED.format(code), "call_2")
    made = replay(file.opened())
    return {name: made.rebuilt(name) for name in ("a.py", "b.py")}


def test_what_codex_wrote_is_known_once_the_command_ended(tmp_path: Path) -> None:
    assert codex_files(tmp_path, "echo x > b.py", ends=False)["a.py"].certainty is UNKNOWN
    found = codex_files(tmp_path, "echo x > b.py")
    assert [one.text for one in found.values()] == ["one\n", "x\n"]
    assert codex_files(tmp_path, "echo x > a.py")["a.py"].certainty is UNKNOWN
    assert codex_files(tmp_path, code=1)["a.py"].certainty is UNKNOWN


def test_what_is_typed_into_a_shell_may_change_anything(tmp_path: Path) -> None:
    for chars, found in (("", []), ("echo x > a.py\n", ["write_stdin"])):
        file = Rollout(tmp_path, cli_version="0.171.0")
        file.prompt("Begin")
        file.call("write_stdin", {"session_id": 4711, "chars": chars}, RUNS, "call_1")
        session = file.opened()
        path = session.tree.path(session.leaf)
        assert [one.name for one in opaque_calls(session, path)] == found


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    made = Acting(tmp_path / "t.jsonl")
    made.user("begin")
    made.said(call("write", "w", path="a.py", content="one\n"))
    made.answered("w", "write")
    return made


def rebuilt(file: Acting) -> Rebuilt:
    with reading(file.path) as session:
        return replay(session).rebuilt("a.py")


def test_of_calls_made_together_it_is_not_known_which_came_first(file: Acting) -> None:
    """pi 1.6.0 runs them at the same time: this read found the file while the edit wrote it."""
    edits = [{"oldText": "one", "newText": "two"}]
    file.said(call("edit", "e", path="a.py", edits=edits), call("read", "r", path="a.py"))
    file.answered("e", "edit")
    file.answered("r", "read", "")
    assert rebuilt(file).text == "two\n"
    file.said(call("bash", "b", command="mv a.py b.py"), call("write", "v", path="a.py", content="three\n"))
    file.answered("b", "bash", "(no output)")
    file.answered("v", "write")
    assert rebuilt(file).certainty is UNKNOWN
    file.said(call("read", "s", path="a.py"))
    file.answered("s", "read", "three\n")
    assert rebuilt(file).text == "three\n"


@pytest.mark.parametrize(
    "command", ["for f in src/*; do echo each >> $f; done", "git checkout -- .", "rm -rf src; git stash pop"]
)
def test_a_command_beside_a_read_may_change_the_file_that_it_does_not_name(
    file: Acting, command: str
) -> None:
    """opencode 1.18.33 answered such a read with what the command had appended."""
    file.said(call("read", "r", path="src/b.py"), call("bash", "b", command=command))
    file.answered("r", "read", "two\neach\n")
    file.answered("b", "bash", "(no output)")
    with reading(file.path) as session:
        found = replay(session)
        assert found.original("src/b.py") is None
        assert found.rebuilt("src/b.py").certainty is UNKNOWN


def test_what_stands_in_place_of_a_picture_is_not_in_the_file(file: Acting) -> None:
    omitted = "Read image file [image/png]\n[Image omitted: could not be resized below the inline image size limit.]"
    file.said(call("read", "r", path="pixel.png"))
    file.answered("r", "read", omitted)
    with reading(file.path) as session:
        assert replay(session).rebuilt("pixel.png").certainty is UNKNOWN


def test_a_picture_has_no_text(tmp_path: Path) -> None:
    """`view_image` of Codex 0.171 answers with the picture alone."""
    file = Rollout(tmp_path, cli_version="0.171.0")
    file.prompt("Begin")
    image = [{"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}]
    file.item("function_call", name="view_image", arguments='{"path":"pixel.png"}', call_id="call_1")
    file.item("function_call_output", call_id="call_1", output=image)
    assert replay(file.opened()).rebuilt("pixel.png").certainty is UNKNOWN


def test_a_change_that_was_stopped_may_have_been_made(file: Acting) -> None:
    """pi 1.6.0 looks at its signal behind the write as well."""
    file.said(call("write", "v", path="a.py", content="two\n"))
    file.answered("v", "write", "Operation aborted", failed=True)
    found = rebuilt(file)
    assert (found.certainty, found.remarks[-1][1]) == (UNKNOWN, StepRemark.UNANSWERED)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({}, "one\n"),
        ({"toolDenialKind": "user-rejected", "toolDenialBeforeRun": True}, "one\n"),
        ({"toolDenialKind": "permission-rule"}, "one\n"),
        ({"toolDenialKind": "user-rejected"}, None),
        ({"toolDenialKind": "interrupted"}, None),
    ],
)
def test_claude_code_says_that_it_rejected_what_it_did(
    tmp_path: Path, said: dict[str, Any], text: str | None
) -> None:
    """Stopped while an edit was made, 2.1.332 answers that the file was not changed: it was."""
    file = Transcript(tmp_path)
    file.prompt("Begin")
    file.call("Write", "call_1", file_path="/home/ada/orchard/a.py", content="one\n")
    file.result("call_1", "File created successfully at: /home/ada/orchard/a.py")
    file.call("Edit", "call_2", file_path="/home/ada/orchard/a.py", old_string="one", new_string="two")
    file.result("call_2", "The user doesn't want to proceed with this tool use.", failed=True, **said)
    assert replay(opened_claude(file.path)).rebuilt("a.py").text == text


def test_a_patch_of_codex_that_was_stopped_may_have_been_made(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Add File: a.py\n+one\n*** End Patch\n"
    for number, (output, certainty) in enumerate(
        (
            (ENDED.format(0), EXACT),
            ("aborted by user after 0.1s", UNKNOWN),
        )
    ):
        file = Rollout(tmp_path / str(number), cli_version="0.171.0")
        file.prompt("Begin")
        file.item("custom_tool_call", name="apply_patch", input=patch, call_id="call_1")
        file.item("custom_tool_call_output", call_id="call_1", output=output)
        assert replay(file.opened()).rebuilt("a.py").certainty is certainty
