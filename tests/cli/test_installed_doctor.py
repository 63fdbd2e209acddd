"""What `doctor` says of what is installed in agents."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path
from shlex import quote
from types import SimpleNamespace

import pytest

from leafward.agents import installation
from leafward.agents.claude import hindrance as claude_hindrance
from leafward.agents.hooks import trial
from leafward.agents.registry import hooks_of
from leafward.base import paths
from leafward.cli.main import main


def hook_problems(capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["problems"]
    return [one["text"] for one in found if one["code"] == "hook"]


def reviewed(agent: str, more: str = "") -> None:
    """Codex runs a hook once its user has agreed to it."""
    if agent == "codex":
        file = hooks_of(agent).file(os.environ)
        names = (json.dumps(f"{file}:{event}:0:0") for event in ("pre_compact", "session_start"))
        states = (f'[hooks.state.{name}]\ntrusted_hash = "sha256:00"\n{more}' for name in names)
        trusted = f'[projects.{json.dumps(str(Path.cwd()))}]\ntrust_level = "trusted"\n'
        (file.parent / "config.toml").write_text(trusted + "".join(states))


HINDRANCES: list[tuple[str, str, str, str]] = [
    (
        "claude",
        ".claude/settings.local.json",
        '{"disableAllHooks": true}',
        "`disableAllHooks` keeps Claude Code",
    ),
    ("claude", ".claude/settings.json", '{"disableAllHooks": "true"}', "`disableAllHooks` keeps Claude Code"),
    ("claude", "managed/managed-settings.json", '{"disableAllHooks": true}', "`disableAllHooks` keeps"),
    (
        "claude",
        "managed/managed-settings.d/a.json",
        '{"allowManagedHooksOnly": true}',
        "`allowManagedHooksOnly`",
    ),
    (
        "claude",
        "managed/managed-settings.d/b.json",
        '{"strictPluginOnlyCustomization": ["hooks"]}',
        "`strict",
    ),
    ("codex", ".codex/config.toml", "[features]\nhooks = false\n", "`features.hooks` keeps Codex"),
    ("pi", "../home/.pi/agent/settings.json", '{"extensions": ["-extensions/leafward-context.js"]}', "'-ext"),
    ("pi", ".pi/settings.json", '{"extensions": ["!**/leafward-context.js"]}', "in `extensions` keeps pi"),
]


@pytest.mark.parametrize(("agent", "name", "text", "words"), HINDRANCES)
def test_what_keeps_an_agent_from_running_it_is_said(
    agent: str,
    name: str,
    text: str,
    words: str,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By `install`, and by `doctor`; in a project only where that says so."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setattr(claude_hindrance, "_managed", lambda: project / "managed")
    main(["install", agent])
    reviewed(agent)
    assert hook_problems(capsys) == []
    file = Path(os.path.normpath(project / name))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    (problem,) = hook_problems(capsys)
    assert problem.startswith(f"{file}: ")
    assert words in problem
    main(["uninstall", agent])
    capsys.readouterr()
    assert main(["install", agent]) == 0
    assert problem in " ".join(capsys.readouterr().out.split())
    if "managed" not in name and ".pi" not in name:
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        monkeypatch.chdir(elsewhere)
        assert hook_problems(capsys) == []


def test_codex_reads_no_settings_of_a_project_that_is_not_trusted(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "project"
    (project / ".codex").mkdir(parents=True)
    (project / ".codex" / "config.toml").write_text("[features]\nhooks = false\n")
    main(["install", "codex"])
    reviewed("codex")
    monkeypatch.chdir(project)
    assert hook_problems(capsys) == []


def test_the_nearest_settings_decide_whether_claude_code_runs_hooks(
    settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    monkeypatch.chdir(project)
    settings.write_text('{"disableAllHooks": true}')
    main(["install", "claude"])
    (problem,) = hook_problems(capsys)
    assert problem == f"{settings}: `disableAllHooks` keeps Claude Code from running any hook"
    (project / ".claude" / "settings.json").write_text('{"disableAllHooks": false}')
    assert hook_problems(capsys) == []
    monkeypatch.setenv("CLAUDE_CODE_SIMPLE", "1")
    main(["uninstall", "claude"])
    settings.write_text("{}")
    main(["install", "claude"])
    (project / ".claude" / "settings.json").unlink()
    assert hook_problems(capsys) == ["`CLAUDE_CODE_SIMPLE` keeps Claude Code from running any hook"]


def test_doctor_knows_a_hook_of_codex_that_nobody_reviewed_or_somebody_switched_off(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", "codex"])
    (problem,) = hook_problems(capsys)
    assert problem == (
        "Codex does not run the hooks before you have reviewed them: it asks at its next start;"
        " a Codex older than 0.133 has no such hook"
    )
    reviewed("codex", "enabled = false\n")
    (problem,) = hook_problems(capsys)
    assert problem.endswith(
        "config.toml: a hook of Leafward's is switched off; switch it on in Codex with /hooks"
    )


def test_entries_of_pi_that_leave_nothing_out_are_no_hindrance(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As pi 1.6.0 loads it with each of them."""
    main(["install", "pi"])
    settings = home / ".pi" / "agent" / "settings.json"
    settings.write_text(
        '{"extensions": ["-leafward-context.js", "!other.js", "+extensions/leafward-context.js", 1]}'
    )
    assert hook_problems(capsys) == []
    settings.write_text('{"extensions": ["!leafward-*.js"]}')
    assert len(hook_problems(capsys)) == 1


def test_opencode_without_plugins_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", "opencode"])
    monkeypatch.setenv("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1")
    assert hook_problems(capsys) == []
    monkeypatch.setenv("OPENCODE_PURE", "1")
    assert hook_problems(capsys) == ["`OPENCODE_PURE` keeps opencode from loading plugins"]


def program(folder: Path, script: str) -> str:
    """A program in place of the Python that a hook was installed with."""
    file = folder / "python"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return str(file)


BROKEN = {
    "it is gone": ("", ("not found", "/python cannot be started: No such file or directory")),
    "without Leafward": (f'exec {quote(sys.executable)} -S "$@"', ("with 1: ", "No module named")),
    "silent": ("exit 0", ("its command was tried and gave no answer", "")),
    "talkative": (
        f'echo Welcome; exec {quote(sys.executable)} "$@"',
        ("printed more than its answer: Welcome", ""),
    ),
    "another Leafward": (
        f'exec {quote(sys.executable)} "$@"',
        ("it runs another Leafward than this one", ""),
    ),
}


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("agent", ["claude", "codex", "pi", "opencode"])
def test_doctor_tries_a_hook_as_its_agent_would(
    home: Path, tmp_path: Path, agent: str, how: str, is_known: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", agent])
    reviewed(agent)
    if not is_known:
        installation._record(agent, hooks_of(agent).file(os.environ)).unlink()
    assert hook_problems(capsys) == []
    file = hooks_of(agent).file(os.environ)
    script, words = BROKEN[how]
    other = program(tmp_path, script) if script else "/nowhere/python"
    # Two of them are given a line for a shell, the others a list of words.
    form = quote if agent in {"claude", "codex"} else str
    installed, put = (json.dumps(form(one))[1:-1] for one in (sys.executable, other))
    file.write_text(file.read_text().replace(installed, put))
    (problem,) = hook_problems(capsys)
    assert problem.startswith(f"{file}: ")
    assert any(one and one in problem for one in words)
    assert problem.endswith(f"; `leafward install {agent}` installs it again")


@pytest.mark.parametrize("event", ["PreCompact", "SessionStart"])
def test_doctor_tries_each_of_the_two_hooks(
    settings: Path, event: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", "claude"])
    written = json.loads(settings.read_text())
    hook = written["hooks"][event][0]["hooks"][0]
    command = hook["command"]
    hook["command"] = command.replace(sys.executable, "/nowhere/python")
    settings.write_text(json.dumps(written))
    (problem,) = hook_problems(capsys)
    assert "ended with 127: " in problem
    # Claude Code takes no text from the first.
    hook["command"] = f"{command} >/dev/null"
    settings.write_text(json.dumps(written))
    problems = hook_problems(capsys)
    assert problems == [] if event == "PreCompact" else "gave no answer" in problems[0]


def test_a_trial_writes_nothing_and_asks_for_no_session(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", "claude"])
    before = {path: path.stat().st_mtime_ns for path in paths.data_dir().parent.rglob("*")}
    assert hook_problems(capsys) == []
    after = {path: path.stat().st_mtime_ns for path in paths.data_dir().parent.rglob("*")}
    assert before
    assert after == before


@pytest.mark.parametrize("agent", ["claude", "pi"])
def test_a_trial_that_takes_too_long_is_ended_with_all_that_it_started(
    home: Path,
    tmp_path: Path,
    agent: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    main(["install", agent])
    monkeypatch.setattr(trial, "_SECONDS", 0.5)
    held = tmp_path / "held"
    os.mkfifo(held)
    reader = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    waiting = program(tmp_path, f"sleep 3600 >{quote(str(held))} & wait")
    file = hooks_of(agent).file(os.environ)
    file.write_text(file.read_text().replace(sys.executable, waiting))
    (problem,) = hook_problems(capsys)
    assert "took more than 0.5 s" in problem
    until = time.monotonic() + 60
    try:
        while time.monotonic() < until:
            with suppress(BlockingIOError):
                # It ends once no process holds the other side.
                assert os.read(reader, 1) == b""
                return
            time.sleep(0.05)
        pytest.fail("what the command started goes on")
    finally:
        os.close(reader)


@pytest.mark.parametrize("agent", ["pi", "opencode"])
def test_doctor_names_a_script_of_an_earlier_version_without_a_record(
    home: Path, agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", agent])
    installation._record(agent, hooks_of(agent).file(os.environ)).unlink()
    file = hooks_of(agent).file(os.environ)
    written = file.read_text()
    file.write_text(written.replace("60000", "50000"))
    (problem,) = hook_problems(capsys)
    assert problem.startswith(f"{file}: another version of Leafward wrote it")
    assert main(["install", agent]) == 0
    assert file.read_text() == written
    assert main(["uninstall", agent]) == 0
    assert not file.exists()


@pytest.mark.parametrize(
    ("agent", "options", "older"),
    [
        ("claude", [], ('"compact|resume|fork"', '"compact|resume"')),
        ("codex", [], ('"timeout": 10', '"timeout": 5')),
        ("pi", ["--summary"], ("60000", "50000")),
        ("opencode", [], ("60000", "50000")),
    ],
)
def test_doctor_names_an_installation_by_an_earlier_version(
    home: Path, agent: str, options: list[str], older: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", agent, *options])
    reviewed(agent)
    assert hook_problems(capsys) == []
    file = hooks_of(agent).file(os.environ)
    # What the user changes is theirs.
    written = file.read_text()
    file.write_text(written.replace(*older))
    assert hook_problems(capsys) == []
    record = installation._record(agent, hooks_of(agent).file(os.environ))
    known = json.loads(record.read_text())
    record.write_text(json.dumps({**known, "after": known["after"].replace(*older)}))
    (problem,) = hook_problems(capsys)
    again = " ".join(["leafward install", agent, *options])
    assert problem == f"{file}: another version of Leafward wrote it; `{again}` installs it again"
    assert main(["install", agent, *options]) == 0
    assert file.read_text() == written
    assert hook_problems(capsys) == []
    file.unlink()
    (problem,) = hook_problems(capsys)
    assert problem == f"{file}: what Leafward installed is gone; `{again}` installs it again"


@pytest.mark.parametrize("why", ["cannot be written to", "the disk is full", "is not a folder"])
def test_doctor_says_why_no_text_can_be_kept(
    why: str, settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The hooks themselves have no place to write it to."""
    if "full" in why:
        monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=0))
    elif "written" in why:
        monkeypatch.setattr(os, "access", lambda *_given: False)
    assert not [one for one in installation.installation_problems() if why in one]
    assert main(["install", "claude"]) == 0
    if "folder" in why:
        shutil.rmtree(paths.state_dir())
        paths.state_dir().write_text("")
    assert any(why in problem for problem in hook_problems(capsys))


def test_doctor_says_what_is_gone_and_what_failed(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", "pi"])
    file = home / ".pi" / "agent" / "extensions" / "leafward-context.js"
    capsys.readouterr()
    assert main(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["installed"] == {"pi": str(file)}
    main(["doctor"])
    assert f"hook     {file}  (in the compactions of pi)" in capsys.readouterr().out
    file.unlink()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"session": "/nowhere.jsonl"}')))
    main(["hook", "pi"])
    gone, failed = hook_problems(capsys)
    assert "`leafward install pi`" in gone
    assert "nowhere" in failed
