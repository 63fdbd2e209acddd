"""What `doctor` says of what is installed in agents."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from leafward.agents.registry import hooks_of
from leafward.cli.main import main
from leafward.export import installation

if TYPE_CHECKING:
    from pathlib import Path


def hook_problems(capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["problems"]
    return [one["text"] for one in found if one["code"] == "hook"]


@pytest.mark.parametrize("agent", ["claude", "codex", "pi", "opencode"])
def test_doctor_names_a_hook_whose_program_is_gone(
    home: Path, agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", agent])
    assert hook_problems(capsys) == []
    file = hooks_of(agent).file(os.environ)
    file.write_text(file.read_text().replace(json.dumps(sys.executable)[1:-1], "/nowhere/python"))
    (problem,) = hook_problems(capsys)
    assert f"it runs another Leafward than this one, or none; `leafward install {agent}`" in problem


@pytest.mark.parametrize(
    ("agent", "options", "older"),
    [
        ("claude", [], ('"compact|resume"', '"compact"')),
        ("codex", [], ('"timeout": 10', '"timeout": 5')),
        ("pi", ["--summary"], ("60000", "50000")),
        ("opencode", [], ("60000", "50000")),
    ],
)
def test_doctor_names_an_installation_by_an_earlier_version(
    home: Path, agent: str, options: list[str], older: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", agent, *options])
    assert hook_problems(capsys) == []
    file = hooks_of(agent).file(os.environ)
    # What the user changes is theirs.
    written = file.read_text()
    file.write_text(written.replace(*older))
    assert hook_problems(capsys) == []
    record = installation._record(agent)
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


@pytest.mark.parametrize("why", ["cannot be written to", "the disk is full"])
def test_doctor_says_why_no_text_can_be_kept(
    why: str, settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The hooks themselves have no place to write it to."""
    if "full" in why:
        monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=0))
    else:
        monkeypatch.setattr(os, "access", lambda *_given: False)
    assert not [one for one in installation.installation_problems() if why in one.text]
    assert main(["install", "claude"]) == 0
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
