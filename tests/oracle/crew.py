"""The four real agents at work in one folder: each prompt does what is chosen when the agent asks its model what to do."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol, Self

from tests.oracle.codex import Codex, Script, endpoint, text_of
from tests.oracle.installed_agents import CLAUDE, CODEX, NODE, OPENCODE, PI
from tests.oracle.real_agents import LIMIT, AgentFailed, ClaudeClient, OpenCodeClient
from tests.oracle.scripted_model import Call, Model, Step, scripted

if TYPE_CHECKING:
    from pathlib import Path

Deed = tuple[str, dict[str, Any]]
"""A step of an agent: `read`, `write`, `edit`, `run` or `delegate`, and what with."""
Task = Callable[[int], Deed | None]
"""The deeds of a prompt, by their number from 0; None behind the last. It is asked once for each number."""
AGENTS = {
    "claude": bool(CLAUDE),
    "codex": bool(CODEX),
    "opencode": bool(OPENCODE),
    "pi": bool(PI and NODE),
}
"""Which of them the environment names."""
_IDS = count(1)


class Agent(Protocol):
    """One agent in a home of its own."""

    kind: str
    root: Path
    """Where its sessions are found."""

    def ask(self, folder: Path, prompt: str, task: Task, session: str = "", *, forks: bool = False) -> str:
        """Lets it work on a prompt, in a new session or in one that it goes on in, or in a fork of that; the session's id."""
        ...

    def file(self, session: str) -> Path:
        """A session, as `open` of its agent takes it."""
        ...


class Once:
    """The deeds of a prompt, each chosen once however often it is asked for."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._chosen: list[Deed | None] = []

    def deed(self, number: int) -> Deed | None:
        """The deed of a number, or of the last one before it."""
        while len(self._chosen) <= number and (not self._chosen or self._chosen[-1] is not None):
            self._chosen.append(self._task(len(self._chosen)))
        return self._chosen[number] if number < len(self._chosen) else None


class Replies(list[Step]):
    """The steps of a prompt, made when they are asked for."""

    def __init__(self, task: Task, called: Callable[[Deed], Call]) -> None:
        super().__init__([Step("Done.")] * 1000)
        self._once = Once(task)
        self._called = called

    def __getitem__(self, number: Any) -> Any:
        deed = self._once.deed(number)
        return Step("Done.") if deed is None else Step("", (self._called(deed),))


@dataclass(slots=True)
class Claude:
    """Claude Code."""

    root: Path
    model: Model
    kind: str = "claude"
    _folders: dict[str, Path] = field(default_factory=dict)

    def ask(
        self,
        folder: Path,
        prompt: str,
        task: Task,
        session: str = "",
        *,
        forks: bool = False,
        back: str = "",
    ) -> str:
        """As `Agent` says; `back` is the row that it goes back to first."""
        client = ClaudeClient(CLAUDE[0], self.root, self.model, self.root / ".claude")

        def called(deed: Deed) -> Call:
            tool, given = deed
            file = {"file_path": str(folder / given.get("path", ""))}
            if tool == "delegate":
                self.model.script[given["prompt"]] = Replies(given["task"], called)
                task_of = {"description": "A part of it", "prompt": given["prompt"]}
                return "Agent", {**task_of, "subagent_type": "general-purpose", "run_in_background": False}
            if tool == "edit":
                return "Edit", {**file, "old_string": given["old"], "new_string": given["new"]}
            return {
                "read": ("Read", file),
                "write": ("Write", {**file, "content": given.get("text", "")}),
                "run": ("Bash", {"command": given.get("command", "")}),
            }[tool]

        self.model.script[prompt] = Replies(task, called)
        options = ["--resume", session] if session else []
        options += ["--resume-session-at", back] if back else []
        asked = client.ask(folder, prompt, *options, *(["--fork-session"] if forks else []))
        self._folders[asked.session] = folder
        return asked.session

    def file(self, session: str) -> Path:
        """As `Agent` says."""
        name = re.sub(r"[^A-Za-z0-9]", "-", str(self._folders[session]))
        return self.root / ".claude" / "projects" / name / f"{session}.jsonl"


@dataclass(slots=True)
class OpenCode:
    """opencode."""

    root: Path
    model: Model
    kind: str = "opencode"

    def _client(self) -> OpenCodeClient:
        return OpenCodeClient(OPENCODE[0], self.root, self.model)

    def ask(self, folder: Path, prompt: str, task: Task, session: str = "", *, forks: bool = False) -> str:
        """As `Agent` says."""

        def called(deed: Deed) -> Call:
            tool, given = deed
            file = {"filePath": str(folder / given.get("path", ""))}
            if tool == "delegate":
                self.model.script[given["prompt"]] = Replies(given["task"], called)
                return "task", {
                    "description": "A part of it",
                    "prompt": given["prompt"],
                    "subagent_type": "general",
                }
            if tool == "edit":
                return "edit", {**file, "oldString": given["old"], "newString": given["new"]}
            return {
                "read": ("read", file),
                "write": ("write", {**file, "content": given.get("text", "")}),
                "run": ("bash", {"command": given.get("command", ""), "description": "A command"}),
            }[tool]

        self.model.script[prompt] = Replies(task, called)
        options = ["-s", session] if session else ["--title", "Work"]
        asked = self._client().ask(folder, prompt, *options, *(["--fork"] if forks else []))
        return asked.session

    def file(self, session: str) -> Path:
        """As `Agent` says."""
        return self._client().database / session


@dataclass(slots=True)
class Pi:
    """pi."""

    root: Path
    model: Model
    kind: str = "pi"

    def ask(self, folder: Path, prompt: str, task: Task, session: str = "", *, forks: bool = False) -> str:
        """As `Agent` says."""
        agent = self._configured()
        self.model.script[prompt] = Replies(task, _pi_call)
        before = set(agent.rglob("*.jsonl"))
        options = ["--fork" if forks else "--session", session] if session else []
        argv = [NODE, f"{PI}/dist/bundle/cli.js", "-p", *options, "--", prompt]
        environment = {
            **{name: value for name, value in os.environ.items() if name in ("PATH", "LANG")},
            "HOME": str(self.root),
            "PI_CODING_AGENT_DIR": str(agent),
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
            "PI_SKIP_VERSION_CHECK": "1",
        }
        asked = len(self.model.requests)
        ran = subprocess.run(
            argv,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        if len(self.model.requests) == asked:
            raise AgentFailed(f"{ran.returncode}: {ran.stderr[-600:]}")
        made = set(agent.rglob("*.jsonl")) - before
        return str(made.pop()) if made else session

    def _configured(self) -> Path:
        agent = self.root / "agent"
        agent.mkdir(parents=True, exist_ok=True)
        pear = {
            "id": "pear-1",
            "name": "Pear",
            "reasoning": False,
            "input": ["text"],
            "contextWindow": 1_000_000,
            "maxTokens": 8_000,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        }
        grove = {"baseUrl": f"{self.model.url}/v1", "api": "openai-completions", "apiKey": "none"}
        providers = {"providers": {"grove": {**grove, "models": [pear]}}}
        (agent / "models.json").write_text(json.dumps(providers))
        chosen = {"defaultProvider": "grove", "defaultModel": "pear-1", "retry": {"enabled": False}}
        (agent / "settings.json").write_text(json.dumps(chosen))
        return agent

    def file(self, session: str) -> Path:
        """As `Agent` says."""
        return self.root.__class__(session)


def _pi_call(deed: Deed) -> Call:
    tool, given = deed
    if tool == "edit":
        edits = [{"oldText": given["old"], "newText": given["new"]}]
        return "edit", {"path": given["path"], "edits": edits}
    return {
        "read": ("read", {"path": given.get("path", "")}),
        "write": ("write", {"path": given.get("path", ""), "content": given.get("text", "")}),
        "run": ("bash", {"command": given.get("command", "")}),
    }[tool]


@dataclass(slots=True)
class CodexModel(Script):
    """Answers to Codex: the steps of a prompt, one after the other."""

    tasks: dict[str, Once] = field(default_factory=dict)

    def answer(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """As `Script` says."""
        items = request.get("input") or []
        for place in range(len(items) - 1, -1, -1):
            text = text_of(items[place]) if items[place].get("role") == "user" else ""
            task = next((task for prompt, task in self.tasks.items() if prompt in text), None)
            if task is not None:
                kinds = [str(item.get("type")) for item in items[place:]]
                deed = task.deed(sum(kind.endswith("_call") for kind in kinds))
                if deed is not None:
                    return [_codex_call(deed, {str(one.get("name")) for one in request.get("tools") or []})]
                break
        number = next(_IDS)
        text_block = {"type": "output_text", "text": f"Done ({number}).", "annotations": []}
        return [{"type": "message", "id": f"msg_{number:020}", "role": "assistant", "content": [text_block]}]


def _codex_call(deed: Deed, tools: set[str]) -> dict[str, Any]:
    tool, given = deed
    number = next(_IDS)
    path, ids = given.get("path", ""), {"id": f"fc_{number:020}", "call_id": f"call_{number:020}"}
    patch = ""
    if tool == "write":
        # An Add File of a file that is there replaces it.
        patch = f"*** Add File: {path}\n" + "".join(f"+{line}\n" for line in given["text"].splitlines())
    elif tool == "edit":
        patch = f"*** Update File: {path}\n@@\n" + "".join(
            f"{sign}{line}\n"
            for sign, text in (("-", "old"), ("+", "new"))
            for line in given[text].split("\n")
        )
    if patch:
        patch = f"*** Begin Patch\n{patch}*** End Patch\n"
        if "apply_patch" in tools and number % 2:
            return {"type": "custom_tool_call", **ids, "name": "apply_patch", "input": patch}
    command = f"apply_patch <<'EOF'\n{patch}EOF" if patch else given.get("command", f"cat {path}")
    return {
        "type": "function_call",
        **ids,
        "name": "exec_command",
        "arguments": json.dumps({"cmd": command}),
    }


@dataclass(slots=True)
class CodexAgent:
    """Codex."""

    root: Path
    model: CodexModel
    url: str
    kind: str = "codex"

    def ask(self, folder: Path, prompt: str, task: Task, session: str = "", *, forks: bool = False) -> str:
        """As `Agent` says. Of a thread Codex makes no fork without a terminal."""
        assert not forks
        client = Codex(self.root / ".codex", folder, self.model, CODEX)
        client.configure(self.url)
        self.model.tasks[prompt] = Once(task)
        before = set(client.rollouts())
        client.run(*(("resume", session) if session else ()), prompt)
        made = set(client.rollouts()) - before
        return made.pop().stem[-36:] if made else session

    def file(self, session: str) -> Path:
        """As `Agent` says."""
        return next((self.root / ".codex" / "sessions").rglob(f"rollout-*{session}.jsonl"))


class Crew:
    """Agents in homes of their own below a folder, and the models that they ask, while a block runs."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._stack = ExitStack()
        self.agents: dict[str, Agent] = {}

    def __enter__(self) -> Self:
        self.model = self._stack.enter_context(scripted({}))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def hire(self, kind: str) -> Agent:
        """The agent of a name."""
        if kind not in self.agents:
            home = self._root / f"home-{kind}"
            home.mkdir(parents=True)
            if kind == "codex":
                script = CodexModel()
                self.agents[kind] = CodexAgent(home, script, self._stack.enter_context(endpoint(script)))
            else:
                made = {"claude": Claude, "opencode": OpenCode, "pi": Pi}[kind]
                self.agents[kind] = made(home, self.model)
        return self.agents[kind]
