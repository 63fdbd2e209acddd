"""`leafward install` where a sub-agent of Codex or opencode compacts: Codex runs no hook behind that, opencode does.

Runs where `LEAFWARD_CODEX` and `LEAFWARD_OPENCODE` name the agents; Claude Code is in `test_installed_surroundings`.
"""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.recognition import agent_of
from leafward.session.entries import Kind
from tests.oracle import installed_agents, scripted_model
from tests.oracle.codex import Codex, Script, call, endpoint, text_of
from tests.oracle.installed_agents import CODEX, needs_codex, needs_opencode
from tests.oracle.real_agents import OpenCodeClient
from tests.oracle.scripted_model import Step, scripted
from tests.oracle.test_installed import environment, held, leafward, marks, texts
from tests.oracle.test_installed_surroundings import problems

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["environment"]
pytestmark = [pytest.mark.slow]

LARGE = 95_000
"""Tokens that a request is said to have; both agents compact from 92,000 on."""
SUMMARY = "Fruit was counted."


@dataclass(slots=True)
class Compacting(Script):
    """Hands a task to a sub-agent, whose second reply fills its window."""

    ended: Event = field(default_factory=Event)
    """Set once the sub-agent has done its task."""
    replies: int = 0
    """Replies to the sub-agent."""

    def answer(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """The items of the next reply."""
        items, self.used = request["input"], 500
        said = [text_of(item) for item in items]
        if "CHECKPOINT" in said[-1]:
            text = {"type": "output_text", "text": SUMMARY, "annotations": []}
            return [{"type": "message", "id": "msg_summary", "role": "assistant", "content": [text]}]
        if said[-1] == "delegate the apples":
            tools = {tool.get("name") for tool in request.get("tools", ())}
            given = json.dumps({"message": "pick apples", "fork_context": True})
            made = call("spawn_agent", "", "spawn") | {"arguments": given}
            return [made if "spawn_agent" in tools else made | {"namespace": "multi_agent_v1"}]
        if items[-1].get("call_id") == "call_spawn":
            # Codex ends when its own turn does, whatever the sub-agent is at.
            self.ended.wait(60)
            time.sleep(1)
        elif any("pick apples" in text for text in said):
            self.replies += 1
            if self.replies <= 3:
                self.used = LARGE if self.replies == 2 else 500
                return [call("exec_command", f"echo {self.replies}", f"c{self.replies}")]
            self.ended.set()
        return Script.answer(self, request)


@needs_codex
def test_a_compaction_of_a_sub_agent_of_codex_leaves_no_text_behind(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    script = Compacting()
    with endpoint(script) as url:
        codex = Codex(tmp_path / "home" / ".codex", tmp_path / "work", script, CODEX)
        codex.configure(url)
        config = codex.home / "config.toml"
        limits = "model_context_window = 128000\nmodel_auto_compact_token_limit = 92000\n"
        config.write_text(f"{limits}{config.read_text()}\n[features]\nmulti_agent = true\n")
        heard = tmp_path / "heard"
        hook = {"type": "command", "command": f"cat >> '{heard}'; echo >> '{heard}'"}
        noted = {event: [{"hooks": [hook]}] for event in ("PreCompact", "SessionStart")}
        (codex.home / "hooks.json").write_text(json.dumps({"hooks": noted}))
        ours = environment | {"CODEX_HOME": str(codex.home), "HOME": str(codex.home.parent)}
        leafward(ours, "install", "codex")
        trusted = "--dangerously-bypass-hook-trust"
        codex.run(trusted, "count pears please", env=environment)
        (path,) = codex.rollouts()
        codex.run(trusted, "resume", path.stem[-36:], "delegate the apples", env=environment)
    events = [json.loads(line) for line in heard.read_text().splitlines() if line]
    before = [event for event in events if event["hook_event_name"] == "PreCompact"]
    assert before
    assert all(event["agent_id"] in event["transcript_path"] for event in before)
    assert [event["source"] for event in events if event not in before] == ["startup", "resume"]
    waiting = tmp_path / "leafward" / "state" / "hooks"
    assert not waiting.exists() or not list(waiting.iterdir())
    # Nobody can review hooks here, which doctor says.
    assert [text for text in problems(ours) if "reviewed" not in text] == []


@needs_opencode
def test_a_sub_agent_of_opencode_carries_its_own_text_over_its_compaction(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder whose name has blanks and letters of other scripts, behind a link."""
    chat = scripted_model._chat

    def counted(model: str, made: Step) -> Iterator[dict[str, Any]]:
        for chunk in chat(model, made):
            used = {"prompt_tokens": made.counted, "completion_tokens": 0, "total_tokens": made.counted}
            yield {**chunk, "usage": used} if "usage" in chunk and made.counted == LARGE else chunk

    monkeypatch.setattr(scripted_model, "_chat", counted)

    def ran(number: int, size: int = 100) -> Step:
        return Step(calls=(("bash", {"command": f"echo {number}", "description": "x"}),), counted=size)

    helper = {"description": "look", "prompt": "HELPER: count pears.txt", "subagent_type": "general"}
    script = {
        "ummar": [Step(SUMMARY)],
        "ORDER": [Step(calls=(("task", helper),)), Step("Done.")],
        "HELPER": [ran(1), ran(2, LARGE), Step("Counted.")],
        "Continue if you have": [ran(3), Step("Counted all.")],
    }
    real = tmp_path / "Obst 'garten' \u00e4 \u6a39"
    real.mkdir()
    (tmp_path / "a link").symlink_to(real)
    project = tmp_path / "a link"

    @dataclass(frozen=True, slots=True)
    class Client(OpenCodeClient):
        def environment(self, folder: Path) -> dict[str, str]:
            return {**OpenCodeClient.environment(self, folder), **environment}

    with scripted(script) as model:
        client = Client(installed_agents.OPENCODE[0], tmp_path / "home", model, compacts=True)
        ours = client.environment(project)
        session = client.ask(project, "Hello, never push to main.").session
        leafward(ours, "install", "opencode")
        since = len(model.requests)
        client.ask(project, "ORDER: look at all", "-s", session)
        helpers = [body for body in model.main(since) if any(SUMMARY in text for text in texts(body))]
        own = [body for body in model.main(since) if any("ORDER" in text for text in texts(body))]
    with closing(sqlite3.connect(client.database)) as base:
        ((child,),) = base.execute("SELECT id FROM session WHERE parent_id = ?", (session,)).fetchall()
    path = client.database / child
    with closing(agent_of(path).open(path)) as opened:
        parent = opened.columns.parent[opened.columns.kind.index(Kind.COMPACTION)]
    text = leafward(ours, "inject", str(path), "--at", f"#{parent}")
    assert "echo 2" in text
    assert helpers
    assert [(held(body, text), marks(body)) for body in helpers] == [(1, 1)] * len(helpers)
    assert [marks(body) for body in own] == [0, 0]
    assert problems(ours) == []
