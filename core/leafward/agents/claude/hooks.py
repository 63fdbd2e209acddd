"""Hooks of Claude Code (1.0.81 to 2.1.332), in the user's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.base import expanded
from leafward.agents.claude.config_folders import config_folders
from leafward.agents.hooks.hook_groups import HookGroups

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def _folder(env: Mapping[str, str]) -> Path:
    """The first configuration folder, `~/.claude` without one."""
    return expanded(next(iter(config_folders(env)), "~/.claude"), env)


HOOKS = HookGroups(
    "claude",
    "Claude Code",
    "settings.json",
    _folder,
    # 2.1.330 sends only the first 2 KB of a text above 10,000 UTF-16 units, with the name of a file.
    room=9_900,
    reads_mark=True,
)
