"""One version of the real Codex records a small session; what it sent is kept beside it."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.oracle.orchard import planted
from tests.oracle.responses_model import ResponsesModel, answering, said, thought

if TYPE_CHECKING:
    from pathlib import Path

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PATCH = "*** Begin Patch\n*** Add File: list.md\n+- apples\n+- pears\n*** End Patch\n"
PROMPTS = ("Look at the picture", "Compare the fruit", "Write the list", "Fill the window", "Go on now")
SHELLS = {"exec_command": "cmd", "shell_command": "command", "shell": "command", "container.exec": "command"}


@dataclass(frozen=True, slots=True)
class Recorded:
    """A session that an agent wrote, and what it asked."""

    paths: list[Path]
    model: ResponsesModel
    tried: set[str]
    """What came about: parallel, failure, patch, image, resume, compaction."""


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
    """What the model does at each prompt, with the tools that this version offers."""
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
        (home / "config.toml").write_text(
            'model = "gpt-5.1-codex"\nmodel_provider = "fake"\napproval_policy = "never"\n'
            'sandbox_mode = "danger-full-access"\ncheck_for_update_on_startup = false\n'
            "model_context_window = 128000\nmodel_auto_compact_token_limit = 90000\n"
            f'[model_providers.fake]\nname = "fake"\nbase_url = "{model.url}"\nwire_api = "responses"\n'
            "request_max_retries = 0\nstream_max_retries = 0\n[analytics]\nenabled = false\n"
            f'[projects."{project}"]\ntrust_level = "trusted"\n',
            "utf-8",
        )

        def run(*arguments: str) -> bool:
            before = len(model.exchanges)
            kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG")}
            environment = kept | {"HOME": str(home.parent), "CODEX_HOME": str(home), "PWD": str(project)}
            with suppress(subprocess.TimeoutExpired):
                subprocess.run(
                    [str(program), "exec", "--skip-git-repo-check", *arguments],
                    cwd=project,
                    env=environment,
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
        if any(exchange.compacts for exchange in model.exchanges):
            tried.add("compaction")
        if any("input_image" in json.dumps(exchange.request["input"]) for exchange in model.exchanges):
            tried.add("image")
        return Recorded(rollouts(), model, tried)
