"""`leafward install` where something about Claude Code's run is unusual: its projects, folders, settings and sub-agents.

Runs where `LEAFWARD_CLAUDE` names the agent.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.oracle import installed_agents
from tests.oracle.installed_agents import needs_claude
from tests.oracle.real_agents import ClaudeClient
from tests.oracle.scripted_model import Step, scripted
from tests.oracle.sweep_agents import CLAUDE, newest, painted, steps
from tests.oracle.test_installed import AFTER, PROMPT, environment, held, leafward, marks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.oracle.scripted_model import Model

__all__ = ["environment"]
pytestmark = [pytest.mark.slow, needs_claude]


@dataclass(frozen=True, slots=True)
class Client(ClaudeClient):
    """Claude Code in whose environment Leafward has a home."""

    more: dict[str, str]

    def environment(self) -> dict[str, str]:
        return {**ClaudeClient.environment(self), **self.more}


def client_of(home: Path, model: Model, more: dict[str, str]) -> Client:
    config = home / ".claude"
    config.mkdir(parents=True)
    return Client(installed_agents.CLAUDE[0], home, model, config, more)


def problems(ours: dict[str, str]) -> list[str]:
    found = json.loads(leafward(ours, "doctor", "--json"))["problems"]
    return [one["text"] for one in found if one["code"] == "hook"]


def carried(
    project: Path,
    folder: Path,
    home: Path,
    more: dict[str, str],
    meanwhile: Callable[[], object] = lambda: None,
) -> tuple[int, int, list[str]]:
    """How often the request behind a compaction holds the text, how many texts it has, and what doctor says then."""
    with scripted(steps(project, CLAUDE)) as model:
        client = client_of(home, model, more)
        session = client.ask(folder, PROMPT).session
        ours = client.environment()
        leafward(ours, "install", "claude")
        text = leafward(ours, "inject", str(newest(home)))
        meanwhile()
        client.ask(folder, "/compact", "--resume", session, fails=True)
        sent = client.ask(folder, AFTER, "--resume", session).first
        return held(sent, text), marks(sent), problems(ours)


def test_two_projects_at_once(tmp_path: Path, environment: dict[str, str]) -> None:
    found: list[Any] = []

    def work(name: str) -> None:
        (tmp_path / name).mkdir()
        project = painted(tmp_path / name / "orchard")
        found.append(carried(project, project, tmp_path / name / "home", environment))

    threads = [threading.Thread(target=work, args=(name,)) for name in ("one", "two")]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [(1, 1, [])] * 2


def test_a_folder_with_spaces_quotes_and_letters_of_other_scripts_behind_a_link(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    real = tmp_path / "Obst 'garten' \u00e4 \u6a39"
    real.mkdir()
    (tmp_path / "a link").symlink_to(real)
    project = painted(real / "orchard")
    assert carried(project, tmp_path / "a link" / "orchard", tmp_path / "home, one", environment) == (
        1,
        1,
        [],
    )


def test_settings_of_leafward_that_are_no_toml(tmp_path: Path, environment: dict[str, str]) -> None:
    project = painted(tmp_path / "orchard")
    settings = tmp_path / "leafward" / "config" / "config.toml"

    def broken() -> None:
        settings.parent.mkdir(parents=True)
        settings.write_text("[injection\nbudget = x")

    assert carried(project, project, tmp_path / "home", environment, broken) == (1, 1, [])


def test_a_compaction_of_a_sub_agent_is_none_of_its_session(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    """Claude Code names the session's file then, runs no hook behind it, and may compact the session at the same prompt."""
    project = painted(tmp_path / "orchard")
    helper = {"description": "look", "prompt": "HELPER: count", "subagent_type": "general-purpose"}
    runs = [
        Step(calls=(("Bash", {"command": f"echo {number}", "description": "x"}),), counted=160_000)
        for number in range(2)
    ]
    script = {"ORDER": [Step(calls=(("Agent", helper),)), Step("Done.")], "HELPER": [*runs, Step("Counted.")]}
    with scripted(script) as model:
        client = client_of(tmp_path / "home", model, environment)
        heard = tmp_path / "heard"
        hook = {"type": "command", "command": f"cat >> '{heard}'; echo >> '{heard}'"}
        settings = {"autoCompactWindow": 150_000, "hooks": {"PreCompact": [{"hooks": [hook]}]}}
        (client.config / "settings.json").write_text(json.dumps(settings))
        leafward(client.environment(), "install", "claude")
        client.ask(project, "ORDER: look at all", "--model", "claude-opus-5-5")
        events = [json.loads(line) for line in heard.read_text().splitlines() if line]
        assert events
        assert all(event["agent_id"] for event in events)
        assert all("/subagents/" not in event["transcript_path"] for event in events)
        waiting = tmp_path / "leafward" / "state" / "hooks"
        assert not waiting.exists() or not list(waiting.iterdir())
        assert problems(client.environment()) == []
