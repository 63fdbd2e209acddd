"""Requests of the real pi when it resumes a session with one new prompt.

``resume.py --pi PACKAGE --session FILE --prompt TEXT`` prints one JSON document. pi works on a copy of
the file in an isolated home, against a scripted endpoint on loopback; the file itself is only read.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

REPLY = "Understood."


@dataclass(frozen=True, slots=True)
class Sent:
    """One message of a request: its role, its text, the names of its tool calls and its number of images.

    ``call`` is the id of the tool call that a ``tool`` message answers.
    """

    role: str
    text: str
    tools: tuple[str, ...] = ()
    images: int = 0
    call: str | None = None


@dataclass(frozen=True, slots=True)
class Resumed:
    """A resumed session: the first request's messages, the prompt last, and what pi appended to its copy."""

    messages: list[Sent]
    appended: list[dict[str, Any]] = field(default_factory=list)


class ResumeError(Exception):
    """pi did not start, failed, or sent nothing."""


@contextmanager
def model() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A chat completions endpoint that answers everything with one sentence; yields its URL and the requests."""
    requests: list[dict[str, Any]] = []

    class Endpoint(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Keep stderr for pi's own messages."""

        def do_POST(self) -> None:
            requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            head = {
                "id": "reply",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": requests[-1].get("model"),
            }
            usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
            events = [
                {
                    **head,
                    "choices": [
                        {"index": 0, "delta": {"role": "assistant", "content": REPLY}, "finish_reason": None}
                    ],
                },
                {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
                {**head, "choices": [], "usage": usage},
            ]
            body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def find_node() -> str | None:
    """The node that runs pi: ``LEAFWARD_NODE``, else the one on the search path."""
    return os.environ.get("LEAFWARD_NODE") or shutil.which("node")


def surroundings(scratch: Path, session: Path, url: str) -> tuple[Path, Path, dict[str, str]]:
    """A home of its own for pi below a folder: a copy of the session, the folder it works in, and its environment."""
    home, cwd, agent = scratch / "home", scratch / "project", scratch / "home" / "agent"
    agent.mkdir(parents=True)
    cwd.mkdir()
    names = ("scripted-1", "scripted-2")
    models = [
        {"id": name, "reasoning": True, "input": ["text", "image"], "contextWindow": 10_000_000}
        for name in names
    ]
    provider = {"baseUrl": url, "api": "openai-completions", "apiKey": "none", "models": models}
    (agent / "models.json").write_text(json.dumps({"providers": {"local": provider}}))
    settings = {
        "defaultProvider": "local",
        "defaultModel": names[0],
        "retry": {"enabled": False},
        "compaction": {"enabled": False},
    }
    (agent / "settings.json").write_text(json.dumps(settings))
    copy = scratch / "session.jsonl"
    head, newline, rest = session.read_bytes().partition(b"\n")
    copy.write_bytes(json.dumps({**json.loads(head), "cwd": str(cwd)}).encode() + newline + rest)
    environment = {
        **{name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "SYSTEMROOT")},
        "HOME": str(home),
        "PI_CODING_AGENT_DIR": str(agent),
        "PI_OFFLINE": "1",
        "PI_TELEMETRY": "0",
        "PI_SKIP_VERSION_CHECK": "1",
    }
    return copy, cwd, environment


def resume(
    package: Path, session: Path, prompt: str, *, node: str | None = None, timeout: float = 60
) -> Resumed:
    """Resume a copy of ``session`` with ``prompt``; ``ResumeError`` when pi does not send a request."""
    node = node or find_node()
    if node is None:
        raise ResumeError("no node found")
    with tempfile.TemporaryDirectory(prefix="resume-") as scratch, model() as (url, requests):
        copy, cwd, environment = surroundings(Path(scratch), session, url)
        before = _lines(copy)
        command = [
            node,
            str(package / "dist" / "bundle" / "cli.js"),
            "-p",
            "--session",
            str(copy),
            "--",
            prompt,
        ]
        ran = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if ran.returncode or not requests:
            raise ResumeError(
                f"pi ended with {ran.returncode} after {len(requests)} requests: {ran.stderr.strip()[-500:]}"
            )
        return Resumed([_sent(message) for message in requests[0]["messages"]], _lines(copy)[len(before) :])


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _sent(message: dict[str, Any]) -> Sent:
    role = {"developer": "system"}.get(message["role"], message["role"])
    content = message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    text = "\n".join(part["text"] for part in parts if part["type"] == "text")
    tools = tuple(call["function"]["name"] for call in message.get("tool_calls") or [])
    images = sum(part["type"] == "image_url" for part in parts)
    return Sent(role, text, tools, images, message.get("tool_call_id"))


def main() -> int:
    """Run from the command line; 1 with one line on stderr when pi fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pi", type=Path, required=True, help="folder of the unpacked pi package")
    parser.add_argument("--session", type=Path, required=True)
    parser.add_argument("--prompt", required=True)
    arguments = parser.parse_args()
    try:
        result = resume(arguments.pi, arguments.session, arguments.prompt)
    except ResumeError as error:
        print(error, file=sys.stderr)
        return 1
    json.dump(asdict(result), sys.stdout, ensure_ascii=True, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
