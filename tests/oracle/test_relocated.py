"""After `leafward relocate` every real agent finds its session in the new folder by itself, and goes on in it.

Each agent works in a folder, the folder is renamed, and the agent is asked to go on with the latest session in the folder
that it has now; Codex after its session was named once. Runs for the agents that are named in the environment.
"""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.registry import agent_named
from leafward.base.config import Config
from leafward.branches.relocation import RelocationOutcome, moved_sessions, relocate
from leafward.catalogue.listing import Catalogue
from tests.oracle.codex import Codex, Script, endpoint
from tests.oracle.installed_agents import (
    CODEX,
    PI,
    each_claude,
    each_opencode,
    needs_claude,
    needs_codex,
    needs_opencode,
    needs_pi,
)
from tests.oracle.real_agents import ClaudeClient, OpenCodeClient
from tests.oracle.resume import find_node, model, surroundings
from tests.oracle.scripted_model import Step, scripted
from tests.pi_file import conversation
from tests.untouched import contents

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from leafward.branches.relocation import Relocation

FIRST, NEXT = "Count the pears", "And the apples?"
REPLY = "Seven pears."


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """The folder before it is renamed, and after."""
    old = tmp_path / "orchard"
    old.mkdir()
    return old, tmp_path / "grove"


def relocated(agent: str, old: Path, new: Path, env: Mapping[str, str]) -> Iterator[Relocation]:
    """Outcome for the sessions of one agent."""
    catalogue = Catalogue(Config(), env=env)
    catalogue.refresh()
    mine = [card for card in catalogue.cards() if card.agent == agent]
    yield from relocate(moved_sessions(mine, str(old), str(new)), Config(), env, write=True)


def once(agent: str, old: Path, new: Path, env: Mapping[str, str], store: Path) -> Relocation:
    """Renames the folder and relocates its only session, twice; the second time nothing is made."""
    old.rename(new)
    before = {name: held for name, held in contents(store).items() if name.endswith(".jsonl")}
    (made,) = relocated(agent, old, new, env)
    assert made.outcome is RelocationOutcome.MADE, made.reason
    assert {name: contents(store)[name] for name in before} == before
    (again,) = relocated(agent, old, new, env)
    assert (again.outcome, again.path) == (RelocationOutcome.THERE, made.path)
    return made


def assert_goes_on(request: Any) -> None:
    """A request holds what was said before the folder was renamed, and then what is asked now."""
    text = json.dumps(request)
    assert text.index(FIRST) < text.index(REPLY) < text.index(NEXT)


@needs_claude
@each_claude
def test_claude_code_continues_in_the_new_folder(
    program: str, tmp_path: Path, folders: tuple[Path, Path]
) -> None:
    old, new = folders
    with scripted({FIRST: [Step(REPLY)]}) as scripted_model:
        client = ClaudeClient(program, tmp_path / "home", scripted_model, tmp_path / "home" / ".claude")
        client.home.mkdir()
        client.ask(old, FIRST)
        made = once("claude", old, new, client.environment(), client.config)
        asked = client.ask(new, NEXT, "--continue")
        assert_goes_on(asked.first["messages"])
    assert made.draft is not None
    assert asked.session == made.draft.id


@needs_opencode
@each_opencode
def test_opencode_continues_in_the_new_folder(
    program: str, tmp_path: Path, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = folders
    shims = tmp_path / "bin"
    shims.mkdir()
    (shims / "opencode").symlink_to(program)
    monkeypatch.setenv("PATH", f"{shims}{os.pathsep}{os.environ['PATH']}")
    with scripted({FIRST: [Step(REPLY)]}) as scripted_model:
        client = OpenCodeClient(program, tmp_path / "home", scripted_model)
        client.home.mkdir()
        client.ask(old, FIRST)
        env = {name: value for name, value in client.environment(new).items() if name != "PWD"}
        made = once("opencode", old, new, env, client.home)
        asked = client.ask(new, NEXT, "--continue")
        assert_goes_on(asked.first["messages"])
    assert made.draft is not None
    assert asked.session == made.draft.id
    assert not list((tmp_path / "home").rglob("imports/*.json"))


@needs_codex
def test_codex_continues_in_the_new_folder(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    old, new = folders
    script = Script()
    codex = Codex(tmp_path / "home" / ".codex", old, script, CODEX)
    with endpoint(script) as url:
        codex.configure(url)
        codex.run(FIRST)
        env = {"CODEX_HOME": str(codex.home), "HOME": str(codex.home.parent)}
        made = once("codex", old, new, env, codex.home)
        assert made.draft is not None
        # Codex keeps an index of its own, in which a file that it did not write stands once it was named.
        (sent, *_) = codex.run("resume", made.draft.id, NEXT, folder=new)
        (later, *_) = codex.run("resume", "--last", "And the plums?", folder=new)
    text = json.dumps(sent["input"])
    assert text.index(FIRST) < text.index("Understood. (") < text.index(NEXT)
    assert NEXT in json.dumps(later["input"])
    assert NEXT in made.draft.path.read_text("utf-8"), "it went on in the new session"
    with closing(agent_named("codex").open(made.draft.path)) as session:
        assert session.cwd == str(new)


@needs_pi
def test_pi_continues_in_the_new_folder(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    old, new = folders
    node = find_node()
    assert node is not None
    assert PI is not None
    with model() as (url, requests):
        stub = conversation(tmp_path / "unused.jsonl").path
        _, _, env = surroundings(tmp_path / "scratch", stub, url)
        store = tmp_path / "scratch" / "home" / "agent"

        def ask(folder: Path, *arguments: str) -> None:
            command = [node, f"{PI}/dist/bundle/cli.js", *arguments]
            subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True, timeout=120)

        ask(old, "-p", FIRST)
        made = once("pi", old, new, env, store)
        ask(new, "--continue", "-p", NEXT)
    text = json.dumps(requests[-1]["messages"])
    assert text.index(FIRST) < text.index("Understood.") < text.index(NEXT)
    assert made.draft is not None
    assert NEXT in made.draft.path.read_text("utf-8"), "it went on in the new session"
