"""One version of Claude Code, opencode or pi records a small session; every request that it made is kept."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.oracle.orchard import Tools, planted, script
from tests.oracle.real_agents import AgentFailed, ClaudeClient, OpenCodeClient
from tests.oracle.scripted_model import Model, Step, scripted
from tests.oracle.sweep_codex import PIXEL

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SUMMARY = "Fruit was compared, the list is written."
PROMPTS = ("Hello there", "Compare the fruit", "Look at the picture", "Write the list", "Thank you all")


@dataclass(slots=True)
class Run:
    """What an agent did."""

    session: Path
    """As its agent's `open` takes it."""
    requests: list[dict[str, Any]]
    """Those of the conversation, in order; requests for titles and summaries are left out."""
    resumes_badly: bool = False
    """Whether this version, resumed, sends calls that were made together twice or not at all."""
    tried: set[str] = field(default_factory=lambda: {"parallel", "failure", "write", "resume"})


def offered(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Requests of the conversation itself: tools are offered, and no summary is asked for."""
    found = []
    for body in requests:
        last = json.dumps(body["messages"][-2:])
        if (
            body.get("tools")
            and "detailed summary" not in last
            and "Warmup" not in json.dumps(body["messages"][:2])[:400]
        ):
            found.append(body)
    return found


def painted(folder: Path) -> Path:
    """A project with fruit and a picture, under git."""
    planted(folder)
    (folder / "pixel.png").write_bytes(base64.b64decode(PIXEL))
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for argv in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "Fruit")):
        subprocess.run(["git", *argv], cwd=folder, check=True, capture_output=True)
    return folder


def steps(project: Path, tools: Tools) -> dict[str, list[Step]]:
    """What the model does: the orchard's script, and a look at a picture."""
    picture = Step("", (tools.read(str(project / "pixel.png")),))
    return {
        "detailed summary": [Step(f"<analysis>long</analysis>\n<summary>\n{SUMMARY}\n</summary>")],
        **script(project, tools),
        "Look at": [picture, Step("A pixel.")],
    }


# --- Claude Code ---

CLAUDE = Tools(
    lambda path: ("Read", {"file_path": path}),
    lambda path, text: ("Write", {"file_path": path, "content": text}),
    ("Bash", {"command": "ls nowhere", "description": "look"}),
)


def claude_program(package: Path, folder: Path) -> str | None:
    """A program out of an unpacked package; a script is run by node."""
    modules = package / "node_modules" / "@anthropic-ai"
    native = modules / "claude-code-linux-x64" / "claude"
    if native.is_file():
        native.chmod(0o755)
        return str(native)
    cli = modules / "claude-code" / "cli.js"
    node = shutil.which("node")
    if node is None or not cli.is_file():
        return None
    wrapper = folder / "claude"
    wrapper.write_text(f'#!/bin/sh\nexec "{node}" "{cli}" "$@"\n', "utf-8")
    wrapper.chmod(0o755)
    return str(wrapper)


def record_claude(package: Path, folder: Path) -> Run | None:
    """A session with a compaction, and one turn taken back where the version can do that."""
    program = claude_program(package, folder)
    if program is None:
        return None
    project, home = painted(folder / "orchard"), folder / "home"
    home.mkdir()
    with scripted(steps(project, CLAUDE)) as model:
        client = ClaudeClient(program, home, model, home / ".claude")
        session = ""
        tried = {"parallel", "failure", "write", "resume", "image"}
        for prompt in (*PROMPTS[:4], "/compact", *PROMPTS[4:]):
            asked = client.ask(
                project, prompt, *(("--resume", session) if session else ()), fails=prompt.startswith("/")
            )
            session = asked.session or session
        requests = offered(model.requests)
        store = home / ".claude" / "projects"
        paths = [
            path
            for path in store.rglob("*.jsonl")
            if not path.name.startswith("agent-") and "subagents" not in path.parts
        ]
        path = max(paths, key=lambda path: path.stat().st_size)
        if "compact_boundary" in path.read_text("utf-8"):
            tried.add("compaction")
        number = tuple(map(int, package.name.partition("-")[2].split(".")))
        return Run(path, requests, number < (2, 1, 100), tried)


# --- opencode ---

OPENCODE = Tools(
    lambda path: ("read", {"filePath": path}),
    lambda path, text: ("write", {"filePath": path, "content": text}),
    ("bash", {"command": "ls nowhere", "description": "look"}),
)


def record_opencode(package: Path, folder: Path) -> Run | None:
    """A session with a summary, where the server of the version makes one."""
    program = package / "node_modules" / "opencode-linux-x64" / "bin" / "opencode"
    if not program.is_file():
        return None
    program.chmod(0o755)
    project, home = painted(folder / "orchard"), folder / "home"
    home.mkdir()
    words = {"ummar": [Step(SUMMARY)], **steps(project, OPENCODE)}
    with scripted(words) as model:
        client = OpenCodeClient(str(program), home, model)
        tried = {"parallel", "failure", "write", "resume", "image"}
        session = ""
        for prompt in PROMPTS[:4]:
            asked = client.ask(project, prompt, *(("-s", session) if session else ()))
            session = asked.session or session
        before = len(model.requests)
        try:
            with client.serving(project) as post:
                post(f"/session/{session}/summarize", {"providerID": "grove", "modelID": "pear-1"})
        except (OSError, ValueError, StopIteration):
            pass
        if len(model.requests) > before:
            tried.add("compaction")
        summaries = model.requests[before:]
        client.ask(project, PROMPTS[4], "-s", session)
        requests = [one for one in offered(model.requests) if one not in summaries]
        data = home / "data" / "opencode"
        if client.database.exists():
            return Run(client.database / session, requests, tried=tried)
        return Run(next(data.rglob(f"{session}.json")), requests, tried=tried)


# --- pi ---

PI = Tools(
    lambda path: ("read", {"path": path}),
    lambda path, text: ("write", {"path": path, "content": text}),
    ("bash", {"command": "ls nowhere"}),
)


def pi_script(package: Path) -> Path | None:
    """The program that node runs."""
    ways = (
        package / "package" / "dist" / "bundle" / "cli.js",
        package / "package" / "dist" / "cli.js",
        package / "node_modules" / "@earendil-works" / "pi-coding-agent" / "dist" / "cli.js",
    )
    return next((way for way in ways if way.is_file()), None)


def record_pi(package: Path, folder: Path) -> Run | None:
    """A session of five prompts."""
    cli = pi_script(package)
    node = os.environ.get("LEAFWARD_NODE") or shutil.which("node")
    if cli is None or node is None:
        return None
    project, home = painted(folder / "orchard"), folder / "home"
    agent = home / "agent"
    agent.mkdir(parents=True)
    with scripted(steps(project, PI)) as model:
        models = [
            {
                "id": "pear-1",
                "name": "Pear",
                "reasoning": False,
                "input": ["text", "image"],
                "contextWindow": 100_000,
                "maxTokens": 8_000,
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
            }
        ]
        provider = {
            "baseUrl": f"{model.url}/v1",
            "api": "openai-completions",
            "apiKey": "none",
            "models": models,
        }
        (agent / "models.json").write_text(json.dumps({"providers": {"grove": provider}}))
        (agent / "settings.json").write_text(
            json.dumps({"defaultProvider": "grove", "defaultModel": "pear-1", "retry": {"enabled": False}})
        )
        environment = {
            **{name: value for name, value in os.environ.items() if name in ("PATH", "LANG")},
            "HOME": str(home),
            "PI_CODING_AGENT_DIR": str(agent),
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
            "PI_SKIP_VERSION_CHECK": "1",
        }
        path: Path | None = None
        for prompt in PROMPTS:
            argv = [node, str(cli), "-p", *(("--session", str(path)) if path else ()), prompt]
            before = len(model.requests)
            ran = subprocess.run(
                argv,
                cwd=project,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=90,
                check=False,
            )
            if len(model.requests) == before:
                raise AgentFailed(f"{ran.returncode}: {ran.stderr[-600:]}")
            path = path or next(agent.rglob("*.jsonl"))
        assert path is not None
        return Run(path, offered(model.requests), tried={"parallel", "failure", "write", "resume", "image"})


RECORD: dict[str, Callable[[Path, Path], Run | None]] = {
    "claude": record_claude,
    "opencode": record_opencode,
    "pi": record_pi,
}

__all__ = ["PROMPTS", "RECORD", "SUMMARY", "AgentFailed", "Model", "Run"]
