"""A pi that has a session open and stays: prompts go to it one after the other."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.oracle.resume import ResumeError, find_node, model, surroundings

if TYPE_CHECKING:
    from collections.abc import Iterator


class OpenPi:
    """pi in its RPC mode, with a copy of a session in a folder of its own."""

    def __init__(self, process: subprocess.Popen[str], path: Path, requests: list[dict[str, Any]]) -> None:
        self.path = path
        """The session that it has open."""
        self.requests = requests
        self._process = process

    def say(self, text: str) -> list[dict[str, Any]]:
        """Sends a prompt, waits for its reply to be stored, and returns the messages of the request that was made."""
        before = len(self.requests)
        self._send("prompt", message=text)
        self._until(lambda event: event.get("type") == "agent_end")
        # It may go on, and older ones have no event for the end of that.
        while (state := self.command("get_state"))["isStreaming"] or state["isCompacting"]:
            time.sleep(0.05)
        if len(self.requests) == before:
            raise ResumeError("pi sent nothing")
        messages: list[dict[str, Any]] = self.requests[before]["messages"]
        return messages

    def command(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Sends a command, waits for its answer and returns the data of it."""
        self._send(name, **arguments)
        answer = self._until(lambda event: event.get("type") == "response" and event["command"] == name)
        data: dict[str, Any] = answer.get("data") or {}
        return data

    def _send(self, name: str, **arguments: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"id": name, "type": name, **arguments}) + "\n")
        self._process.stdin.flush()

    def _until(self, wanted: Any) -> dict[str, Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            event: dict[str, Any] = json.loads(line)
            if event.get("type") == "response" and event.get("success") is False:
                raise ResumeError(f"pi refused: {event}")
            if wanted(event):
                return event
        raise ResumeError("pi ended")


@contextmanager
def running(command: list[str], folder: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """An agent that is spoken to by lines, until the block ends."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def open_pi(package: Path, session: Path, folder: Path | None = None) -> Iterator[OpenPi]:
    """The real pi with a copy of ``session`` open, which lies in ``folder`` where one is given."""
    node = find_node()
    if node is None:
        raise ResumeError("no node found")
    with tempfile.TemporaryDirectory(prefix="open-pi-") as scratch, model() as (url, requests):
        path, cwd, environment = surroundings(Path(scratch), session, url)
        if folder is not None:
            path = Path(path.rename(path.with_suffix(".moved")))
            (folder / "session.jsonl").write_bytes(path.read_bytes())
            path = folder / "session.jsonl"
        command = [node, str(package / "dist" / "bundle" / "cli.js"), "--mode", "rpc", "--session", str(path)]
        with running(command, cwd, environment) as process:
            yield OpenPi(process, path, requests)
