"""One version of Claude Code, opencode or pi records a small session; every request that it made is kept."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.oracle.open_pi import OpenPi, running
from tests.oracle.orchard import Tools, planted, script
from tests.oracle.real_agents import LIMIT, AgentFailed, ClaudeClient, OpenCodeClient
from tests.oracle.resume import ResumeError
from tests.oracle.scripted_model import Model, Step, scripted
from tests.oracle.sweep_codex import PIXEL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SUMMARY = "Fruit was compared, the list is written."
PROMPTS = (
    "Hello there",
    "Compare the fruit",
    "Look at the picture",
    "Write the list",
    "Thank you all",
    "Good night",
)
AFTER = ("Hello again", "Good morning")
"""The prompt in place of the last one after a rewind or a revert, and the next."""


@dataclass(slots=True)
class Run:
    """Events of an agent's run."""

    session: Path
    """As its agent's `open` takes it."""
    requests: list[dict[str, Any]]
    """Those of the conversation, in order; requests for titles and summaries are left out."""
    resumes_badly: bool = False
    """Whether this version, resumed, sends calls that were made together twice or not at all."""
    mixes_results: bool = False
    """Whether this version, while it works, sends results of calls made together in the order in which they came."""
    tried: set[str] = field(default_factory=lambda: {"parallel", "failure", "write", "resume"})
    undone: list[dict[str, Any]] = field(default_factory=list)
    """Those of them whose replies a revert took back: some versions delete these."""


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
    """Steps of the model: the orchard's script, and a look at a picture."""
    picture = Step("", (tools.read(str(project / "pixel.png")),))
    return {
        "detailed summary": [Step(f"<analysis>long</analysis>\n<summary>\n{SUMMARY}\n</summary>")],
        **script(project, tools),
        "Look at": [picture, Step("A pixel.")],
    }


def number_of(package: Path) -> tuple[int, ...]:
    """The version that a package's folder is named after."""
    return tuple(map(int, package.name.partition("-")[2].split(".")))


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
    # It is a module to 0.2.36.
    scripts = [modules / "claude-code" / name for name in ("cli.js", "cli.mjs")]
    cli = next(filter(Path.is_file, scripts), None)
    node = shutil.which("node")
    if node is None or cli is None:
        return None
    wrapper = folder / "claude"
    wrapper.write_text(f'#!/bin/sh\nexec "{node}" "{cli}" "$@"\n', "utf-8")
    wrapper.chmod(0o755)
    return str(wrapper)


def record_claude(package: Path, folder: Path) -> Run | None:
    """A session with a compaction, and turns taken back where the version can do that: the last one, and past the compaction."""
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
            # 1.0.81 names a session of the command alone, which it does not write.
            if not session or any(home.rglob(f"{asked.session}.jsonl")):
                session = asked.session or session
        path = newest(home)
        if "compact_boundary" in path.read_text("utf-8"):
            tried.add("compaction")
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        named = {row["uuid"]: row for row in rows if "uuid" in row}
        # The prompt may hang on another row of the reply than the last (2.0.42), and only what is above it can be gone back to.
        back = next(row["parentUuid"] for row in rows if PROMPTS[-1] in str(row.get("message")))
        while named[back]["type"] != "assistant":
            back = named[back]["parentUuid"]
        before = len(model.requests)
        try:
            client.ask(project, AFTER[0], "--resume", session, "--resume-session-at", back)
            client.ask(project, AFTER[1], "--resume", session)
            tried.add("rewind")
        except AgentFailed as error:
            # The oldest do not know the option.
            if "resume-session-at" not in str(error):
                raise
            # 2.0.42 begins a session of its own, and fails.
            del model.requests[before:]
        requests = offered(model.requests)
        badly = number_of(package) < (2, 1, 100)
        return Run(newest(home), requests, resumes_badly=badly, tried=tried)


def newest(home: Path) -> Path:
    """The transcript of Claude Code that says most."""
    store = home / ".claude" / "projects"
    paths = [
        path
        for path in store.rglob("*.jsonl")
        if not path.name.startswith("agent-") and "subagents" not in path.parts
    ]
    return max(paths, key=lambda path: path.stat().st_size)


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
        client = OpenCodeClient(str(program), home, model, images=True, version=number_of(package))
        client.prepare(package / "node_modules")
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
        # 1.0.98 and 1.0.152 go on by themselves behind a summary: that request is one of the conversation.
        goes_on = "Continue if you have next steps"
        summaries = [
            one for one in model.requests[before:] if goes_on not in json.dumps(one["messages"][-1:])
        ]
        for prompt in PROMPTS[4:]:
            client.ask(project, prompt, "-s", session)
        undone = model.main()[-1:]
        try:
            with client.serving(project) as post:
                said = post(f"/session/{session}/message", None)
                (last,) = [one["info"]["id"] for one in said if PROMPTS[-1] in json.dumps(one["parts"])]
                post(f"/session/{session}/revert", {"messageID": last})
            tried.add("revert")
        except (OSError, ValueError, StopIteration):
            undone = []
        for prompt in AFTER if undone else ():
            client.ask(project, prompt, "-s", session)
        requests = [one for one in offered(model.requests) if one not in summaries]
        data = home / "data" / "opencode"
        if client.database.exists():
            return Run(client.database / session, requests, tried=tried, undone=undone)
        # The tree of files has one of that name for what the session changed as well.
        path = next(one for one in data.rglob(f"{session}.json") if one.parent.name != "session_diff")
        return Run(path, requests, mixes_results=client.version < (1, 0), tried=tried, undone=undone)


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
        package / "node_modules" / "@mariozechner" / "pi-coding-agent" / "dist" / "cli.js",
    )
    return next((way for way in ways if way.is_file()), None)


MOVED = 20
"""Most seconds until a move stands in the file."""
MOVE = """export default function (pi) {
  pi.registerCommand("go", { description: "", handler: (id, ctx) => ctx.navigateTree(id, { summarize: true }) });
}
"""
"""An extension of pi with a command for what is else done at a terminal alone: moving in the tree."""


def record_pi(package: Path, folder: Path) -> Run | None:
    """A session with a compaction, and a move before it with a summary, where pi finds what it loads extensions with."""
    cli = pi_script(package)
    node = os.environ.get("LEAFWARD_NODE") or shutil.which("node")
    if cli is None or node is None:
        return None
    project, home = painted(folder / "orchard"), folder / "home"
    agent = home / "agent"
    agent.mkdir(parents=True)
    with scripted({"ummar": [Step(SUMMARY)], **steps(project, PI)}) as model:
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
            json.dumps(
                {
                    "defaultProvider": "grove",
                    "defaultModel": "pear-1",
                    "retry": {"enabled": False},
                    "compaction": {"keepRecentTokens": 60},
                }
            )
        )
        environment = {
            **{name: value for name, value in os.environ.items() if name in ("PATH", "LANG")},
            "HOME": str(home),
            "PI_CODING_AGENT_DIR": str(agent),
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
            "PI_SKIP_VERSION_CHECK": "1",
        }
        extension = folder / "move.js"
        extension.write_text(MOVE, "utf-8")
        path: Path | None = None

        def ask(prompt: str) -> None:
            nonlocal path
            argv = [node, str(cli), "-p", *(("--session", str(path)) if path else ()), prompt]
            before = len(model.requests)
            ran = subprocess.run(
                argv,
                cwd=project,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LIMIT,
                check=False,
            )
            if len(model.requests) == before:
                raise AgentFailed(f"{ran.returncode}: {ran.stderr[-2000:]}")
            path = path or next(agent.rglob("*.jsonl"))

        @contextmanager
        def open_(*options: str) -> Iterator[OpenPi]:
            assert path is not None
            argv = [node, str(cli), "--mode", "rpc", *options, "--session", str(path)]
            with running(argv, project, environment) as process:
                yield OpenPi(process, path, model.requests)

        tried = {"parallel", "failure", "write", "resume", "image", "compaction"}
        for prompt in PROMPTS[:4]:
            ask(prompt)
        with open_() as pi:
            pi.command("compact")
            pi.say(PROMPTS[4])
        ask(PROMPTS[5])
        assert path is not None
        if number_of(package) < (0, 50):
            # These load no such extension, and the oldest have no tree.
            return Run(path, offered(model.requests), tried=tried)
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        first = next(row["id"] for row in rows if row.get("message", {}).get("role") == "assistant")
        try:
            with open_("--extension", str(extension)) as pi:
                pi.command("prompt", message=f"/go {first}")
                # To 0.63 the command is confirmed before it is carried out.
                until = time.monotonic() + MOVED
                while '"branch_summary"' not in path.read_text("utf-8") and time.monotonic() < until:
                    time.sleep(0.1)
                pi.say(AFTER[0])
        except ResumeError:
            # Of its package alone it starts without extensions.
            return Run(path, offered(model.requests), tried=tried)
        ask(AFTER[1])
        return Run(path, offered(model.requests), tried=tried | {"rewind"})


RECORD: dict[str, Callable[[Path, Path], Run | None]] = {
    "claude": record_claude,
    "opencode": record_opencode,
    "pi": record_pi,
}

__all__ = ["PROMPTS", "RECORD", "SUMMARY", "AgentFailed", "Model", "Run"]
