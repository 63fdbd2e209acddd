"""`install` and `uninstall`: what is written into files of agents, and that it is taken back whole."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents import installation
from leafward.agents.installation import installation_problems
from leafward.agents.registry import hooks_of
from leafward.base import durable, output_file, paths
from leafward.base.durable import draft_name
from leafward.cli.hook_log import failures
from leafward.cli.main import main
from leafward.cli.verbs import hook as hook_module
from tests.bench.generate import write_session
from tests.oracle.resume import find_node

if TYPE_CHECKING:
    from pathlib import Path

    Compacting = tuple[Path, dict[str, str], dict[str, str]]
    """A session, and what its agent tells before and behind a compaction."""

SETTINGS = [
    b"",
    b"{}",
    b'{\n\t"model": "opus",\r\n\t"hooks": {}\n}',
    b'{"hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": "mine"}]}]}, "a": 1e2 }\n\n',
    '{\n  "env": {"Ä": "\\u00e4"},\n  "hooks": {\n    "SessionStart": [\n      {"matcher": "compact", "hooks": []}\n    ]\n  }\n}\n'.encode(),
]


@pytest.mark.parametrize("before", SETTINGS)
def test_what_was_there_stays_and_comes_back_byte_for_byte(settings: Path, before: bytes) -> None:
    settings.write_bytes(before)
    settings.chmod(0o640)
    assert main(["install", "claude"]) == 0
    written = settings.read_bytes()
    hooks = json.loads(written)["hooks"]
    assert len([one for one in hooks["SessionStart"] if one["hooks"]]) == 1
    assert hooks["PreCompact"][-1]["hooks"][0]["command"].endswith(" -m leafward hook claude")
    # Bytes were put in between; none went.
    rest = iter(written)
    assert all(byte in rest for byte in before)
    assert main(["install", "claude"]) == 0
    assert settings.read_bytes() == written
    assert settings.stat().st_mode & 0o777 == 0o640
    assert main(["uninstall", "claude"]) == 0
    assert settings.read_bytes() == before


def test_a_folder_with_a_comma_in_its_name_is_one_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Claude Code itself takes it; several folders are ours, and the first one is meant."""
    for name, folder in (("one, two", "one, two"), ("three", "three,four")):
        (home / name).mkdir()
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / folder))
        assert main(["install", "claude"]) == 0
        assert (home / name / "settings.json").exists()
        assert main(["uninstall", "claude"]) == 0


def test_two_folders_of_settings_each_come_back_whole(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where somebody first looks for it in a third one; a settings file that only had empty hooks is not deleted."""
    before = '{"hooks": {}}\n'
    files = [home / name / "settings.json" for name in ("work", "own")]
    for file in files:
        file.parent.mkdir()
        file.write_text(before)
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(file.parent))
        assert main(["install", "claude"]) == 0
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    capsys.readouterr()
    assert main(["uninstall", "claude"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("nothing to do")
    assert all(str(file) in said for file in files)
    gone = [one for one in installation_problems() if "installs it again" in one]
    assert not gone
    for file in files:
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(file.parent))
        assert main(["uninstall", "claude"]) == 0
        assert file.read_text() == before
    assert not list((paths.data_dir() / "installed").iterdir())


def test_a_folder_of_settings_that_is_gone_is_forgotten_by_an_uninstallation(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "work"))
    assert main(["install", "claude"]) == 0
    (home / "work" / "settings.json").unlink()
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    assert [one for one in installation_problems() if "is gone" in one]
    assert main(["uninstall", "claude"]) == 0
    assert "work" not in capsys.readouterr().out.split("nothing to do")[1]
    assert not list(installation_problems())


def test_settings_that_changed_meanwhile_lose_our_part_only(settings: Path) -> None:
    settings.write_text('{"hooks": {"PreCompact": [{"hooks": [{"command": "mine"}]}]}}')
    main(["install", "claude"])
    settings.write_text(settings.read_text()[:-1] + ', "theme": "dark"}')
    assert main(["uninstall", "claude"]) == 0
    text = settings.read_text()
    assert text == '{"hooks": {"PreCompact": [{"hooks": [{"command": "mine"}]}]}, "theme": "dark"}'


@pytest.mark.parametrize(
    "change",
    ["one is gone", "another one beside it", "its output goes elsewhere", "another event", "a shell's"],
)
def test_hooks_that_somebody_edited_go_too_and_leave_the_rest(settings: Path, change: str) -> None:
    settings.write_text('{"theme": "dark"}')
    main(["install", "claude"])
    written = json.loads(settings.read_text())
    hooks = written["hooks"]
    rest: dict[str, Any] = {"theme": "dark"}
    if change == "one is gone":
        del hooks["PreCompact"]
    elif change == "another one beside it":
        hooks["PreCompact"][0]["hooks"].insert(0, {"type": "command", "command": "mine"})
        rest |= {"hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": "mine"}]}]}}
    elif change == "another event":
        hooks["PostCompact"] = hooks.pop("PreCompact")
    elif change == "a shell's":
        hook = hooks["PreCompact"][0]["hooks"][0]
        hook["command"] = f"sh -c '{hook['command']}'"
    else:
        hooks["PreCompact"][0]["hooks"][0]["command"] += " 2>/dev/null"
    settings.write_text(json.dumps(written))
    assert main(["uninstall", "claude"]) == 0
    assert json.loads(settings.read_text()) == rest


@pytest.mark.parametrize("agent", ["claude", "pi"])
def test_an_installation_over_an_edited_one_that_ran_another_leafward_goes_whole(
    home: Path, agent: str
) -> None:
    file = hooks_of(agent).file(os.environ)
    main(["install", agent])
    # The program moved, and somebody changed something else in the file.
    elsewhere = file.read_text().replace(json.dumps(sys.executable)[1:-1], "/gone/python")
    file.write_text(elsewhere.replace('"timeout": 10', '"timeout": 20').replace("60000", "70000"))
    main(["install", agent])
    assert "/gone/python" not in file.read_text()
    assert main(["uninstall", agent]) == 0
    assert not file.exists()


def test_doctor_knows_this_program_in_a_folder_with_quotes(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    python = tmp_path / 'ada\'s "tools" \u00e4' / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    for agent in ("claude", "pi"):
        main(["install", agent])
    capsys.readouterr()
    main(["doctor", "--json"])
    assert [one for one in json.loads(capsys.readouterr().out)["problems"] if one["code"] == "hook"] == []


def test_of_two_installations_at_once_the_slower_one_names_the_file(
    settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error of the system names our draft, which is gone by then."""
    settings.unlink(missing_ok=True)

    def faster(path: Path, _text: str) -> None:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), f"{path}.leafward-1-a.tmp")

    monkeypatch.setattr(installation, "write_new_document", faster)
    assert main(["install", "claude"]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert told == f"leafward: {settings} changed meanwhile; nothing was written"


def test_a_file_that_was_replaced_before_the_disk_failed_is_said_to_be_written_and_comes_back_whole(
    settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = b'{ "hooks": {"PreCompact": []} }'
    settings.write_bytes(before)

    def fails(_folder: Path) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with monkeypatch.context() as patch:
        patch.setattr(output_file, "sync_folder", fails)
        assert main(["install", "claude"]) == 1
    told = capsys.readouterr().err
    assert "was written" in told
    assert "nothing was written" not in told
    assert settings.read_bytes() != before
    assert main(["uninstall", "claude"]) == 0
    assert settings.read_bytes() == before


@pytest.mark.parametrize("agent", ["claude", "codex", "pi", "opencode"])
def test_a_dry_run_writes_nothing_and_a_home_is_left_as_it_was(
    home: Path, agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", agent, "--dry-run"]) == 0
    assert not list(home.rglob("*"))
    shown = [
        line[1:] for line in capsys.readouterr().out.splitlines() if line[:1] == "+" and line[:3] != "+++"
    ]
    assert main(["install", agent]) == 0
    (made,) = [one for one in home.rglob("*") if one.is_file()]
    assert shown == [line.expandtabs(4) for line in made.read_text("utf-8").splitlines()]
    assert len([one for one in home.rglob("*") if one.is_file()]) == 1
    capsys.readouterr()
    assert main(["uninstall", agent]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1, "what goes whole is not shown line by line"
    assert not list(home.rglob("*"))
    assert main(["uninstall", agent]) == 0
    assert "nothing to do: there is no " in capsys.readouterr().out


@pytest.mark.parametrize(
    "text", ['{"a": 1,}', '{"a": NaN}', "[]", '{"hooks": []}', '{"hooks": {"PreCompact": {}}}', "\xff"]
)
def test_settings_that_cannot_be_understood_are_refused(settings: Path, text: str) -> None:
    settings.write_text(text, "latin-1")
    assert main(["install", "claude"]) == 1
    assert settings.read_text("latin-1") == text


def test_files_of_others_are_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    theirs = home / ".pi" / "agent" / "extensions" / "leafward-context.js"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("// mine\n")
    assert main(["install", "pi"]) == 1
    assert f"{theirs} is not a file that Leafward wrote" in capsys.readouterr().err
    assert main(["uninstall", "pi"]) == 0
    assert theirs.read_text() == "// mine\n"


def test_codex_gets_the_same_hooks_without_a_limit_and_its_user_is_told_of_the_review(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".codex").mkdir()
    file = home / ".codex" / "hooks.json"
    file.write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}')
    before = file.read_bytes()
    assert main(["install", "codex"]) == 0
    assert "reviewed" in capsys.readouterr().out
    hooks = json.loads(file.read_bytes())["hooks"]
    assert list(hooks) == ["Stop", "PreCompact", "SessionStart"]
    assert hooks["SessionStart"][0]["hooks"][0]["additionalContextLimit"] == 100_000
    assert main(["uninstall", "codex"]) == 0
    assert file.read_bytes() == before


def test_what_follows_and_what_is_to_be_done_stands_in_the_document_too(
    home: Path, settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def remarks(*argv: str) -> list[str]:
        assert main([*argv, "--json"]) == 0
        return [one["text"] for one in json.loads(capsys.readouterr().out)["diagnostics"]]

    cost, review = remarks("install", "codex")
    assert cost.startswith("at a compaction: two short runs")
    assert "reviewed" in review
    assert remarks("uninstall", "codex") == []
    settings.write_text('{"disableAllHooks": true}')
    _, hindered = remarks("install", "claude")
    assert "`disableAllHooks` keeps Claude Code from running any hook" in hindered
    # Also where it stands there already.
    assert remarks("install", "claude") == [hindered]
    assert main(["install", "claude"]) == 0
    assert hindered in capsys.readouterr().out


@pytest.mark.parametrize("agent", ["claude", "codex", "opencode"])
def test_only_pi_takes_a_summary(home: Path, agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", agent, "--summary"]) == 1
    assert "--summary is for pi" in capsys.readouterr().err
    assert main(["install", "pi", "--summary"]) == 0
    assert "const summaries = true;" in capsys.readouterr().out


def test_a_script_that_cannot_start_leafward_notes_it_where_doctor_looks(home: Path) -> None:
    node = find_node()
    if node is None:
        pytest.skip("no Node")
    main(["install", "pi"])
    file = home / ".pi" / "agent" / "extensions" / "leafward-context.js"
    gone = file.read_text().replace(json.dumps(sys.executable), '"/nowhere/python"')
    ran = home / "ran.mjs"
    ran.write_text(gone + '\nconsole.log(JSON.stringify(await textOf("/nowhere.jsonl", "a")));\n')
    assert subprocess.run([node, ran], capture_output=True, check=True).stdout == b'""\n'
    assert failures()[-1].endswith("pi: spawn /nowhere/python ENOENT")


_COMPACTS = """
const { existsSync } = await import("node:fs");
const on = {};
const sent = [];
extension({ on: (name, run) => { on[name] = run; }, sendMessage: (one) => sent.push(one.content) });
const ctx = { sessionManager: { getSessionFile: () => "/x.jsonl", getLeafId: () => "a" } };
await on.session_before_compact({ preparation: { firstKeptEntryId: "a", tokensBefore: 1 } }, ctx);
// The summary is there when that file is.
while (!existsSync(process.argv[2])) await new Promise((done) => setTimeout(done, 20));
await on.session_compact();
console.log(JSON.stringify(sent));
process.exit(0);
"""


@pytest.mark.slow
@pytest.mark.parametrize("in_time", [True, False])
def test_a_text_may_take_as_long_as_the_summary_and_is_waited_for_no_longer_than_ten_seconds(
    home: Path, in_time: bool
) -> None:
    node = find_node()
    if node is None:
        pytest.skip("no Node")
    main(["install", "pi"])
    file = home / ".pi" / "agent" / "extensions" / "leafward-context.js"
    summary = home / "summary"
    block = "<leafward-context>\n- text\n</leafward-context>"
    told = f"print({block!r}, end='', flush=True); open({str(summary)!r}, 'w').close()"
    slow = json.dumps([sys.executable, "-c", f"import time; time.sleep({2 if in_time else 10}); {told}"])
    text = file.read_text()
    assert text.count(", 10000);") == 1
    if not in_time:
        summary.touch()
        # A hundredth of the ten seconds.
        text = text.replace(", 10000);", ", 100);")
    command = next(line for line in text.splitlines() if line.startswith("const command = "))
    text = text.replace(command, f"const command = {slow};")
    ran = home / "ran.mjs"
    ran.write_text(text.replace("export default function (pi)", "function extension(pi)") + _COMPACTS)
    argv = [node, str(ran), str(summary)]
    found = json.loads(subprocess.run(argv, capture_output=True, check=True).stdout)
    assert found == ([block] if in_time else [])
    if not in_time:
        assert failures()[-1].endswith("pi: no text 10 s after the summary")


@pytest.mark.parametrize("told", ["", "[]", '{"session": 1}', '{"session": "/nowhere.jsonl"}'])
def test_a_hook_that_fails_says_nothing_and_ends_well(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes], told: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(told.encode())))
    assert main(["hook", "pi"]) == 0
    assert capsysbinary.readouterr() == (b"", b"")
    if told != '{"session": 1}':
        assert "pi: " in failures()[-1]


def told(hook: str, event: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a hook hear of an event."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(event).encode())))
    assert main(["hook", hook]) == 0


@pytest.fixture
def compacting(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Compacting:
    """The process that would make the text for it is never started."""
    session = tmp_path / "one.jsonl"
    write_session(session, 40)
    before = {"hook_event_name": "PreCompact", "transcript_path": str(session)}
    behind = {"hook_event_name": "SessionStart", "source": "compact", "transcript_path": str(session)}
    monkeypatch.setattr(subprocess, "Popen", lambda *_argv, **_options: None)
    return session, before, behind


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_text_that_is_not_there_in_time_is_left_out_whole_and_doctor_says_so(
    agent: str,
    compacting: Compacting,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """On a machine that does too much else. What another process has begun to write is no text yet."""
    session, before, behind = compacting
    told(agent, before, monkeypatch)
    waits = hook_module._text_path(hook_module._place(str(session)), session.stat().st_size)
    halfway = draft_name(waits)
    monkeypatch.setattr(hook_module, "_WAIT", 0.3)
    halfway.write_text("<leafward-context>\nhalf")
    told(agent, behind, monkeypatch)
    assert capfdbinary.readouterr().out == b""
    assert failures()[-1].endswith(f"{agent}: TimeoutError: no text for {session} after 0 s")
    assert main(["doctor", "--json"]) == 0
    problems = json.loads(capfdbinary.readouterr().out)["problems"]
    assert [one for one in problems if one["code"] == "hook" and f"no text for {session}" in one["text"]]
    # The text is there after all, too late: nobody is told it, and the next compaction does not take it for its own.
    hook_module.hook(agent, str(session), session.stat().st_size)
    told(agent, behind, monkeypatch)
    size = session.stat().st_size
    with session.open("ab") as file:
        file.write(session.read_bytes().splitlines(keepends=True)[-1].replace(b'"id":"', b'"id":"0', 1))
    told(agent, before, monkeypatch)
    hook_module.hook(agent, str(session), size)
    told(agent, behind, monkeypatch)
    assert capfdbinary.readouterr().out == b""
    # One that is made in time is told once.
    told(agent, before, monkeypatch)
    hook_module.hook(agent, str(session), session.stat().st_size)
    told(agent, behind, monkeypatch)
    assert b"</leafward-context>" in capfdbinary.readouterr().out
    told(agent, behind, monkeypatch)
    assert capfdbinary.readouterr().out == b""
    assert not list(waits.parent.parent.parent.iterdir())


def test_a_text_that_an_earlier_compaction_still_makes_finds_no_place(
    compacting: Compacting,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """Also where its draft comes while the folder that it lies in is being removed."""
    session, before, behind = compacting
    monkeypatch.setattr(hook_module, "_WAIT", 0.3)
    told("claude", before, monkeypatch)
    size = session.stat().st_size
    old = hook_module._text_path(hook_module._place(str(session)), size)
    with session.open("ab") as file:
        file.write(session.read_bytes().splitlines(keepends=True)[-1].replace(b'"id":"', b'"id":"0', 1))
    remove = os.rmdir

    def late(*place: Any, **options: Any) -> None:
        with suppress(FileNotFoundError):
            draft_name(old).write_text("half")
        remove(*place, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rmdir", late)
        told("claude", before, monkeypatch)
    assert not old.parent.exists()
    hook_module.hook("claude", str(session), size)
    told("claude", behind, monkeypatch)
    assert capfdbinary.readouterr().out == b""
    assert "TimeoutError" in failures()[-1]
    assert not list(old.parent.parent.parent.iterdir())


def test_no_agent_waits_for_a_text_that_found_no_room(
    compacting: Compacting,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    session, before, behind = compacting
    told("claude", before, monkeypatch)
    size = session.stat().st_size
    folder = hook_module._text_path(hook_module._place(str(session)), size).parent

    def full(*_given: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    # The agent already waits when the disk turns out to be full.
    def sleep(_seconds: float) -> None:
        assert folder.exists()
        with monkeypatch.context() as patch:
            patch.setattr(durable, "replace_file", full)
            hook_module.hook("claude", str(session), size)

    monkeypatch.setattr(time, "sleep", sleep)
    told("claude", behind, monkeypatch)
    assert capfdbinary.readouterr().out == b""
    assert failures()[-1].endswith(f"the text for {session} could not be kept")


def test_the_help_of_the_hook_is_no_failed_run(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hook", "--help"]) == 0
    assert "Usage" in capsys.readouterr().out
    assert list(home.rglob("hook*")) == []


def test_without_a_folder_for_its_note_nothing_is_installed_and_that_is_said(
    settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.write_text("{}")
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("LEAFWARD_HOME", str(tmp_path / "taken" / "home"))
    assert main(["install", "claude"]) == 1
    assert capsys.readouterr().err.endswith(".json: Not a directory; nothing was installed\n")
    assert settings.read_text() == "{}"
