"""The plan that the real Claude Code keeps item by item (since 2.1) is the plan that Leafward reads of its session.

It makes items in one reply, changes, deletes and renames them, with an id that is not there and a state that is none, and goes
on behind a compaction with their ids alone. Runs where ``LEAFWARD_CLAUDE`` names the program; ``../data/claude/2.1.332`` was
recorded like this, without what the agent puts in by itself.
"""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

from leafward.agents.recognition import agent_of
from leafward.session.entries import Kind
from leafward.session.messages import message_in
from leafward.summaries.facts.reader import FactReader
from tests.oracle.installed_agents import each_claude, needs_claude
from tests.oracle.real_agents import ClaudeClient
from tests.oracle.scripted_model import Call, Step, scripted

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session


pytestmark = [needs_claude, each_claude]


class Planning(ClaudeClient):
    """Claude Code with its tools for tasks, which newer versions offer to some models alone."""

    __slots__ = ()

    def environment(self) -> dict[str, str]:
        """The same with these tools switched on."""
        switches = {"CLAUDE_CODE_ENABLE_TASKS": "1", "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"}
        return {**ClaudeClient.environment(self), **switches}


def made(subject: str) -> Call:
    return "TaskCreate", {"subject": subject, "description": f"{subject}, all", "activeForm": "Working"}


def changed(key: str, **given: Any) -> Call:
    return "TaskUpdate", {"taskId": key, **given}


LIST: Call = ("TaskList", {})
BEGUN = [
    Step("", (made("Write the rows"), made("Count the rows"), made("Tell the growers"), made("Paint it"))),
    Step("", (changed("2", addBlockedBy=["1"]), changed("1", status="in_progress"))),
    Step("", (changed("1", status="completed"), changed("9", status="completed"))),
    Step("", (changed("4", status="deleted"), changed("3", status="done"))),
    Step("", (LIST,)),
    Step("The rows are written."),
]
WENT_ON = [
    Step("", (changed("2", status="completed"), changed("3", subject="Tell the growers and the press"))),
    Step("", (LIST, ("TaskGet", {"taskId": "3"}))),
    Step("There are three rows."),
]
SUMMARY = "<summary>\n1. Rows were written and are to be counted.\n</summary>"


def plan_of(session: Session) -> dict[str, tuple[str, bool]]:
    """The list behind the last message, read from the first one on; what the agent's own list prints is left out."""
    reader = FactReader(session.cwd)
    for entry, body in session.bodies(session.tree.path(session.leaf)):
        message = message_in(body or {})
        if session.columns.kind[entry] == Kind.ASSISTANT or (
            session.columns.kind[entry] == Kind.TOOL_RESULT and message.get("toolName") != "TaskList"
        ):
            reader.read(entry, message)
    return {key: (item.text, item.is_open) for key, item in sorted(reader.plan.items.items())}


def own_list(path: Path) -> dict[str, tuple[str, bool]]:
    """The list as the agent stored it beside the result of its last look."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    told = [row["toolUseResult"] for row in rows if isinstance(row.get("toolUseResult"), dict)]
    tasks = [one["tasks"] for one in told if "tasks" in one][-1]
    return {one["id"]: (one["subject"], one["status"] != "completed") for one in tasks}


def test_the_plan_is_what_the_agent_says_it_is(program: str, tmp_path: Path) -> None:
    project, home = tmp_path / "orchard", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    steps = {"Count them": WENT_ON, "Prune the orchard": BEGUN, "detailed summary": [Step(SUMMARY)]}
    with scripted(steps) as model:
        client = Planning(program, home, model, home / ".claude")
        first = client.ask(project, "Prune the orchard.")
        (path,) = (home / ".claude" / "projects").rglob(f"{first.session}.jsonl")
        with closing(agent_of(path).open(path)) as session:
            begun = plan_of(session)
        assert begun == own_list(path)
        # Which of the calls made together gets which id is chance.
        assert [is_open for _, is_open in begun.values()] == [False, True, True]
        client.ask(project, "/compact", "--resume", first.session, fails=True)
        client.ask(project, "Count them.", "--resume", first.session)
    with closing(agent_of(path).open(path)) as session:
        assert Kind.COMPACTION in session.columns.kind
        ended = plan_of(session)
    assert ended == own_list(path)
    assert ended == {
        "1": begun["1"],
        "2": (begun["2"][0], False),
        "3": ("Tell the growers and the press", True),
    }
