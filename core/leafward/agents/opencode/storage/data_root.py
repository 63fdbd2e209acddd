"""The places of opencode's data and settings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from leafward.agents.base import expanded

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def usual_root(env: Mapping[str, str]) -> Path:
    """The data root that opencode itself uses."""
    data = env.get("XDG_DATA_HOME")
    return expanded(os.path.join(data, "opencode") if data else "~/.local/share/opencode", env)


def config_folder(env: Mapping[str, str]) -> Path:
    """The folder of the user's settings."""
    return expanded(os.path.join(env.get("XDG_CONFIG_HOME") or "~/.config", "opencode"), env)
