"""Requests of the real Codex: an endpoint of its own on loopback, an isolated home, one command at a time.

Codex works on folders that a test gives it; the endpoint answers by a script, and keeps every request.
"""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.oracle.loopback import Endpoint, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REPLY = "Understood."
_IGNORED = ("id", "status")
"""Fields of an item that say nothing to the model."""


class CodexError(Exception):
    """Codex did not start, failed, or sent nothing."""


@dataclass(slots=True)
class Script:
    """Answers of the endpoint: to a prompt that contains a text, calls, one step after the other; then, and else, one sentence."""

    steps: dict[str, list[list[dict[str, Any]]]] = field(default_factory=dict)
    requests: list[dict[str, Any]] = field(default_factory=list)
    used: int = 110
    """Tokens that each reply says the context has."""

    def answer(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """The items of the next reply: the step is the number of replies since the last prompt."""
        items = request.get("input") or []
        prompts = [place for place, item in enumerate(items) if self._step_of(item) is not None]
        if prompts:
            steps = self._step_of(items[prompts[-1]]) or []
            made = {item.get("call_id") for item in items[prompts[-1] :]}
            left = [step for step in steps if step[-1]["call_id"] not in made]
            if left and not any(_typed(item) for item in items[prompts[-1] + 1 :]):
                return left[0]
        number = len(self.requests)
        text = {"type": "output_text", "text": f"{REPLY} ({number})", "annotations": []}
        return [{"type": "message", "id": f"msg_{number}", "role": "assistant", "content": [text]}]

    def _step_of(self, item: dict[str, Any]) -> list[list[dict[str, Any]]] | None:
        text = text_of(item) if item.get("role") == "user" else ""
        return next((steps for match, steps in self.steps.items() if match in text), None)


def _typed(item: dict[str, Any]) -> bool:
    return item.get("role") == "user" and not text_of(item).lstrip().startswith("<")


def call(name: str, command: str, number: str, *, key: str = "cmd") -> dict[str, Any]:
    """A reply's call of a shell tool."""
    return {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": name,
        "arguments": json.dumps({key: command}),
    }


def text_of(item: dict[str, Any]) -> str:
    """The texts of a message item."""
    content = item.get("content")
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def history(request: dict[str, Any]) -> list[dict[str, Any]]:
    """A request's items without what differs between two requests that say the same."""
    return [
        {key: value for key, value in item.items() if key not in _IGNORED and value is not None}
        for item in request["input"]
    ]


@contextmanager
def endpoint(script: Script) -> Iterator[str]:
    """The model: the Responses API, streaming; yields its URL."""

    class Scripted(Endpoint):
        def do_POST(self) -> None:
            request = json.loads(self.read() or b"{}")
            if not self.path.endswith("/responses"):
                self.answer(b"{}")
                return
            script.requests.append(request)
            items = script.answer(request)
            usage = {
                "input_tokens": script.used - 10,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 10,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": script.used,
            }
            response = {"id": f"resp_{len(script.requests)}", "object": "response", "output": []}
            events: list[dict[str, Any]] = [
                {"type": "response.created", "response": response | {"status": "in_progress"}}
            ]
            for place, item in enumerate(items):
                events.append({"type": "response.output_item.added", "output_index": place, "item": item})
                events.append({"type": "response.output_item.done", "output_index": place, "item": item})
            done = response | {"status": "completed", "output": items, "usage": usage}
            events.append({"type": "response.completed", "response": done})
            self.stream((one["type"], one) for one in events)

    with serving(Scripted) as address:
        yield f"{address}/v1"


@dataclass(frozen=True, slots=True)
class Codex:
    """One installation with a home of its own."""

    home: Path
    """`CODEX_HOME`."""
    folder: Path
    """Where it works."""
    script: Script
    binary: str

    def configure(self, url: str) -> None:
        """Writes its settings: the endpoint as its only model, nothing asked, nothing sent elsewhere."""
        self.home.mkdir(parents=True, exist_ok=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.home / "config.toml").write_text(
            'model = "gpt-5.1-codex"\nmodel_provider = "fake"\napproval_policy = "never"\n'
            'sandbox_mode = "danger-full-access"\ncheck_for_update_on_startup = false\n'
            # The name under which the kept threads know their provider: Codex changes none on the way.
            f'[model_providers.fake]\nname = "fake"\nbase_url = "{url}"\nwire_api = "responses"\n'
            "request_max_retries = 0\nstream_max_retries = 0\n"
            "[analytics]\nenabled = false\n"
            f'[projects.{json.dumps(str(self.folder))}]\ntrust_level = "trusted"\n',
            "utf-8",
        )

    def run(
        self, *arguments: str, folder: Path | None = None, env: dict[str, str] | None = None
    ) -> list[dict[str, Any]]:
        """Runs `codex exec` with some arguments; returns the requests that it sent."""
        before = len(self.script.requests)
        folder = folder or self.folder
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "SYSTEMROOT")}
        environment = (
            kept
            | {"HOME": str(self.home.parent), "CODEX_HOME": str(self.home), "PWD": str(folder)}
            | (env or {})
        )
        command = [self.binary, "exec", "--skip-git-repo-check", *arguments]
        ran = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        sent = self.script.requests[before:]
        if ran.returncode or not sent:
            raise CodexError(f"{ran.returncode}, {len(sent)} requests: {ran.stderr.strip()[-800:]}")
        return sent

    def resume(self, thread: str, prompt: str, **places: Any) -> list[dict[str, Any]]:
        """Goes on in a thread with a prompt."""
        return self.run("resume", thread, prompt, **places)

    def version(self) -> str:
        """As it says."""
        ran = subprocess.run([self.binary, "--version"], capture_output=True, text=True, check=True)
        return ran.stdout.split()[-1]

    def rollouts(self) -> list[Path]:
        """Its session files, oldest first."""
        return sorted((self.home / "sessions").rglob("rollout-*.jsonl"), key=lambda path: path.name)
