"""Folders of projects that are not there, and the folders that they may be now."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward.catalogue.listing import Catalogue
from leafward.catalogue.moved_folders import missing_folders, successors
from tests.acting import Acting
from tests.codex_rollout import Rollout
from tests.core.linear_time import in_linear_time
from tests.pi_file import HEADER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def found(root: Path) -> Mapping[str, str]:
    catalogue = Catalogue(Config(), (root / "store",))
    catalogue.refresh()
    cards = catalogue.cards()
    return successors(cards, missing_folders(card.project for card in cards))


def planted(root: Path, name: str, folder: Path) -> None:
    (root / "store").mkdir(exist_ok=True)
    file = Acting(root / "store" / f"{name}.jsonl", {**HEADER, "id": name, "cwd": str(folder)})
    file.user("plant a pear tree")
    file.said("planted")


def test_a_folder_of_the_same_name_is_found_and_no_other(tmp_path: Path) -> None:
    old, new = tmp_path / "before" / "orchard", tmp_path / "after" / "orchard"
    for folder in (new, tmp_path / "grove"):
        folder.mkdir(parents=True)
    planted(tmp_path, "old", old)
    planted(tmp_path, "other", tmp_path / "grove")
    assert found(tmp_path) == {}
    planted(tmp_path, "new", new)
    assert found(tmp_path) == {str(old): str(new)}
    old.mkdir(parents=True)
    assert found(tmp_path) == {}


@pytest.mark.parametrize(
    ("recorded", "there"),
    [
        ("git@example.org:ada/orchard.git", "https://example.org/ada/orchard"),
        ("https://example.org/ada/Orchard.git", "ssh://git@example.org/ada/orchard.git"),
    ],
)
def test_the_same_remote_comes_before_the_same_name(tmp_path: Path, recorded: str, there: str) -> None:
    old, same_name, renamed = tmp_path / "a" / "orchard", tmp_path / "b" / "orchard", tmp_path / "grove"
    for folder in (same_name, renamed / ".git"):
        folder.mkdir(parents=True)
    blank = "\n" * 80_000
    config = f'[core]\n\tbare = false\n[remote "fork"]\n\turl = x\n[remote "origin"]{blank}\tfetch = +refs\n\turl = {there}\n'
    (renamed / ".git" / "config").write_text(config, "utf-8")
    rollout = Rollout(tmp_path / "store" / ".codex")
    rollout.turn("plant?", "planted.")
    first, *rest = rollout.path.read_text("utf-8").splitlines()
    meta = json.loads(first)
    meta["payload"] |= {"cwd": str(old), "git": {"repository_url": recorded}}
    rollout.path.write_text("\n".join([json.dumps(meta), *rest]) + "\n", "utf-8")
    planted(tmp_path, "named", same_name)
    planted(tmp_path, "renamed", renamed)
    with in_linear_time():
        assert found(tmp_path)[str(old)] == str(renamed)
