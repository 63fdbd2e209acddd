"""The files of Codex's configuration: those of a project that its user trusts, and `config.toml` of its own folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from leafward.agents.storage.settings_file import toml_settings
from leafward.session.entries import object_at

_FILE = "config.toml"
_PROJECT = ".codex"


class Setting(NamedTuple):
    """The value of a setting, and the file that says it."""

    value: Any
    source: Path


def setting(every: list[tuple[Path, dict[str, Any]]], name: str) -> Setting | None:
    """The value that decides; None where no file has one."""
    return next((Setting(said[name], file) for file, said in every if name in said), None)


def configuration(home: Path, cwd: str) -> list[tuple[Path, dict[str, Any]]]:
    """The files for work in a folder that exist, with what each says; the one that decides comes first (0.171).

    Profiles are left out: `--profile` names a file beside `config.toml`, which no session records.
    """
    own = home / _FILE
    said = toml_settings(own)
    levels = object_at(said, "projects")
    folder = Path(cwd)
    # What a session records may be no path at all.
    above = [folder, *folder.parents] if folder.is_absolute() and os.path.isdir(folder) else []
    # Without a repository a project is the folder alone.
    root = next((one for one in above if os.path.lexists(one / ".git")), folder)
    inside = [one for one in above if one.is_relative_to(root)]
    files = [one / _PROJECT / _FILE for one in inside if _is_trusted(levels, one, root)]
    found = [(file, toml_settings(file)) for file in files if file != own]
    return [(file, one) for file, one in [*found, (own, said)] if one]


def _is_trusted(levels: dict[str, Any], folder: Path, root: Path) -> bool:
    """The user's trust in the folder, else in its repository."""
    names = (name for one in (folder, root) for name in (str(one), os.path.realpath(one)))
    said = (object_at(levels, name).get("trust_level") for name in names)
    return next((one for one in said if one is not None), None) == "trusted"
