"""opencode's own settings: its files in the order in which a later one replaces values of those before (1.18.33).

Settings that opencode fetches, and those that macOS manages, are not read.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.agents.base import expanded
from leafward.agents.opencode.storage.data_root import config_folder
from leafward.agents.storage.settings_file import commented_settings, settings_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NAMES = ("opencode.json", "opencode.jsonc")
_CONTENT = "OPENCODE_CONFIG_CONTENT"
_TRUE = frozenset({"1", "true"})


class FoundSetting(NamedTuple):
    """The value of a setting, and the file or variable that has it."""

    value: Any
    source: Path


def is_set(env: Mapping[str, str], name: str) -> bool:
    """Whether a variable switches something on for opencode."""
    return env.get(name, "").lower() in _TRUE


def settings_of(folder: str, env: Mapping[str, str]) -> list[tuple[Path, dict[str, Any]]]:
    """The settings for a session in a folder, those that count more later."""
    made = [(file, commented_settings(file)) for file in _before(folder, env)]
    if env.get(_CONTENT):
        made.append((Path(_CONTENT), settings_in(env[_CONTENT])))
    managed = _managed(env)
    return [*made, *((managed / name, commented_settings(managed / name)) for name in _NAMES)]


def last_of(every: list[tuple[Path, dict[str, Any]]], *keys: str) -> FoundSetting | None:
    """The value under some keys that counts; None where nothing names one."""
    for source, value in reversed(every):
        found: Any = value
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        if found is not None:
            return FoundSetting(found, source)
    return None


def _before(folder: str, env: Mapping[str, str]) -> Iterator[Path]:
    own = config_folder(env)
    yield from (own / name for name in ("config.json", *_NAMES))
    if env.get("OPENCODE_CONFIG"):
        yield Path(env["OPENCODE_CONFIG"])
    above = _to_the_worktree(folder) if folder and not is_set(env, "OPENCODE_DISABLE_PROJECT_CONFIG") else []
    yield from (place / name for place in reversed(above) for name in _NAMES)
    beside = [place / ".opencode" for place in [*above, expanded("~", env)]]
    more = [Path(env["OPENCODE_CONFIG_DIR"])] if env.get("OPENCODE_CONFIG_DIR") else []
    yield from (place / name for place in [*beside, *more] for name in _NAMES)


def _to_the_worktree(folder: str) -> list[Path]:
    """A folder and those above it, up to the one of its repository; all of them where there is none."""
    found = []
    for place in (Path(folder), *Path(folder).parents):
        found.append(place)
        if (place / ".git").exists():
            break
    return found


def _managed(env: Mapping[str, str]) -> Path:
    if sys.platform == "darwin":
        return Path("/Library/Application Support/opencode")
    if sys.platform == "win32":
        return Path(env.get("ProgramData") or "C:\\ProgramData") / "opencode"
    return Path("/etc/opencode")
