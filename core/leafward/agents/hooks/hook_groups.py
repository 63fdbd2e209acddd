"""Hooks as groups of commands by event in a JSON file, as Claude Code and Codex read them.

Both run `PreCompact` before a compaction, and `SessionStart` with the source `compact` behind it; the answer to the latter is
sent to the model. With the sources `resume` and `fork` they run it where a session is taken up again, or a fork of it begins.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from leafward.agents.hooks.hook import HookCommand, HookRequest, Moment, no_summaries
from leafward.agents.storage.json_text import added, parts, root, without
from leafward.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from leafward.agents.hooks.hook import Runner
    from leafward.agents.storage.json_text import JsonItem

_SECONDS = 10
_ON_START = {"compact": Moment.AFTER, "resume": Moment.RESUMED, "fork": Moment.RESUMED}
_ANSWERED = "SessionStart"
_EVENTS: tuple[tuple[str, str | None], ...] = (("PreCompact", None), (_ANSWERED, "|".join(_ON_START)))


@dataclass(frozen=True, slots=True)
class HookGroups:
    """Members of `hooks` in a file; all other bytes of the file stay."""

    agent: str
    """Its name for `leafward hook`."""
    title: str
    name: str
    """The file's name."""
    folder: Callable[[Mapping[str, str]], Path]
    """The agent's folder in an environment."""
    room: int | None = None
    """UTF-16 units of a text that the agent passes on whole."""
    reads_mark: bool = False
    """Whether the agent reads a file that begins with a byte order mark."""
    with_text: Mapping[str, Any] = field(default_factory=dict)
    """Additional members of the hook that answers with the text."""
    note: str = ""
    cost: str = "two short runs of Leafward, one of them while the summary is made; one more where a session is resumed or forked"

    def file(self, env: Mapping[str, str]) -> Path:
        """The file of hooks in the agent's folder."""
        return self.folder(env) / self.name

    def installed(self, text: str | None, runner: Runner, summary: bool = False) -> str:
        """The file's text with our two hooks. Raises Refused where it cannot be read, or where a summary is requested."""
        if summary:
            raise no_summaries(self.title)
        made = text if text is not None and text.strip() else "{}\n"
        made = self.removed(made) or "{}\n"
        for event, matcher in _EVENTS:
            hook = {"type": "command", "command": shlex.join(runner.command), "timeout": _SECONDS}
            hook |= self.with_text if matcher else {}
            group = {"matcher": matcher, "hooks": [hook]} if matcher else {"hooks": [hook]}
            made = self._with_group(made, event, json.dumps(group, ensure_ascii=False))
        return made

    def removed(self, text: str) -> str | None:
        """The text without our hooks, even after changes by others; None where nothing is left. Raises Refused."""
        start = root(text, self.name, marked=self.reads_mark)
        place = self._member(text, start, "hooks", dict)
        if place is None:
            return text
        before = text
        # Under other events too: somebody may have moved one.
        for event in {
            **dict(_EVENTS),
            **{part.key: "" for part in parts(text, place) if isinstance(part.value, list)},
        }:
            text = self._without_ours(text, place, event)
        if text == before:
            return text
        if not parts(text, place):
            text = _without_member(text, start, "hooks")
        return text if parts(text, start) else None

    def _without_ours(self, text: str, place: int, event: str) -> str:
        """The text without our hooks for an event; groups and lists that held nothing else go with them."""
        groups = self._member(text, place, event, list)
        if groups is None:
            return text
        every, whole = parts(text, groups), list[int]()
        for number, group in reversed(list(enumerate(every))):
            ours = self.ours_in(group.value)
            if ours and len(ours) == len(group.value["hooks"]):
                whole.append(number)
            elif ours and (hooks := self._member(text, group.at, "hooks", list)) is not None:
                text = without(text, hooks, ours)
        if whole and len(whole) == len(every):
            return _without_member(text, place, event)
        return without(text, groups, whole)

    def is_in(self, text: str) -> bool:
        """Whether every event has a hook of ours."""
        return all(self._ours(text).values())

    def commands(self, text: str) -> list[HookCommand]:
        """Run by `sh`, as Claude Code does; Codex takes the user's own shell. Only where a session starts the output is read."""
        found: dict[str, bool] = {}
        for event, ours in self._ours(text).items():
            for command in ours:
                found[command] = found.get(command, False) or event == _ANSWERED
        return [HookCommand(("/bin/sh", "-c", command), answers) for command, answers in found.items()]

    def _ours(self, text: str) -> dict[str, list[str]]:
        """Our commands for each event; none where the text cannot be read."""
        try:
            hooks = json.loads(text[root(text, self.name, marked=self.reads_mark) :]).get("hooks") or {}
            return {
                event: [
                    group["hooks"][number]["command"]
                    for group in hooks.get(event) or []
                    for number in self.ours_in(group)
                ]
                for event, _ in _EVENTS
            }
        except (Refused, AttributeError, TypeError):
            return {event: [] for event, _ in _EVENTS}

    def makes_summaries(self, text: str) -> bool:  # noqa: ARG002  # of other agents
        """Never: the agent cannot use one."""
        return False

    def request_in(self, payload: Mapping[str, Any], env: Mapping[str, str]) -> HookRequest | None:  # noqa: ARG002  # of other agents
        """Recognised by the name of the event."""
        session = payload.get("transcript_path")
        # Behind a compaction of a sub-agent neither runs a hook that could add the text. Claude Code 2.1.332 names the file of the
        # session that the sub-agent works for, which is not compacted then; Codex 0.171 the sub-agent's own.
        if not isinstance(session, str) or not session or payload.get("agent_id"):
            return None
        event, source = payload.get("hook_event_name"), payload.get("source")
        # Two processes of Claude Code may compact one session at once. Codex 0.171 lets one process at a time have a thread.
        prompt = payload.get("prompt_id")
        compaction = prompt if isinstance(prompt, str) else ""
        if event == "PreCompact":
            return HookRequest(Moment.BEFORE, session, compaction=compaction)
        moment = _ON_START.get(source) if event == "SessionStart" and isinstance(source, str) else None
        if moment is Moment.RESUMED and not os.path.exists(session):
            # Claude Code 2.1.332 writes the file of a fork with the first prompt there; Codex 0.171 has written it by then.
            return None
        return HookRequest(moment, session, compaction=compaction) if moment is not None else None

    def answer(self, text: str) -> str:
        """The text as additional context, unchanged."""
        return json.dumps(
            {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}
        )

    def ours_in(self, group: Any) -> list[int]:
        """The numbers of our commands in a group of hooks, wherever Leafward is installed and whatever was added to them."""
        hooks = group.get("hooks") if isinstance(group, dict) else None
        called = re.compile(rf"\bleafward hook {self.agent}(?![\w-])")
        return [
            number
            for number, hook in enumerate(hooks if isinstance(hooks, list) else ())
            if isinstance(hook, dict)
            and isinstance(command := hook.get("command"), str)
            and called.search(command)
        ]

    def _member(self, text: str, at: int, key: str, kind: type[object]) -> int | None:
        """Offset of a member's value; the last of two with one name counts. Raises Refused where the value is of another type."""
        every: list[JsonItem] = parts(text, at)
        found = next((part for part in reversed(every) if part.key == key), None)
        if found is None:
            return None
        if not isinstance(found.value, kind):
            raise Refused(f"{self.name}: {key!r} is not what {self.title} reads there; fix it first")
        place: int = found.at
        return place

    def _with_group(self, text: str, event: str, group: str) -> str:
        start = root(text, self.name, marked=self.reads_mark)
        hooks = self._member(text, start, "hooks", dict)
        if hooks is None:
            return added(text, start, f'"hooks": {{{json.dumps(event)}: [{group}]}}')
        groups = self._member(text, hooks, event, list)
        return (
            added(text, hooks, f"{json.dumps(event)}: [{group}]")
            if groups is None
            else added(text, groups, group)
        )


def _without_member(text: str, at: int, key: str) -> str:
    every = parts(text, at)
    return without(text, at, [max(number for number, part in enumerate(every) if part.key == key)])
