"""Restores of what the real agents did: each call of a scripted model is made by the agent's own tools in a real folder.

Before each reply the folder is copied, so that what a restore gives can be held against what lay there. Runs where the
agents are named, as in the other tests here; `LEAFWARD_RESTORES` says how many restores an agent is held to.
"""

from __future__ import annotations

import os
import random
import re
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.registry import agent_named
from leafward.session.entries import Kind
from tests.core.files.test_restoration import hold_restores
from tests.folder_contents import Snapshot, snapshot
from tests.oracle.codex import Codex, Script, endpoint
from tests.oracle.codex import call as codex_call
from tests.oracle.installed_agents import (
    CLAUDE,
    CODEX,
    OPENCODE,
    needs_claude,
    needs_codex,
    needs_opencode,
    needs_pi,
)
from tests.oracle.real_agents import ClaudeClient, OpenCodeClient
from tests.oracle.scripted_model import Step, scripted
from tests.oracle.test_tools import Tools
from tests.workbench import NAMES, commands

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from leafward.session.session import Session

REPLIES = 40
RESTORES = int(os.environ.get("LEAFWARD_RESTORES", "40"))


class Work:
    """Steps of an agent in a folder, chosen by its files at that moment; and the files of each moment."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.random = random.Random(seed)
        self.shots: dict[int, Snapshot] = {}
        self.chosen: dict[int, Any] = {}
        for name in NAMES[:3]:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{name} line {at}\n" for at in range(self.random.randint(0, 20))))

    def step(self, number: int) -> tuple[str, dict[str, str]]:
        """A tool and what it is given: `read`, `write`, `edit` or `run`."""
        self.shots[number] = snapshot(self.folder)
        if number not in self.chosen:
            self.chosen[number] = self._choose(number)
        found: tuple[str, dict[str, str]] = self.chosen[number]
        return found

    def _choose(self, number: int) -> tuple[str, dict[str, str]]:
        name = self.random.choice(NAMES)
        path = self.folder / name
        text = path.read_text() if path.is_file() else ""
        lines = text.split("\n")
        pick = self.random.random()
        if pick < 0.25:
            return "read", {"path": name}
        if pick < 0.4:
            made = "".join(f"new {self.random.randint(0, 99)}\n" for _ in range(self.random.randint(1, 9)))
            return "write", {"path": name, "text": made}
        if pick < 0.7 and text:
            at = self.random.randrange(len(lines))
            old = "\n".join(lines[at : at + self.random.randint(1, 3)]) or lines[0]
            return "edit", {"path": name, "old": old, "new": f"edited {number}\nand more"}
        return "run", {"command": self.random.choice(commands(name, self.random.choice(NAMES), number))}


class Steps(list[Step]):
    """Replies that are made when they are asked for."""

    def __init__(self, work: Work, told: Callable[[str, dict[str, str]], Step]) -> None:
        super().__init__([Step("Done.")] * (REPLIES + 1))
        self.work = work
        self.told = told

    def __getitem__(self, number: Any) -> Any:
        step = self.work.step(number)
        return self.told(*step) if number < REPLIES else Step("Done.")


def held(session: Session, work: Work, name: str) -> None:
    """The folder before reply N is that of the entry before it."""
    path = session.tree.path(session.leaf)
    replies = [place for place, entry in enumerate(path) if session.columns.kind[entry] == Kind.ASSISTANT]
    assert len(replies) == REPLIES + 1, (name, len(replies))
    shots = [
        (path[place - 1], work.shots[number]) for number, place in enumerate(replies) if number in work.shots
    ]
    written = hold_restores(session, shots, work.folder, random.Random(name), RESTORES)
    print(f"{name}: {RESTORES} restores of {len(shots)} entries wrote {written} files")
    assert written > RESTORES // 10


@needs_claude
@pytest.mark.parametrize("seed", [1, 2])
def test_claude_code(tmp_path: Path, seed: int) -> None:
    folder, home = tmp_path / "orchard", tmp_path / "home"
    home.mkdir()
    work = Work(folder, seed)

    def told(tool: str, given: dict[str, str]) -> Step:
        file = {"file_path": str(folder / given.get("path", ""))}
        call = {
            "read": ("Read", file),
            "write": ("Write", {**file, "content": given.get("text", "")}),
            "edit": (
                "Edit",
                {**file, "old_string": given.get("old", ""), "new_string": given.get("new", "")},
            ),
            "run": ("Bash", {"command": given.get("command", "")}),
        }[tool]
        return Step("", (call,))

    with scripted({"Go": Steps(work, told)}) as model:
        asked = ClaudeClient(CLAUDE[0], home, model, home / ".claude").ask(folder, "Go on with it")
    store = home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(folder))
    with closing(agent_named("claude").open(store / f"{asked.session}.jsonl")) as session:
        held(session, work, f"claude {seed}")


@needs_opencode
@pytest.mark.parametrize("seed", [1, 2])
def test_opencode(tmp_path: Path, seed: int) -> None:
    folder, home = tmp_path / "orchard", tmp_path / "home"
    home.mkdir()
    work = Work(folder, seed)

    def told(tool: str, given: dict[str, str]) -> Step:
        file = {"filePath": str(folder / given.get("path", ""))}
        call = {
            "read": ("read", file),
            "write": ("write", {**file, "content": given.get("text", "")}),
            "edit": ("edit", {**file, "oldString": given.get("old", ""), "newString": given.get("new", "")}),
            "run": ("bash", {"command": given.get("command", ""), "description": "A command"}),
        }[tool]
        return Step("", (call,))

    with scripted({"Go": Steps(work, told)}) as model:
        client = OpenCodeClient(OPENCODE[0], home, model)
        asked = client.ask(folder, "Go on with it", "--title", "Work")
    with closing(agent_named("opencode").open(client.database / asked.session)) as session:
        held(session, work, f"opencode {seed}")


class Worked(Script):
    """Answers to Codex."""

    def __init__(self, work: Work) -> None:
        super().__init__()
        self.work = work

    def answer(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        made = sum(item.get("type") == "function_call" for item in request.get("input") or [])
        tool, given = self.work.step(made)
        if made >= REPLIES:
            text = {"type": "output_text", "text": "Done.", "annotations": []}
            return [{"type": "message", "id": "msg_1", "role": "assistant", "content": [text]}]
        path = given.get("path", "")
        if tool == "read":
            command = f"cat {path}"
        elif tool == "write":
            body = "".join(f"+{line}\n" for line in given["text"].splitlines())
            command = f"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {path}\n{body}*** End Patch\nEOF"
        elif tool == "edit":
            body = "".join(f"-{line}\n" for line in given["old"].split("\n"))
            body += "".join(f"+{line}\n" for line in given["new"].split("\n"))
            command = (
                f"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: {path}\n@@\n{body}*** End Patch\nEOF"
            )
        else:
            command = given["command"]
        return [codex_call("exec_command", command, str(made))]


@needs_codex
@pytest.mark.parametrize("seed", [1, 2])
def test_codex(tmp_path: Path, seed: int) -> None:
    work = Work(tmp_path / "orchard", seed)
    script = Worked(work)
    client = Codex(tmp_path / "home" / ".codex", work.folder, script, CODEX)
    with endpoint(script) as url:
        client.configure(url)
        client.run("Go on with it")
    with closing(agent_named("codex").open(client.rollouts()[0])) as session:
        held(session, work, f"codex {seed}")


@needs_pi
@pytest.mark.parametrize("seed", [1, 2])
def test_pi(tmp_path: Path, seed: int) -> None:
    tools = Tools(tmp_path / "orchard", tmp_path / "s.jsonl")
    work = Work(tools.folder, seed)
    with tools.process:
        for number in range(REPLIES):
            tool, given = work.step(number)
            path = given.get("path", "")
            if tool == "read":
                tools.do("read", path=path)
            elif tool == "write":
                tools.do("write", path=path, content=given["text"])
            elif tool == "edit":
                tools.do("edit", path=path, edits=[{"oldText": given["old"], "newText": given["new"]}])
            else:
                tools.do("bash", command=given["command"])
        work.step(REPLIES)
        tools.file.said("Done.")
        assert tools.process.stdin is not None
        tools.process.stdin.close()
    with closing(agent_named("pi").open(tmp_path / "s.jsonl")) as session:
        held(session, work, f"pi {seed}")
