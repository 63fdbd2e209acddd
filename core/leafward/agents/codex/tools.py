"""The tools of Codex that touch files: shells, patches, images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.edits import Action, ToolTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.base import Touch

CODEX_TOOLS = ToolTable(
    {"view_image": Action.READ},
    frozenset({"exec_command", "shell", "shell_command", "local_shell", "container.exec", "unified_exec"}),
)


def touched_in(data: bytes) -> Iterator[Touch]:
    """Files that calls in a piece of a rollout name."""
    del data
    return iter(())
