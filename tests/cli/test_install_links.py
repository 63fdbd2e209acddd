"""Installing where the settings of an agent, or folders above them, are links."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from leafward.agents.registry import hooks_of, is_installed
from leafward.base import output_file
from leafward.base.durable import write_new
from leafward.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path


def test_a_link_that_takes_the_place_of_the_settings_at_the_last_moment_leads_to_no_write(
    settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.write_text("{}")
    other = tmp_path / "other.json"
    other.write_text("{}")

    def swapped(draft: Path, pieces: list[bytes]) -> None:
        settings.unlink()
        settings.symlink_to(other)
        write_new(draft, pieces)

    monkeypatch.setattr(output_file, "write_new", swapped)
    main(["install", "claude"])
    assert other.read_text() == "{}"
    assert settings.parent.exists()


def test_settings_that_are_a_link_are_written_where_they_lie(
    settings: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dotfiles = home / "dotfiles" / "claude" / "settings.json"
    dotfiles.parent.mkdir(parents=True)
    before = b'{"theme": "dark"}'
    dotfiles.write_bytes(before)
    dotfiles.chmod(0o640)
    between = home / "between.json"
    between.symlink_to(dotfiles)
    settings.symlink_to(os.path.join("..", "between.json"))
    assert main(["install", "claude", "--dry-run"]) == 0
    assert dotfiles.read_bytes() == before
    capsys.readouterr()
    assert main(["install", "claude"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"wrote {dotfiles}" in said
    assert f"{settings} is a link to that file" in said
    assert json.loads(dotfiles.read_bytes())["theme"] == "dark"
    assert is_installed("claude")
    assert settings.is_symlink()
    assert dotfiles.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in dotfiles.parent.iterdir()] == ["settings.json"]
    assert main(["uninstall", "claude"]) == 0
    assert dotfiles.read_bytes() == before
    assert settings.is_symlink()


@pytest.mark.parametrize("agent", ["claude", "pi"])
def test_what_became_a_link_since_is_taken_back_where_it_lies(
    agent: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = hooks_of(agent).file(os.environ)
    if agent == "claude":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('{"b":1 }')
    assert main(["install", agent]) == 0
    moved = home / "dotfiles" / file.name
    moved.parent.mkdir()
    file.rename(moved)
    file.symlink_to(moved)
    capsys.readouterr()
    assert main(["doctor", "--json"]) == 0
    assert [one for one in json.loads(capsys.readouterr().out)["problems"] if one["code"] == "hook"] == []
    assert main(["uninstall", agent]) == 0
    assert moved.exists() == file.is_symlink() == (agent == "claude")
    if agent == "claude":
        assert moved.read_text() == '{"b":1 }'


@pytest.mark.parametrize("target", ["nowhere.json", "folder", "theirs"])
def test_a_link_to_no_file_of_the_user_is_refused(
    target: str,
    settings: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (home / "folder").mkdir()
    (home / "theirs").write_text("{}")
    settings.symlink_to(home / target)
    if target == "theirs":
        monkeypatch.setattr(os, "getuid", lambda: 4_000_000)
    why = {"nowhere.json": "which is missing", "folder": "which is no regular file"}
    for verb in ("install", "uninstall"):
        assert main([verb, "claude"]) == 1
        said = " ".join(capsys.readouterr().err.split())
        assert f"{settings} is a link to {home / target}, " in said
        assert why.get(target, "which belongs to another user") in said
    assert (home / "theirs").read_text() == "{}"
    assert not (home / "nowhere.json").exists()


def test_a_link_to_a_missing_folder_is_named_before_anything_is_written(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = home / ".config" / "opencode" / "plugin"
    folder.parent.mkdir(parents=True)
    folder.symlink_to(home / "nowhere")
    for options in (["--dry-run"], []):
        assert main(["install", "opencode", *options]) == 1
        said = " ".join(capsys.readouterr().err.split())
        assert said.endswith(
            f"{folder} is a link to a folder that is missing; make that folder, or remove the link"
        )
    assert not (home / "nowhere").exists()
    (home / "nowhere").mkdir()
    assert main(["install", "opencode"]) == 0
    assert main(["uninstall", "opencode"]) == 0
    assert folder.is_symlink()
    assert not list((home / "nowhere").iterdir())
