"""The call that made each sub-agent's session, as the agents' own files say it."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.agents.recognition import agent_of
from leafward.agents.sub_agents import SubAgent, sub_agents_of
from leafward.session.headlines.entry_headline import call_of
from tests import claude_transcript, codex_rollout, opencode_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIRST = "root"
"""The name that Codex 0.171 gives to the agent which the user talks to."""


def made_in(path: Path, since: int = 0) -> list[tuple[SubAgent, str]]:
    """The sub-agents, each with the tool whose call made it."""
    agent = agent_of(path)
    with closing(agent.open(path)) as session:
        found = []
        for one in sub_agents_of(agent, session, since):
            message = (session.body(one.entry) or {})["message"]
            call = call_of(session, one.entry, message["toolCallId"])
            assert call is not None
            found.append((one, call.name))
        return found


def claude(root: Path) -> tuple[Path, str]:
    shutil.copytree(claude_transcript.DATA / "2.1.330", root)
    return next(root.rglob("3bc992cf*.jsonl")), "agent-a0e0388fcd36a31b3.jsonl"


def claude_beside(root: Path) -> tuple[Path, str]:
    """Until 2.0 sub-agents lay beside their session."""
    transcript = claude_transcript.Transcript(root)
    transcript.prompt("survey it")
    transcript.call("Task", "call_1", description="survey", prompt="look around")
    transcript.result("call_1", toolUseResult={"agentId": "a1b2c3", "status": "completed"})
    transcript.result("call_1", toolUseResult={"agentId": "a1b2c3", "status": "asked again"})
    for name in ("agent-a1b2c3", "agent-ffffff"):
        shutil.copy(transcript.path, transcript.path.with_name(f"{name}.jsonl"))
    return transcript.path, "agent-a1b2c3.jsonl"


def codex(root: Path) -> tuple[Path, str]:
    shutil.copytree(codex_rollout.DATA / "0.169", root)
    return codex_rollout.thread_in(root, "c8b4"), codex_rollout.thread_in(root, "c8e0").name


def codex_named_by_its_task(root: Path) -> tuple[Path, str]:
    """With `multi_agent_v2`, where two calls made together alternate with their results, and the first made none."""
    above = codex_rollout.Rollout(root / ".codex")
    below = codex_rollout.Rollout(root / ".codex", codex_rollout.THREADS[1], minute=1)
    below.turn("pick pears", "picked")
    above.prompt("delegate the fruit")
    for name in ("apples", "pears"):
        given = json.dumps({"task_name": name})
        above.item(
            "function_call", name="spawn_agent", namespace="collaboration", arguments=given, call_id=name
        )
    threads = (codex_rollout.THREADS[2], below.thread)
    for name, thread in zip(("apples", "pears"), threads, strict=True):
        begun = {"type": "SubAgentActivity", "id": name, "kind": "started", "agent_thread_id": thread}
        above.event("item_completed", thread_id=above.thread, turn_id="one", item=begun)
        # Codex 0.171 names a sub-agent by its path below the first agent.
        named = json.dumps({"task_name": f"/{FIRST}/{name}"})
        above.item("function_call_output", call_id=name, output=named)
    return above.path, below.path.name


def opencode(root: Path) -> tuple[Path, str]:
    store = opencode_store.Database(root)
    above = opencode_store.Conversation("ses_one")
    above.ask("survey it")
    step = opencode_store.call("task", description="survey", prompt="look around")
    step["state"]["metadata"] = {"sessionId": "ses_two"}
    above.reply(step)
    store.write(above)
    below = opencode_store.Conversation(
        "ses_two", at=opencode_store.START + 90_000, title="Survey the repo", parentID="ses_one"
    )
    below.turn("look around")
    store.write(below)
    return store.path / "ses_one", "ses_two"


@pytest.mark.parametrize(
    "agent", [claude, claude_beside, codex, codex_named_by_its_task, opencode], ids=lambda one: one.__name__
)
def test_the_result_of_a_call_leads_to_the_session_that_it_made(
    agent: Callable[[Path], tuple[Path, str]], tmp_path: Path
) -> None:
    path, below = agent(tmp_path / "store")
    ((found, tool),) = made_in(path)
    assert found.path.rpartition("/")[2].rpartition("\\")[2] == below
    assert found.title
    assert tool.rpartition(".")[2] in ("Agent", "Task", "spawn_agent", "task")
    assert [one.path for one, _ in made_in(path, found.entry)] == [found.path]
    if agent is not claude_beside:
        assert made_in(path, found.entry + 1) == []


def test_a_session_that_is_not_there_is_none(tmp_path: Path) -> None:
    path, below = claude(tmp_path / "store")
    next((tmp_path / "store").rglob(below)).unlink()
    assert made_in(path) == []
    rollout = codex_rollout.thread_in(codex(tmp_path / "codex")[0].parents[4], "c8e0")
    rollout.unlink()
    assert made_in(codex_rollout.thread_in(tmp_path / "codex", "c8b4")) == []
