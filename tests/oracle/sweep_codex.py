"""One version of the real Codex records a small session; what it sent is kept beside it."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.oracle.orchard import planted
from tests.oracle.responses_model import ResponsesModel, answering, compacting, said, thought

if TYPE_CHECKING:
    from pathlib import Path

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PATCH = "*** Begin Patch\n*** Add File: list.md\n+- apples\n+- pears\n*** End Patch\n"
PROMPTS = (
    "Look at the picture",
    "Compare the fruit",
    "Write the list",
    "Fill the window",
    "Go on now",
    "Good night",
)
AFTER = ("Take another way", "Good morning")
"""The prompt in place of the one taken back, and the next."""
SHELLS = {"exec_command": "cmd", "shell_command": "command", "shell": "command", "container.exec": "command"}


@dataclass(frozen=True, slots=True)
class Recorded:
    """A session that an agent wrote, and what it asked."""

    paths: list[Path]
    project: Path
    """Where it worked: the oldest do not write that down."""
    model: ResponsesModel
    tried: set[str]
    """Events of a run: parallel, failure, patch, image, resume, compaction; rollback, or fork where that took its place."""


def binary(folder: Path) -> Path | None:
    """The program in an unpacked npm package; None where there is none for this machine."""
    names = ("codex", "codex-x86_64-unknown-linux-musl", "codex-aarch64-unknown-linux-musl")
    machine = {"x86_64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}.get(os.uname().machine, "x86_64")
    found = [
        path
        for name in names
        for path in folder.rglob(name)
        if path.is_file() and path.stat().st_size > 1_000_000 and (machine in str(path))
    ]
    return found[0] if found else None


def steps(tools: set[str]) -> dict[str, list[list[dict[str, Any]]]]:
    """Steps of the model at each prompt, with the tools that this version offers."""
    shell = next(name for name in SHELLS if name in tools)

    def run(number: str, script: str) -> dict[str, Any]:
        command: object = ["bash", "-lc", script] if shell in ("shell", "container.exec") else script
        given = json.dumps({SHELLS[shell]: command})
        return {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": shell,
            "arguments": given,
        }

    return {
        "Compare": [
            [
                thought("Which are alike?"),
                said("Both at once."),
                run("a1", "cat apples.txt"),
                run("a2", "ls nowhere"),
            ],
            [run("a3", "cat pears.txt")],
        ],
        "Write": [[run("w1", f"apply_patch <<'EOF'\n{PATCH}EOF")]],
    }


def record(program: Path, folder: Path) -> Recorded:
    """Lets a Codex work through the prompts in an isolated home below a folder."""
    home, project = folder / "home" / ".codex", planted(folder / "orchard")
    home.mkdir(parents=True)
    picture = folder / "pixel.png"
    picture.write_bytes(base64.b64decode(PIXEL))
    model = ResponsesModel({"picture": [], "Fill": [], "Go on": []}, {"Fill"})
    tried: set[str] = set()
    with answering(model):
        (home / "config.toml").write_text(compacting(model, project), "utf-8")

        def environment() -> dict[str, str]:
            kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG")}
            return kept | {"HOME": str(home.parent), "CODEX_HOME": str(home), "PWD": str(project)}

        def run(*arguments: str) -> bool:
            before = len(model.exchanges)
            with suppress(subprocess.TimeoutExpired):
                subprocess.run(
                    [str(program), "exec", "--skip-git-repo-check", *arguments],
                    cwd=project,
                    env=environment(),
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=40,
                    check=False,
                )
            return len(model.exchanges) > before

        def rollouts() -> list[Path]:
            return sorted(
                (home / "sessions").rglob("rollout-*.jsonl"), key=lambda path: path.stat().st_mtime_ns
            )

        # The oldest wait for ever with an image.
        assert run(f"--image={picture}", PROMPTS[0]) or run(PROMPTS[0]), "the program sent nothing"
        tools = {str(tool.get("name")) for tool in model.exchanges[0].request.get("tools") or []}
        model.steps |= steps(tools)
        for prompt in PROMPTS[1:]:
            path = rollouts()[-1]
            if not run("resume", path.stem[-36:], prompt):
                # Before there was a command for it.
                run("-c", f'experimental_resume="{path}"', prompt)
            tried.add("resume")
        tried |= {"parallel", "failure", "patch"}
        back = taken_back(program, environment(), project, rollouts()[-1].stem[-36:])
        if back:
            tried.add(back)
            run("resume", rollouts()[-1].stem[-36:], AFTER[1])
        if any(exchange.compacts for exchange in model.exchanges):
            tried.add("compaction")
        if any("input_image" in json.dumps(exchange.request["input"]) for exchange in model.exchanges):
            tried.add("image")
        return Recorded(rollouts(), project, model, tried)


def taken_back(program: Path, environment: dict[str, str], project: Path, thread: str) -> str:
    """Takes the last turn of a thread back and says something else, as an editor does through the app server.

    "rollback" where the thread itself goes back, "fork" where a new one begins before the turn; empty where there is neither.
    """
    with subprocess.Popen(
        [str(program), "app-server"],
        cwd=project,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        # One that does not answer would be waited for without end.
        watch = threading.Timer(60, process.kill)
        watch.start()
        try:
            return _taken_back(process, thread)
        except (BrokenPipeError, EOFError, ValueError):
            # Before there was one, it takes that for a prompt, or says how it is used.
            return ""
        finally:
            watch.cancel()
            process.kill()


def _taken_back(process: subprocess.Popen[str], thread: str) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    def tell(message: dict[str, Any]) -> None:
        stdin.write(json.dumps(message) + "\n")
        stdin.flush()

    def until(name: str, value: object) -> dict[str, Any]:
        for line in stdout:
            message: dict[str, Any] = json.loads(line)
            if message.get(name) == value:
                return message
        raise EOFError

    def ask(method: str, **given: Any) -> dict[str, Any] | None:
        tell({"id": method, "method": method, "params": given})
        result: dict[str, Any] | None = until("id", method).get("result")
        return result

    ask("initialize", clientInfo={"name": "sweep", "version": "1"})
    tell({"method": "initialized"})
    resumed = ask("thread/resume", threadId=thread)
    if resumed is None:
        return ""
    way = "rollback"
    if ask("thread/rollback", threadId=thread, numTurns=1) is None:
        turns = resumed["thread"].get("turns")
        if not turns:
            # 0.58 resumes, but tells no turns and knows neither way.
            return ""
        way, before = "fork", turns[-2]["id"]
        forked = ask("thread/fork", threadId=thread, lastTurnId=before)
        if forked is None:
            return ""
        thread = forked["thread"]["id"]
    ask("turn/start", threadId=thread, input=[{"type": "text", "text": AFTER[0]}])
    until("method", "turn/completed")
    return way
