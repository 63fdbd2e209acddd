"""`leafward install` where an agent goes on in a session of 100,000 entries that Leafward never read, and compacts it at once.

Runs where `LEAFWARD_CLAUDE`, `LEAFWARD_CODEX`, `LEAFWARD_PI` and `LEAFWARD_OPENCODE` name the agents. A summary takes as long as
one of a fast model; the text is made meanwhile.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.oracle import installed_agents
from tests.oracle.installed_agents import (
    CODEX,
    NODE,
    needs_claude,
    needs_codex,
    needs_opencode,
    needs_pi,
    pi_surroundings,
)
from tests.oracle.long_sessions import lengthened, lengthened_rows
from tests.oracle.open_pi import OpenPi, running
from tests.oracle.orchard import planted
from tests.oracle.real_agents import ClaudeClient, OpenCodeClient
from tests.oracle.responses_model import ResponsesModel, answering, compacting
from tests.oracle.scripted_model import Model, Step, scripted
from tests.oracle.sweep_agents import CLAUDE, OPENCODE, PI, SUMMARY, newest, painted, steps
from tests.oracle.test_installed import AFTER, PROMPT, environment, held, leafward, marks

if TYPE_CHECKING:
    from tests.oracle.responses_model import Exchange

__all__ = ["environment"]
pytestmark = [pytest.mark.slow]

ENTRIES = 100_000
_SUMMARY = 12.0
"""Seconds that a summary takes."""


@pytest.fixture(autouse=True)
def _summaries_that_take_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    step, answer = Model.step, ResponsesModel.answer

    def waited(model: Model, body: dict[str, Any]) -> Step:
        made = step(model, body)
        if SUMMARY in made.text:
            time.sleep(_SUMMARY)
        return made

    def answered(model: ResponsesModel, request: dict[str, Any]) -> Exchange:
        made = answer(model, request)
        if made.compacts:
            time.sleep(_SUMMARY)
        return made

    monkeypatch.setattr(Model, "step", waited)
    monkeypatch.setattr(ResponsesModel, "answer", answered)


def _text(ours: dict[str, str], path: Path, folder: Path) -> str:
    """What `inject` prints, without leaving anything for the agent's own run."""
    return leafward({**ours, "LEAFWARD_HOME": str(folder / "other")}, "inject", str(path))


def _failures(ours: dict[str, str]) -> list[str]:
    found = json.loads(leafward(ours, "doctor", "--json"))["problems"]
    return [one["text"] for one in found if one["code"] == "hook" and "reviewed" not in one["text"]]


@needs_claude
def test_claude_code(tmp_path: Path, environment: dict[str, str]) -> None:
    project, home = painted(tmp_path / "orchard"), tmp_path / "home"
    home.mkdir()
    with scripted(steps(project, CLAUDE)) as model:

        @dataclass(frozen=True, slots=True)
        class Client(ClaudeClient):
            def environment(self) -> dict[str, str]:
                return {**ClaudeClient.environment(self), **environment}

        client = Client(installed_agents.CLAUDE[0], home, model, home / ".claude")
        session = client.ask(project, PROMPT).session
        client.ask(project, "/compact", "--resume", session, fails=True)
        client.ask(project, AFTER, "--resume", session)
        ours, path = client.environment(), newest(home)
        assert lengthened(path, ENTRIES) >= ENTRIES
        leafward(ours, "install", "claude")
        text = _text(ours, path, tmp_path)
        client.ask(project, "/compact", "--resume", session, fails=True)
        sent = client.ask(project, AFTER, "--resume", session).first
        assert (held(sent, text), marks(sent)) == (1, 1)
        assert _failures(ours) == []


@needs_codex
def test_codex(tmp_path: Path, environment: dict[str, str]) -> None:
    project, home = planted(tmp_path / "orchard"), tmp_path / "home" / ".codex"
    home.mkdir(parents=True)
    model = ResponsesModel({"orchard": [], "Fill": [], "Go on": []}, {"Fill"})
    with answering(model):
        (home / "config.toml").write_text(compacting(model, project), "utf-8")
        ours = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "CODEX_HOME": str(home)}
        ours |= {"PWD": str(project), **environment}

        def asked(*arguments: str) -> dict[str, Any]:
            argv = [CODEX, "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", *arguments]
            quiet = subprocess.DEVNULL
            subprocess.run(argv, cwd=project, env=ours, stdin=quiet, capture_output=True, check=True)
            return model.exchanges[-1].request

        asked(PROMPT)
        (path,) = (home / "sessions").rglob("*.jsonl")
        for prompt in ("Fill the window", AFTER, "Fill the window"):
            # The request for a summary holds the prompt too, and takes the word away.
            model.large.add("Fill")
            asked("resume", path.stem[-36:], prompt)
        assert lengthened(path, ENTRIES) >= ENTRIES
        leafward(ours, "install", "codex")
        text = _text(ours, path, tmp_path)
        compacted = sum(one.compacts for one in model.exchanges)
        sent = asked("resume", path.stem[-36:], AFTER)
        assert sum(one.compacts for one in model.exchanges) == compacted + 1
        assert (held(sent, text), marks(sent)) == (1, 1)
        assert _failures(ours) == []


@needs_pi
def test_pi(tmp_path: Path, environment: dict[str, str]) -> None:
    project, home = painted(tmp_path / "orchard"), tmp_path / "home"
    argv = [NODE, str(Path(installed_agents.PI) / "dist" / "bundle" / "cli.js"), "--mode", "rpc"]
    with scripted({"ummar": [Step(SUMMARY)], **steps(project, PI)}) as model:
        ours = pi_surroundings(home, model.url) | environment
        with running(argv, project, ours) as process:
            pi = OpenPi(process, Path(), model.requests)
            for number in range(3):
                pi.say(f"{PROMPT} {number} " + "leaves and branches " * 40)
            pi.command("compact")
            pi.say(AFTER + " and more of it" * 80)
        (path,) = home.rglob("*.jsonl")
        assert lengthened(path, ENTRIES) >= ENTRIES
        leafward(ours, "install", "pi")
        text = _text(ours, path, tmp_path)
        with running([*argv, "--session", str(path)], project, ours) as process:
            pi = OpenPi(process, Path(), model.requests)
            pi.command("compact")
            sent = {"messages": pi.say(AFTER)}
        assert (held(sent, text), marks(sent)) == (1, 1)
        assert _failures(ours) == []


@needs_opencode
def test_opencode(tmp_path: Path, environment: dict[str, str]) -> None:
    project, home = painted(tmp_path / "orchard"), tmp_path / "home"
    with scripted({"ummar": [Step(SUMMARY)], **steps(project, OPENCODE)}) as model:

        @dataclass(frozen=True, slots=True)
        class Client(OpenCodeClient):
            def environment(self, folder: Path) -> dict[str, str]:
                return {**OpenCodeClient.environment(self, folder), **environment}

        client = Client(installed_agents.OPENCODE[0], home, model)
        session = client.ask(project, PROMPT).session
        grove = {"providerID": "grove", "modelID": "pear-1"}
        with client.serving(project) as post:
            post(f"/session/{session}/summarize", grove)
        client.ask(project, AFTER, "-s", session)
        ours = client.environment(project)
        assert lengthened_rows(client.database, session, ENTRIES) >= ENTRIES
        leafward(ours, "install", "opencode")
        text = _text(ours, client.database / session, tmp_path)
        with client.serving(project) as post:
            post(f"/session/{session}/summarize", grove)
        sent = client.ask(project, AFTER, "-s", session).first
        assert (held(sent, text), marks(sent)) == (1, 1)
        assert _failures(ours) == []
