"""The real Claude Code, resuming what Leafward forked, sends what it sent from the source.

Runs where ``LEAFWARD_CLAUDE`` names the program, or several with colons between them; skipped elsewhere.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents import agent_named
from leafward.entries import Kind
from leafward.forking import cuts
from tests.claude_transcript import Pieces, agree, joined, opened, projected
from tests.oracle.forked import differences, fork, programs, prompts, seal
from tests.oracle.real_agents import Asked, ClaudeClient
from tests.oracle.scripted_model import Model, Step, scripted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.foreign import ForeignSession

PROGRAMS = programs("LEAFWARD_CLAUDE")
CORPORA = Path(__file__).parents[2].parent / "shared" / "corpora" / "claude"
NEW = "And what comes after that?"

pytestmark = [
    pytest.mark.skipif(not PROGRAMS, reason="LEAFWARD_CLAUDE names no program"),
    pytest.mark.parametrize("program", PROGRAMS or ["claude"]),
]


@dataclass(frozen=True, slots=True)
class Yard:
    """A project, a home and a model for one test."""

    client: ClaudeClient
    project: Path
    model: Model

    @property
    def folder(self) -> Path:
        """Where the transcripts of the project lie."""
        return self.client.config / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(self.project))

    def opened(self, session: str) -> ForeignSession:
        return opened(self.folder / f"{session}.jsonl")

    def resumed(self, made: Any, prompt: str) -> Asked:
        """What a fork sends for a prompt, resumed as its draft says."""
        resume = made.draft.resume
        assert resume.argv[0] == "claude"
        return self.client.ask(Path(resume.cwd), prompt, *resume.argv[1:])


@pytest.fixture
def yard(program: str, tmp_path: Path) -> Iterator[Yard]:
    project, home = tmp_path / "orchard", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    for name in ("apples", "pears", "plums"):
        (project / f"{name}.txt").write_text(f"{name}\n" * 3, encoding="utf-8")
    with scripted(script(project)) as model:
        yield Yard(ClaudeClient(program, home, model, home / ".claude"), project, model)


def script(project: Path) -> dict[str, list[Step]]:
    """What the model does at each prompt."""

    def read(name: str) -> tuple[str, dict[str, Any]]:
        return "Read", {"file_path": str(project / f"{name}.txt")}

    write = "Write", {"file_path": str(project / "list.md"), "content": "- apples\n- pears\n"}
    agent = "Agent", {"description": "look", "prompt": "HELPER: count the files", "subagent_type": "general-purpose"}
    failing = "Bash", {"command": "ls nowhere", "description": "look"}
    return {
        "HELPER": [Step("", (("Bash", {"command": "ls", "description": "list"}),)), Step("Three files.")],
        "Compare": [
            Step("All three at once.", (read("apples"), read("pears"), read("plums")), "Which are alike?"),
            Step("", (failing, read("pears"))),
            Step("They differ."),
        ],
        "Write the list": [Step("Now.", (write,)), Step("The list is written.")],
        "Ask a helper": [Step("I send one.", (agent,)), Step("The helper says three.")],
        "detailed summary": [Step("<analysis>long</analysis>\n<summary>\n1. Fruit was compared.\n</summary>")],
        "Thank": [Step("You are welcome.", (), "Polite.")],
    }


def made(yard: Yard, *said: str) -> tuple[str, dict[str, Asked]]:
    """A session of the real client with these prompts; what was sent for each."""
    session, sent = "", dict[str, Asked]()
    for prompt in said:
        resume = ("--resume", session) if session else ()
        command = prompt.startswith("/")
        asked = yard.client.ask(yard.project, prompt, *resume, fails=command)
        session = asked.session or session
        if not command:
            sent[prompt] = asked
    return session, sent


SESSIONS = {
    "plain": ("Hello there", "Compare the fruit", "Write the list down", "Thank you"),
    "helper": ("Ask a helper for it", "Compare the fruit", "Thank you"),
    "compacted": (
        "Compare the fruit",
        "Write the list down",
        "/compact",
        "Thank you",
        "Ask a helper for it",
        "/compact",
        "Hello there",
        "Good night",
    ),
}


@pytest.mark.parametrize("name", SESSIONS)
def test_before_each_prompt_the_fork_sends_what_the_source_sent(yard: Yard, name: str) -> None:
    session, sent = made(yard, *SESSIONS[name])
    source = yard.folder / f"{session}.jsonl"
    before = seal(source)
    opened_source = yard.opened(session)
    places = prompts(opened_source)
    told = {prompt: asked for prompt, asked in list(sent.items())[1:]}
    assert told.keys() <= places.keys()
    for prompt, asked in told.items():
        new = fork(opened_source, places[prompt], yard.client.environment(), to="claude", source="claude")
        assert new.prompt == prompt
        again = yard.resumed(new, prompt)
        assert differences(again.first, asked.first) == [], prompt
        assert seal(source) == before


def pieces(body: dict[str, Any]) -> Pieces:
    """What a request says, as contexts are compared."""
    found: Pieces = []
    for message in body["messages"]:
        side = "assistant" if message["role"] == "assistant" else "user"
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if block["type"] == "text":
                found.append((side, block["text"]))
            elif block["type"] == "tool_use":
                found.append(("call", block["id"]))
            elif block["type"] == "tool_result":
                inner = block["content"]
                text = inner if isinstance(inner, str) else "".join(one.get("text", "") for one in inner)
                found += [("result", block["tool_use_id"]), ("user", text)]
    return joined(found)
