"""What keeps opencode from running the hooks that were installed in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.opencode.settings import is_set

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


_PURE = "OPENCODE_PURE"


def hindrance(env: Mapping[str, str], _folder: Path) -> str:
    """1.18.33. `OPENCODE_DISABLE_DEFAULT_PLUGINS` is about its own plugins."""
    return f"`{_PURE}` keeps opencode from loading plugins" if is_set(env, _PURE) else ""
