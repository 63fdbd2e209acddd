"""What `leafward install` puts into the real agents: behind a compaction of theirs the model sees the text once.

Runs where `LEAFWARD_CLAUDE`, `LEAFWARD_PI` and `LEAFWARD_OPENCODE` name the agents.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.oracle.loopback import Endpoint  # noqa: F401  # the models are served by it
from tests.oracle.open_pi import OpenPi
from tests.oracle.real_agents import ClaudeClient, OpenCodeClient
from tests.oracle.resume import find_node
from tests.oracle.scripted_model import scripted
from tests.oracle.sweep_agents import CLAUDE, OPENCODE, PI, SUMMARY, newest, painted, steps

if TYPE_CHECKING:
    from collections.abc import Iterator

PROMPT = "Look at the orchard, never push to main."
AFTER = "Go on with the pears."


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"LEAFWARD_HOME": str(tmp_path / "leafward")}


def leafward(environment: dict[str, str], *argv: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "leafward", *argv], env=environment, capture_output=True, check=False
    )
    assert not ran.returncode, ran.stderr
    return ran.stdout.decode()


def texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in texts(item)]


def held(request: dict[str, Any], text: str) -> int:
    """How often a request holds a text, byte for byte."""
    return sum(one.count(text) for one in texts(request["messages"]))


def marks(request: dict[str, Any]) -> int:
    return sum(one.count("</leafward-context>") for one in texts(request["messages"]))


@pytest.mark.slow
@pytest.mark.skipif("LEAFWARD_CLAUDE" not in os.environ, reason="LEAFWARD_CLAUDE names no Claude Code")
def test_claude_code_carries_the_text_over_its_own_compaction(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    program = os.environ["LEAFWARD_CLAUDE"].split(os.pathsep)[0]
    project, home = painted(tmp_path / "orchard"), tmp_path / "home"
    config = home / ".claude"
    config.mkdir(parents=True)
    settings = config / "settings.json"
    before = b'{\n    "env": {"A":"1"},\n    "hooks": {"PreCompact": []}\n}\n'
    settings.write_bytes(before)
    with scripted(steps(project, CLAUDE)) as model:

        @dataclass(frozen=True, slots=True)
        class Client(ClaudeClient):
            def environment(self) -> dict[str, str]:
                return {**ClaudeClient.environment(self), **environment}

        client = Client(program, home, model, config)
        session = client.ask(project, PROMPT).session
        ours = client.environment()
        leafward(ours, "install", "claude")
        text = leafward(ours, "inject", str(newest(home)))
        assert "</leafward-context>" in text
        client.ask(project, "/compact", "--resume", session, fails=True)
        sent = client.ask(project, AFTER, "--resume", session).first
        assert (held(sent, text), marks(sent)) == (1, 1)
        leafward(ours, "uninstall", "claude")
        assert settings.read_bytes() == before
        client.ask(project, "/compact", "--resume", session, fails=True)
        assert marks(client.ask(project, AFTER, "--resume", session).first) == 0
