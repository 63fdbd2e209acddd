"""Sessions that providers refuse, healed: the real agents build a request of each that keeps every rule.

The endpoint is strict: it answers what breaks a rule as the provider does. Of each shape as it is, Claude Code is asked as
well: where it repairs a shape itself, that is said in `REPAIRED`. Runs for the agents that are named in the environment.
"""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from leafward.agents.fork_draft import ForkTerms
from leafward.agents.registry import agent_named
from leafward.base.config import Config
from leafward.branches import fork as forking
from leafward.branches.healing.healing import healing, new_session
from tests.acting import Acting, call
from tests.broken_shapes import END, SHAPES, written
from tests.claude_transcript import Transcript
from tests.codex_rollout import Rollout
from tests.oracle.codex import Codex, Script, endpoint
from tests.oracle.forked import seal
from tests.oracle.installed_agents import (
    CODEX,
    OPENCODE,
    PI,
    each_claude,
    needs_claude,
    needs_codex,
    needs_opencode,
    needs_pi,
)
from tests.oracle.provider_rules import chat_errors, messages_errors, responses_errors
from tests.oracle.real_agents import ClaudeClient, OpenCodeClient
from tests.oracle.resume import find_node, model, surroundings
from tests.oracle.scripted_model import scripted
from tests.pi_file import HEADER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from leafward.agents.fork_draft import ForkDraft

REPAIRED = frozenset(SHAPES) - {
    *("wide_image", "wide_jpeg", "many_images", "broken_image", "mistyped_image", "unknown_image"),
    *("locked_document", "no_document"),
    *("unnamed_tool", "foreign_ids", "shapeless_arguments", "unsigned_thinking"),
}
"""Shapes that Claude Code 2.1.330 repairs by itself before it sends them."""


def made(agent: str, path: Path, env: Mapping[str, str], cwd: Path) -> ForkDraft:
    """The healed session of a file, written where its agent finds it."""
    with closing(agent_named(agent).open(path)) as session:
        terms = ForkTerms(env, Config(), datetime.now(UTC), cwd=str(cwd))
        draft = new_session(session, healing(session), terms)
        forking.store(session, draft)
    return draft


def placed(name: str, client: ClaudeClient, project: Path) -> Transcript:
    """A shape where Claude Code looks for the sessions of a project."""
    folder = f"projects/{re.sub(r'[^A-Za-z0-9]', '-', str(project))}"
    file = Transcript(client.config, folder=folder)
    file.defaults = {"cwd": str(project), "userType": "external", "version": "2.1.330"}
    SHAPES[name][0](file)
    return file


@needs_claude
@each_claude
@pytest.mark.parametrize("name", SHAPES)
def test_claude_code_goes_on_in_each_healed_shape(program: str, name: str, tmp_path: Path) -> None:
    project = tmp_path / "orchard"
    project.mkdir()
    with scripted({}, strict=True) as answers:
        client = ClaudeClient(program, tmp_path / "home", answers, tmp_path / "home" / ".claude")
        client.home.mkdir()
        file = placed(name, client, project)
        before = seal(file.path)
        draft = made("claude", file.path, client.environment(), project)
        assert seal(file.path) == before
        asked = client.ask(project, END, *draft.resume.argv[1:])
        assert answers.refused == []
        assert messages_errors(asked.first) == []
        assert END in json.dumps(asked.first["messages"][-1])
        client.ask(project, END, "--resume", file.session, fails=True)
        assert bool(answers.refused) == (name not in REPAIRED), answers.refused


@needs_codex
def test_codex_goes_on_in_a_healed_thread(tmp_path: Path) -> None:
    script = Script()
    codex = Codex(tmp_path / "home" / ".codex", tmp_path / "orchard", script, CODEX)
    rollout = Rollout(codex.home)
    rollout.turn("count the pears", "Seven.")
    rollout.item("function_call_output", call_id="lost", output="7")
    rollout.item("function_call", call_id="open", name="shell_command", arguments="{}")
    rollout.item("function_call", call_id="named", name="functions.exec\0", arguments='{"cmd": "ls')
    rollout.item("function_call_output", call_id="named", output="unsupported call")
    rollout.turn("never mind", "All right.")
    with endpoint(script) as url:
        codex.configure(url)
        env = {"CODEX_HOME": str(codex.home), "HOME": str(codex.home.parent)}
        draft = made("codex", rollout.path, env, codex.folder)
        (sent, *_) = codex.resume(draft.id, END)
    assert responses_errors(sent) == []
    text = json.dumps(sent["input"])
    assert text.index("Seven.") < text.index("All right.") < text.index(END)


@needs_pi
def test_pi_goes_on_in_a_healed_session(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    file.user("count the pears")
    file.answered("lost", "bash")
    file.said("let me look", call("bash", "open", command="ls pears"))
    file.user("never mind")
    file.said("All right.")
    draft = made(
        "pi", file.path, {"PI_CODING_AGENT_DIR": str(tmp_path / "agent"), "HOME": str(tmp_path)}, tmp_path
    )
    text = sent_by_pi(draft.path, tmp_path / "scratch")
    assert text.index("let me look") < text.index("All right.") < text.index(END)


@needs_pi
def test_pi_leaves_out_what_stands_before_a_gap_and_the_healed_session_does_not(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    file.user("count the pears")
    file.said("Seven.")
    file.user("and the plums", "never written")
    file.said("Two.")
    draft = made(
        "pi", file.path, {"PI_CODING_AGENT_DIR": str(tmp_path / "agent"), "HOME": str(tmp_path)}, tmp_path
    )
    assert "Seven." not in sent_by_pi(file.path, tmp_path / "before")
    text = sent_by_pi(draft.path, tmp_path / "after")
    assert text.index("Seven.") < text.index("Two.") < text.index(END)


def sent_by_pi(session: Path, scratch: Path) -> str:
    """The messages that pi sends where it goes on in a copy of a session; they keep every rule."""
    assert PI is not None
    with model() as (url, requests):
        copy, cwd, env = surroundings(scratch, session, url)
        command = [str(find_node()), f"{PI}/dist/bundle/cli.js", "-p", "--session", str(copy), "--", END]
        subprocess.run(command, cwd=cwd, env=env, check=True, capture_output=True, timeout=200)
    assert chat_errors(requests[0]) == []
    return json.dumps(requests[0]["messages"])


@needs_opencode
@pytest.mark.parametrize("name", sorted(SHAPES))
def test_opencode_goes_on_in_a_healed_conversation(name: str, tmp_path: Path) -> None:
    """A shape of Claude Code's, healed as a session of opencode: what is written is the same for its own."""
    project = tmp_path / "orchard"
    project.mkdir()
    source = written(name, tmp_path / ".claude").path
    with scripted({}, strict=True) as answers:
        client = OpenCodeClient(OPENCODE[0], tmp_path / "home", answers)
        client.home.mkdir()
        client.ask(project, "begin")
        with closing(agent_named("claude").open(source)) as session:
            terms = ForkTerms(client.environment(project), Config(), datetime.now(UTC), cwd=str(project))
            draft = new_session(session, healing(session), terms, agent_named("opencode"))
            forking.store(session, draft)
        assert draft.imported is not None
        ran = client.run(project, *draft.imported.command.argv[1:])
        assert ran.returncode == 0, ran.stderr
        asked = client.ask(project, END, *draft.resume.argv[1:])
    assert answers.refused == []
    assert chat_errors(asked.first) == []
