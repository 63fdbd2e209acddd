"""Hooks of Claude Code 2.1: `PreCompact`, and `SessionStart` with the source `compact`, in its settings."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from leafward.agents.base import expanded
from leafward.agents.hooks import Heard, Moment
from leafward.agents.json_text import added, parts, root, without
from leafward.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from leafward.agents.json_text import Part

_END = " leafward hook claude"
"""What our command ends with, wherever Leafward lies."""
_SECONDS = 10
_EVENTS: tuple[tuple[str, str | None], ...] = (("PreCompact", None), ("SessionStart", "compact"))
_FILE = "settings.json"


class ClaudeHooks:
    """Members of `hooks` in settings.json; every other byte of the file stays."""

    cost = "two short runs of Leafward; the text is made while the summary is"

    def file(self, env: Mapping[str, str]) -> Path:
        """The user's settings: in `$CLAUDE_CONFIG_DIR`, else `~/.claude`."""
        return expanded((env.get("CLAUDE_CONFIG_DIR") or "~/.claude").split(",")[0].strip(), env) / _FILE

    def installed(self, text: str | None, command: Sequence[str]) -> str:
        """The settings with our two hooks."""
        made = text if text is not None and text.strip() else "{}\n"
        made = self.removed(made) or "{}\n"
        hook = {"type": "command", "command": shlex.join(command), "timeout": _SECONDS}
        for event, matcher in _EVENTS:
            group = {"matcher": matcher, "hooks": [hook]} if matcher else {"hooks": [hook]}
            made = _with_group(made, event, json.dumps(group, ensure_ascii=False))
        return made

    def removed(self, text: str) -> str | None:
        """The settings without hooks of ours, whoever changed the rest meanwhile; None where nothing is left."""
        start = root(text, _FILE)
        place = _member(text, start, "hooks", dict)
        if place is None or not self.is_in(text):
            return text
        for event, _ in _EVENTS:
            groups = _member(text, place, event, list)
            if groups is None:
                continue
            every = parts(text, groups)
            ours = [number for number, group in enumerate(every) if _is_ours(group.value)]
            if ours and len(ours) == len(every):
                text = _without_member(text, place, event)
            else:
                text = without(text, groups, ours)
        if not parts(text, place):
            text = _without_member(text, start, "hooks")
        return text if parts(text, start) else None

    def is_in(self, text: str) -> bool:
        """Whether every event has a hook of ours."""
        try:
            hooks = json.loads(text).get("hooks") or {}
            return all(any(map(_is_ours, hooks.get(event) or [])) for event, _ in _EVENTS)
        except (ValueError, AttributeError, TypeError, RecursionError):
            return False

    def heard(self, told: Mapping[str, Any], env: Mapping[str, str]) -> Heard | None:  # noqa: ARG002  # of other agents
        """By the name of the event."""
        session = told.get("transcript_path")
        if not isinstance(session, str) or not session:
            return None
        event, source = told.get("hook_event_name"), told.get("source")
        if event == "PreCompact":
            return Heard(Moment.BEFORE, session)
        return Heard(Moment.AFTER, session) if (event, source) == ("SessionStart", "compact") else None

    def answer(self, text: str) -> str:
        """As additional context, which keeps every byte."""
        return json.dumps(
            {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}
        )


def _is_ours(group: Any) -> bool:
    """Whether a group of hooks runs our command and nothing else."""
    hooks = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(hooks, list) or len(hooks) != 1 or not isinstance(hooks[0], dict):
        return False
    return str(hooks[0].get("command", "")).endswith(_END)


def _member(text: str, at: int, key: str, kind: type[object]) -> int | None:
    """Where a member's value begins; of two of one name the last counts. Raises Refused where it is of another kind."""
    every: list[Part] = parts(text, at)
    found = next((part for part in reversed(every) if part.key == key), None)
    if found is None:
        return None
    if not isinstance(found.value, kind):
        raise Refused(f"{_FILE}: {key!r} is not what Claude Code reads there; put it right first")
    place: int = found.at
    return place


def _without_member(text: str, at: int, key: str) -> str:
    every = parts(text, at)
    return without(text, at, [max(number for number, part in enumerate(every) if part.key == key)])


def _with_group(text: str, event: str, group: str) -> str:
    start = root(text, _FILE)
    hooks = _member(text, start, "hooks", dict)
    if hooks is None:
        return added(text, start, f'"hooks": {{{json.dumps(event)}: [{group}]}}')
    groups = _member(text, hooks, event, list)
    return (
        added(text, hooks, f"{json.dumps(event)}: [{group}]")
        if groups is None
        else added(text, groups, group)
    )
