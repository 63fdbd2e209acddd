"""The real Claude Code and opencode, asked one prompt at a time in homes of their own, against a scripted model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.oracle.scripted_model import Model

LIMIT = 400
"""Seconds that an agent may take for one prompt."""


ENDING = 20
"""Seconds that a server may take to end."""


class AgentFailed(Exception):
    """The agent ended with an error, or asked the model nothing."""


@dataclass(frozen=True, slots=True)
class ClaudeClient:
    """Claude Code in a home of its own."""

    program: str
    home: Path
    model: Model
    config: Path

    def environment(self) -> dict[str, str]:
        """Its environment: nothing of ours, no telemetry, no updates, the model on loopback."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
            "TZ": "UTC",
        }

    def version(self) -> str:
        """As it says."""
        ran = subprocess.run(
            [self.program, "--version"], env=self.environment(), capture_output=True, text=True, check=False
        )
        return ran.stdout.split()[0] if ran.stdout else ""

    def ask(self, folder: Path, prompt: str, *arguments: str, fails: bool = False) -> Asked:
        """Asks one prompt in a folder; `arguments` come before it."""
        argv = [self.program, "-p", *arguments, "--output-format", "json"]
        argv += ["--allowedTools", "Read,Bash,Edit,Write,Agent,Task", "--", prompt]
        since = len(self.model.requests)
        environment = {**self.environment(), "PWD": str(folder)}
        ran = subprocess.run(
            argv,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        sent = self.model.main(since)
        if not fails and (ran.returncode or not sent):
            raise AgentFailed(f"{argv}: {ran.returncode}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}")
        told = json.loads(ran.stdout) if ran.stdout.startswith(("{", "[")) else {}
        if isinstance(told, list):
            told = told[-1]
        return Asked(sent, str(told.get("session_id", "")), ran.stdout + ran.stderr)


@dataclass(frozen=True, slots=True)
class Asked:
    """Outcome of one prompt."""

    requests: list[dict[str, Any]]
    session: str
    """Its id, as the agent says."""
    output: str = ""

    @property
    def first(self) -> dict[str, Any]:
        """The first request."""
        return self.requests[0]


@dataclass(frozen=True, slots=True)
class OpenCodeClient:
    """opencode in a home of its own."""

    program: str
    home: Path
    model: Model
    compacts: bool = False
    """Whether it compacts by itself."""
    keeps: int | None = None
    """The tokens that it keeps beside a summary; None for as many as it likes."""
    images: bool = False
    """Whether the model takes images, which opencode then sends behind the results that hold them."""
    version: tuple[int, ...] = (1, 1)

    def prepare(self, modules: Path) -> None:
        """Gives a version before 1.1 what it would fetch: its client of a model, of its time, and its configuration in a file."""
        cache, config = self.home / "cache" / "opencode", self.home / "config" / "opencode"
        client = "@ai-sdk/openai-compatible"
        if self.version < (1, 1) and (modules / client).is_dir():
            cache.mkdir(parents=True)
            for needed in ("@ai-sdk", "@standard-schema", "eventsource-parser", "zod", "json-schema"):
                if (modules / needed).is_dir():
                    shutil.copytree(modules / needed, cache / "node_modules" / needed)
            # It takes what its list calls the latest, and clears a folder of another form than 9.
            (cache / "package.json").write_text(json.dumps({"dependencies": {client: "latest"}}), "utf-8")
            (cache / "version").write_text("9", "utf-8")
        if self.version < (1, 0):
            known = json.loads(self.environment(self.home)["OPENCODE_CONFIG_CONTENT"])
            for name in ("lsp", "formatter", "enabled_providers", "compaction"):
                del known[name]
            config.mkdir(parents=True)
            (config / "opencode.json").write_text(json.dumps(known), "utf-8")

    def environment(self, folder: Path) -> dict[str, str]:
        """Its environment: nothing of ours, no sharing, no updates, no list of models, the model on loopback."""
        provider: dict[str, Any] = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{self.model.url}/v1", "apiKey": "none"},
            "models": {"pear-1": {"name": "Pear", "limit": {"context": 100_000, "output": 8_000}}},
        }
        if self.images:
            takes = {"input": ["text", "image"], "output": ["text"]}
            provider["models"]["pear-1"] |= {"attachment": True, "modalities": takes}
        config = {
            "provider": {
                "grove": provider,
                "fake": {**provider, "models": {"fake-model": provider["models"]["pear-1"]}},
            },
            "model": "grove/pear-1",
            "small_model": "grove/pear-1",
            "enabled_providers": ["grove", "fake"],
            "compaction": {"auto": self.compacts}
            | ({} if self.keeps is None else {"preserve_recent_tokens": self.keeps}),
            "share": "disabled",
            "autoupdate": False,
            "lsp": False,
            "formatter": False,
        }
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.home / "data"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "XDG_STATE_HOME": str(self.home / "state"),
            "OPENCODE_CONFIG_CONTENT": json.dumps(config),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_SHARE": "1",
            "PWD": str(folder),
            "TZ": "UTC",
        }

    @property
    def database(self) -> Path:
        """Where its sessions lie."""
        return self.home / "data" / "opencode" / "opencode.db"

    def run(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs one of its commands in a folder."""
        return subprocess.run(
            [self.program, *arguments],
            cwd=folder,
            env=self.environment(folder),
            capture_output=True,
            text=True,
            timeout=LIMIT,
            stdin=subprocess.DEVNULL,
            check=False,
        )

    @contextmanager
    def serving(self, folder: Path) -> Iterator[Callable[[str, dict[str, Any] | None], Any]]:
        """Its server, for what no command does: yields what posts a document to a path of it, or gets what lies there."""
        process = subprocess.Popen(
            [self.program, "serve", "--port", "0", "--hostname", "127.0.0.1"],
            cwd=folder,
            env=self.environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            assert process.stdout is not None
            line = next((line for line in process.stdout if "http://" in line), "")
            root = line[line.index("http://") :].strip()

            def post(path: str, body: dict[str, Any] | None) -> Any:
                data = None if body is None else json.dumps(body).encode()
                request = Request(root + path, data, {"content-type": "application/json"})
                with urlopen(request, timeout=LIMIT) as answer:
                    return json.loads(answer.read() or b"null")

            yield post
        finally:
            process.terminate()
            try:
                process.communicate(timeout=ENDING)
            except subprocess.TimeoutExpired:
                # 1.18.33 waits for an installation in the background that needs the network.
                process.kill()
                process.communicate()

    def ask(self, folder: Path, prompt: str, *arguments: str) -> Asked:
        """Asks one prompt in a folder; `arguments` come before it."""
        since = len(self.model.requests)
        tells = ("--format", "json") if self.version >= (1, 0) else ("-m", "grove/pear-1")
        ran = self.run(folder, "run", *arguments, *tells, prompt)
        sent = self.model.main(since)
        if ran.returncode or not sent:
            raise AgentFailed(f"{arguments}: {ran.returncode}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}")
        told = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
        session = next((str(one["sessionID"]) for one in told if one.get("sessionID")), "")
        if self.version < (1, 0):
            stored = self.home.rglob("session/info/ses_*.json")
            session = max(stored, key=lambda path: path.stat().st_mtime).stem
        return Asked(sent, session, ran.stdout + ran.stderr)
