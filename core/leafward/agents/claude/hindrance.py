"""What keeps Claude Code from running the hooks that were installed in it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.claude.hooks import HOOKS
from leafward.agents.storage.settings_file import json_settings
from leafward.session.entries import object_at

if TYPE_CHECKING:
    from collections.abc import Mapping


_ALL, _MANAGED, _CUSTOM = "disableAllHooks", "allowManagedHooksOnly", "strictPluginOnlyCustomization"
_SIMPLE = "CLAUDE_CODE_SIMPLE"


def hindrance(env: Mapping[str, str], folder: Path) -> str:
    """2.1.332: settings of the administrator go first, then those of the project, then the user's."""
    managed = _managed()
    for file in (managed / "managed-settings.json", *sorted((managed / "managed-settings.d").glob("*.json"))):
        said = json_settings(file)
        custom = said.get(_CUSTOM)
        named = {_ALL: _is_on(said.get(_ALL)), _MANAGED: said.get(_MANAGED) is True}
        named[_CUSTOM] = custom is True or (isinstance(custom, list) and "hooks" in custom)
        for name, is_on in named.items():
            if is_on:
                return f"{file}: `{name}` keeps Claude Code from running hooks of yours"
    own = HOOKS.file(env)
    project = folder / ".claude"
    for file in (project / "settings.local.json", project / "settings.json", own):
        switch = json_settings(file).get(_ALL)
        if switch is not None:
            return f"{file}: `{_ALL}` keeps Claude Code from running any hook" if _is_on(switch) else ""
    simple = object_at(json_settings(own), "env").get(_SIMPLE, env.get(_SIMPLE))
    return f"`{_SIMPLE}` keeps Claude Code from running any hook" if _is_on(simple) and simple != "0" else ""


def _is_on(value: object) -> bool:
    return value not in (None, False, "", "false")


def _managed() -> Path:
    """The administrator's folder."""
    if sys.platform == "darwin":
        return Path("/Library/Application Support/ClaudeCode")
    return Path("C:\\Program Files\\ClaudeCode" if sys.platform == "win32" else "/etc/claude-code")
