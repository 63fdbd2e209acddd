"""The messages of a rollout by their content: a compaction repeats the messages that it keeps."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from leafward.agents.codex.entries.items import REVIEWED, content_of, item_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.agents.codex.entries.current_path import Course


WARNING = "Warning: "
_CONTEXT = re.compile(
    r"\s*(?:# AGENTS\.md instructions|<user_instructions>|<environment_context>|<skill>|<user_shell_command>|<turn_aborted>"
    r"|<subagent_notification>|<hook_prompt[ >]|<goal_context>|<recommended_plugins>|<codex_internal_context[ >]|<permissions instructions>"
    r"|<model_switch>|<collaboration_mode>|<personality_spec>|<realtime_conversation>|<skills_instructions>|<token_budget>|<multi_agent_mode>)",
    re.IGNORECASE,
)
"""Beginnings of messages that Codex takes for its own context (0.125, 0.142): such a message begins no turn."""


class MessageIndex:
    """Finds the entry of a repeated message."""

    def __init__(self) -> None:
        self._last: dict[int, int] = {}
        """The last message of each content, by `_key`."""
        self._before: dict[int, int] = {}
        """For a message: the previous one with the same content."""
        self._bytes: dict[int, int] = {}
        self.warnings: list[int] = []
        """Remarks of Codex itself and results of reviews, which it counts as the user's when it compacts."""
        self.developers: set[int] = set()
        """Messages under the developer's name."""
        self.prompts: list[int] = []
        """Messages under the user's name that are no context of Codex's own: with one of these begins a turn that a rollback takes back."""
        self.cautions: set[int] = set()
        """Those among them in which Codex warns."""
        self.lasting: set[int] = set()
        """Messages that a rollback of a later turn never takes back."""
        self.pictured: set[int] = set()
        """Messages that show an image."""

    def add(self, index: int, item: dict[str, Any], text: str) -> None:
        """Adds the message of an entry."""
        key = _key(item, text)
        if key is not None:
            before = self._last.get(key)
            if before is not None:
                self._before[index] = before
            self._last[key] = index
        if text.startswith((WARNING, REVIEWED)) and item.get("role") == "user":
            self.warnings.append(index)
        if _CONTEXT.match(text) is None:
            self.lasting.add(index)
            if item.get("role") == "user":
                self.prompts.append(index)
                if text.startswith(WARNING):
                    self.cautions.add(index)
        if item.get("role") == "developer":
            self.developers.add(index)
        for part in content_of(item):
            if isinstance(part, dict) and "image" in str(part.get("type")):
                self.pictured.add(index)
        self._bytes[index] = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))

    def extend(self, others: MessageIndex, base: int) -> None:
        """Adds the messages of a run of entries that begins at an entry."""
        for key, last in others._last.items():
            first = last
            while (before := others._before.get(first)) is not None:
                first = before
            if (known := self._last.get(key)) is not None:
                self._before[base + first] = known
            self._last[key] = base + last
        self._before.update((base + index, base + before) for index, before in others._before.items())
        self._bytes.update((base + index, size) for index, size in others._bytes.items())
        self.warnings.extend(base + index for index in others.warnings)
        self.developers.update(base + index for index in others.developers)
        self.prompts.extend(base + index for index in others.prompts)
        self.cautions.update(base + index for index in others.cautions)
        self.lasting.update(base + index for index in others.lasting)
        self.pictured.update(base + index for index in others.pictured)

    def find(self, items: Sequence[dict[str, Any]], course: Course) -> list[int]:
        """The entry that each item repeats: the last one on the path with its text that no later item repeats; -1 for none."""
        found = [-1] * len(items)
        taken: set[int] = set()
        for number in range(len(items) - 1, -1, -1):
            key = _key(items[number], item_text(items[number]))
            index = self._last.get(key, -1) if key is not None else -1
            while index >= 0 and (index in taken or not course.holds(index)):
                index = self._before.get(index, -1)
            if index >= 0:
                taken.add(index)
                found[number] = index
        return found

    def size(self, index: int) -> int:
        """Bytes of the text of a message; 0 without a message."""
        return self._bytes.get(index, 0)


def _key(item: dict[str, Any], text: str) -> int | None:
    """The key of a message: its text, with its id, or its role where it has no id."""
    if item.get("type") not in (None, "message"):
        return None
    # What a review found has one id in every thread, and none in a compaction.
    own = None if text.startswith(REVIEWED) else item.get("id")
    name = f"{own or item.get('role')}\0{text}".encode("utf-8", "surrogatepass")
    # Python's own hash differs from process to process.
    return int.from_bytes(blake2b(name, digest_size=8).digest(), "big")
