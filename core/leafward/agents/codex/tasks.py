"""Tasks that one agent of Codex hands to another as an item of its own, where no user's message says them (`multi_agent_v2`, 0.153 and later)."""

from __future__ import annotations

import re
from typing import Any

from leafward.agents.codex.items import content_of, item_text

_TASK = re.compile(
    r"Message Type: NEW_TASK\n(?:Task name: (?P<name>[^\n]*)\n)?(?:[^\n]*\n)*?Payload:(?P<text>.*)\Z",
    re.DOTALL,
)


def task_of(item: dict[str, Any]) -> str | None:
    """The task that an item hands to this thread; by its name where the text is encrypted; None where it hands over none."""
    if item.get("type") != "agent_message":
        return None
    found = _TASK.match(item_text(item))
    if found is None:
        return None
    name = (found["name"] or "").rstrip("/").rpartition("/")[2]
    sealed = any(
        isinstance(part, dict) and part.get("type") == "encrypted_content" for part in content_of(item)
    )
    return found["text"].strip() or f"{name or 'task'}{' (encrypted)' if sealed else ''}"
