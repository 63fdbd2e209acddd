"""The configuration folders of Claude Code that the environment names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def config_folders(env: Mapping[str, str]) -> tuple[str, ...]:
    """`$CLAUDE_CONFIG_DIR`, which Claude Code takes as one path; where no such folder is there, several with commas."""
    named = (env.get("CLAUDE_CONFIG_DIR") or "").strip()
    if "," in named and os.path.isdir(named):
        return (named,)
    return tuple(part.strip() for part in named.split(",") if part.strip())
