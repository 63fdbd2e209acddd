"""Hooks of Codex (0.133 to 0.171), in a file that holds nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.base import expanded
from leafward.agents.hooks.hook_groups import HookGroups

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def _folder(env: Mapping[str, str]) -> Path:
    """`$CODEX_HOME`, else `~/.codex`."""
    return expanded(env.get("CODEX_HOME") or "~/.codex", env)


HOOKS = HookGroups(
    "codex",
    "Codex",
    "hooks.json",
    _folder,
    # Without a configured limit Codex cuts the middle out of a text above 2,500 tokens.
    with_text={"additionalContextLimit": 100_000},
    note="Codex runs a new hook once you have reviewed it: it asks at its next start",
)
