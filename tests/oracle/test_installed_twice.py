"""`leafward install` where two processes of an agent compact one session at once, and where the model copies the text.

Each request behind a compaction holds one text, and it is the one that `leafward inject` prints as the compaction begins. Codex
lets one process at a time have a thread.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.oracle import installed_agents
from tests.oracle.installed_agents import NODE, needs_claude, needs_opencode, needs_pi, pi_surroundings
from tests.oracle.open_pi import OpenPi, running
from tests.oracle.real_agents import ClaudeClient, OpenCodeClient
from tests.oracle.scripted_model import Model, Step, scripted
from tests.oracle.sweep_agents import CLAUDE, OPENCODE, PI, SUMMARY, newest, painted, steps
from tests.oracle.test_installed import AFTER, PROMPT, held, leafward, marks, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SLOW = 4.0
"""Seconds that a summary takes, so that both compactions are under way."""
_TEXT = re.compile(r"<leafward-context>.*?</leafward-context>", re.DOTALL)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"LEAFWARD_HOME": str(tmp_path / "leafward"), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}


@pytest.fixture(autouse=True)
def _slow_summaries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model takes its time for a summary, and copies a text of ours that it was given into it."""
    step = Model.step

    def slow(model: Model, body: dict[str, Any]) -> Step:
        made = step(model, body)
        if "<summary>" not in made.text and (made.text != SUMMARY or body.get("tools")):
            return made
        time.sleep(_SLOW)
        given = _TEXT.search("\n".join(texts(body)))
        return Step(f"{made.text}\n\n{given.group()}\n\nThat is all.") if given else made

    monkeypatch.setattr(Model, "step", slow)


def _at_once(work: Callable[[int], object]) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()


def _asked(model: Model, since: int, words: str) -> dict[str, Any]:
    """The first request that holds some words."""
    return next(body for body in model.main(since) if any(words in text for text in texts(body["messages"])))


def _failures(environment: dict[str, str]) -> list[str]:
    problems = json.loads(leafward(environment, "doctor", "--json"))["problems"]
    return [one["text"] for one in problems if one["code"] == "hook"]


@pytest.mark.slow
@needs_claude
def test_two_processes_of_claude_code(tmp_path: Path, environment: dict[str, str]) -> None:
    program = installed_agents.CLAUDE[0]
    project, home = painted(tmp_path / "orchard"), tmp_path / "home"
    home.mkdir()
    with scripted(steps(project, CLAUDE)) as model:
        client = ClaudeClient(program, home, model, home / ".claude")
        session = client.ask(project, PROMPT).session
        ours = {**client.environment(), **environment, "PWD": str(project)}
        leafward(ours, "install", "claude")
        path = newest(home)
        text = leafward(ours, "inject", str(path))
        since = len(model.requests)

        def work(number: int) -> None:
            argv = [program, "-p", "--resume", session, "--input-format", "stream-json", "--verbose"]
            with subprocess.Popen(
                [*argv, "--output-format", "stream-json"],
                cwd=project,
                env=ours,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            ) as process:
                assert process.stdin is not None
                assert process.stdout is not None
                for words in ("/compact", f"{AFTER} {number}"):
                    said = {"type": "user", "message": {"role": "user", "content": words}}
                    process.stdin.write(json.dumps(said) + "\n")
                    process.stdin.flush()
                    next(line for line in process.stdout if '"type":"result"' in line)
                process.stdin.close()

        _at_once(work)
        for number in range(2):
            sent = _asked(model, since, f"{AFTER} {number}")
            assert (held(sent, text), marks(sent)) == (1, 1)
        assert _failures(ours) == []
        assert path.read_text().count('"compact_boundary"') == 2
        assert all(map(json.loads, path.read_text().splitlines()))


@pytest.mark.slow
@needs_opencode
def test_two_servers_of_opencode(tmp_path: Path, environment: dict[str, str]) -> None:
    project, home = painted(tmp_path / "orchard"), tmp_path / "home"
    with scripted({"ummar": [Step(SUMMARY)], **steps(project, OPENCODE)}) as model:
        client = OpenCodeClient(installed_agents.OPENCODE[0], home, model)
        session = client.ask(project, PROMPT).session
        ours = {**client.environment(project), **environment}

        @dataclass(frozen=True, slots=True)
        class Client(OpenCodeClient):
            def environment(self, folder: Path) -> dict[str, str]:
                return {**OpenCodeClient.environment(self, folder), **environment}

        client = Client(client.program, home, model)
        leafward(ours, "install", "opencode")
        name = {"providerID": "grove", "modelID": "pear-1"}
        for turn in range(2):
            since = len(model.requests)
            ready = threading.Barrier(2)

            def work(number: int, turn: int = turn, ready: threading.Barrier = ready) -> None:
                with client.serving(project) as post:
                    ready.wait(60)
                    post(f"/session/{session}/summarize", name)
                    said = {"type": "text", "text": f"{AFTER} {turn}{number}"}
                    post(f"/session/{session}/message", {"parts": [said]})

            _at_once(work)
            behind = [body for body in model.main(since) if any(SUMMARY in text for text in texts(body))]
            assert behind
            assert {marks(body) for body in behind} == {1}
        assert _failures(ours) == []


@pytest.mark.slow
@needs_pi
def test_two_processes_of_pi_whose_model_copies_the_text(tmp_path: Path, environment: dict[str, str]) -> None:
    package = Path(installed_agents.PI)
    project, home = painted(tmp_path / "orchard"), tmp_path / "home"
    with scripted({"ummar": [Step(SUMMARY)], **steps(project, PI)}) as model:
        ours = pi_surroundings(home, model.url) | environment
        argv = [NODE, str(package / "dist" / "bundle" / "cli.js"), "--mode", "rpc"]

        @contextmanager
        def open_(*options: str) -> Iterator[OpenPi]:
            with running([*argv, *options], project, ours) as process:
                yield OpenPi(process, Path(), model.requests)

        with open_() as pi:
            for number in range(3):
                pi.say(f"{PROMPT} {number} " + "leaves and branches " * 40)
        (path,) = home.rglob("*.jsonl")
        leafward(ours, "install", "pi")
        since = len(model.requests)

        def work(number: int) -> None:
            with open_("--session", str(path)) as pi:
                for turn in range(2):
                    pi.command("compact")
                    pi.say(f"{AFTER} {turn}{number}" + " and more of it" * 80)

        _at_once(work)
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        named = {row["id"]: row for row in rows}
        told = [row for row in rows if row["type"] == "custom_message"]
        assert len(told) == 4
        for row in told:
            compaction = named[row["parentId"]]
            assert row["content"] == leafward(ours, "inject", str(path), "--at", compaction["parentId"])
        copied = [row for row in rows if row["type"] == "compaction" and _TEXT.search(row["summary"])]
        assert len(copied) == 2
        for number in range(2):
            for turn in range(2):
                sent = _asked(model, since, f"{AFTER} {turn}{number}")
                assert marks(sent) == 1
                assert sum(held(sent, row["content"]) for row in told) >= 1
        assert _failures(ours) == []
