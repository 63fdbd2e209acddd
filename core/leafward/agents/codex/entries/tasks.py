"""Tasks that one agent of Codex hands to another as an item without a user's message (`multi_agent_v2`, 0.153 and later)."""

from __future__ import annotations

import re
from typing import Any

from leafward.agents.codex.entries.items import content_of, item_text

_TASK = re.compile(
    r"Message Type: NEW_TASK\n(?:Task name: (?P<name>[^\n]*)\n)?(?:[^\n]*\n)*?Payload:(?P<text>.*)\Z",
    re.DOTALL,
)


def task_of(item: dict[str, Any]) -> str | None:
    """The task that an item hands to this thread; its name where the text is encrypted; None for any other item."""
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
