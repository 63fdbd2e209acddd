"""What keeps pi from running the hooks that were installed in it."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from leafward.agents.pi.hooks import HOOKS
from leafward.agents.storage.settings_file import json_settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def hindrance(env: Mapping[str, str], folder: Path) -> str:
    """1.6.0: `-path` and `!pattern` among the extensions in the settings of the user and of the project."""
    place = HOOKS.file(env)
    for file in (place.parent.parent / "settings.json", folder / ".pi" / "settings.json"):
        said = json_settings(file).get("extensions")
        for one in said if isinstance(said, list) else ():
            if isinstance(one, str) and _leaves_out(one, place):
                return f"{file}: {one!r} in `extensions` keeps pi from loading it"
    return ""


def _leaves_out(entry: str, place: Path) -> bool:
    inside = f"{place.parent.name}/{place.name}"
    if entry.startswith("-"):
        return entry.endswith(inside)
    return entry.startswith("!") and any(
        fnmatchcase(name, entry[1:]) for name in (place.name, inside, str(place))
    )
