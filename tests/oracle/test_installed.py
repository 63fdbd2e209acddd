"""`leafward install` with the real agents: after a compaction of theirs the model sees the text once.

Runs where `LEAFWARD_CLAUDE`, `LEAFWARD_CODEX`, `LEAFWARD_PI` and `LEAFWARD_OPENCODE` name the agents.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
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
from tests.oracle.open_pi import OpenPi, running
from tests.oracle.orchard import planted
from tests.oracle.real_agents import ClaudeClient, OpenCodeClient
from tests.oracle.responses_model import ResponsesModel, answering, compacting
from tests.oracle.scripted_model import Step, scripted
from tests.oracle.sweep_agents import CLAUDE, MOVE, OPENCODE, PI, SUMMARY, newest, painted, steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROMPT = "Look at the orchard, never push to main."
AFTER = "Go on with the pears."
NO_COPY = "leave all of it out of the summary"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    # In a second worktree the Leafward that is tested is not the installed one.
    ours = {name: value for name, value in os.environ.items() if name == "PYTHONPATH"}
    return {"LEAFWARD_HOME": str(tmp_path / "leafward"), **ours}


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


def said_in(request: dict[str, Any]) -> Any:
    """The messages of a request, of the Responses API too."""
    return request["messages"] if "messages" in request else request["input"]


def held(request: dict[str, Any], text: str) -> int:
    """How often a request holds a text, byte for byte."""
    return sum(one.count(text) for one in texts(said_in(request)))


def marks(request: dict[str, Any]) -> int:
    return sum(one.count("</leafward-context>") for one in texts(said_in(request)))


@pytest.mark.slow
@needs_claude
def test_claude_code_carries_the_text_over_its_own_compaction(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    program = installed_agents.CLAUDE[0]
    project, home = painted(tmp_path / "orchard"), tmp_path / "home"
    config = home / ".claude"
    config.mkdir(parents=True)
    settings = config / "settings.json"
    before = b'\xef\xbb\xbf{\n    "env": {"A":"1"},\n    "hooks": {"PreCompact": []}\n}\n'
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
        # The model that sums this up is told not to copy the text.
        since = len(model.requests)
        client.ask(project, "/compact", "--resume", session, fails=True)
        assert sum(one.count(NO_COPY) for one in texts(model.requests[since]["messages"])) == 1
        assert marks(client.ask(project, AFTER, "--resume", session).first) == 1
        leafward(ours, "uninstall", "claude")
        assert settings.read_bytes() == before
        client.ask(project, "/compact", "--resume", session, fails=True)
        assert marks(client.ask(project, AFTER, "--resume", session).first) == 0


@pytest.mark.slow
@needs_codex
def test_codex_carries_the_text_over_its_own_compaction(tmp_path: Path, environment: dict[str, str]) -> None:
    program = CODEX
    project, home = planted(tmp_path / 'Ada\'s "orchard"'), tmp_path / "home" / ".codex"
    home.mkdir(parents=True)
    # Above 10,000 bytes: so much Codex passes on whole by itself.
    anchors = (f'[[anchors]]\ncontent = "{"樹" * 200}{number}"\npriority = "high"\n' for number in range(90))
    (project / ".leafward").mkdir()
    (project / ".leafward" / "governance.toml").write_text("\n".join(anchors))
    model = ResponsesModel({"orchard": [], "Fill": [], "Go on": []}, {"Fill"})
    with answering(model):
        (home / "config.toml").write_text(compacting(model, project), "utf-8")
        ours = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "CODEX_HOME": str(home)}
        ours |= {"PWD": str(project), **environment}

        def asked(*arguments: str) -> dict[str, Any]:
            # Who uses it reviews the hooks once; here nobody can.
            argv = [program, "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", *arguments]
            quiet = subprocess.DEVNULL
            subprocess.run(argv, cwd=project, env=ours, stdin=quiet, capture_output=True, check=True)
            return model.exchanges[-1].request

        leafward(ours, "install", "codex")
        asked(PROMPT)
        (path,) = (home / "sessions").rglob("*.jsonl")
        asked("resume", path.stem[-36:], "Fill the window")
        text = leafward(ours, "inject", str(path))
        assert len(text.encode()) > 11_000
        sent = asked("resume", path.stem[-36:], AFTER)
        assert sum(one.compacts for one in model.exchanges) == 1
        assert (held(sent, text), marks(sent)) == (1, 1)
        for installed in (1, 0):
            if not installed:
                leafward(ours, "uninstall", "codex")
                assert not (home / "hooks.json").exists()
            model.large.add("Fill")
            asked("resume", path.stem[-36:], "Fill the window")
            assert marks(asked("resume", path.stem[-36:], AFTER)) == installed
            # The model that summed this up was told not to copy the text.
            summed_up = [one.request for one in model.exchanges if one.compacts][-1]
            assert sum(one.count(NO_COPY) for one in texts(summed_up["input"])) == 1
        assert sum(one.compacts for one in model.exchanges) == 3


@pytest.mark.slow
@needs_opencode
def test_opencode_carries_the_text_over_its_own_compaction(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    program = installed_agents.OPENCODE[0]
    project, home = painted(tmp_path / "orchard"), tmp_path / "home"
    plugins = home / "config" / "opencode" / "plugin"
    plugins.mkdir(parents=True)
    # Another plugin adds to the prompt of a compaction: that stays.
    (plugins / "other.js").write_text(
        "export const Other = async () => ({ 'experimental.session.compacting':"
        " async (_input, output) => { output.context.push('Mind the bees.') } })"
    )
    with scripted({"ummar": [Step(SUMMARY)], **steps(project, OPENCODE)}) as model:

        @dataclass(frozen=True, slots=True)
        class Client(OpenCodeClient):
            def environment(self, folder: Path) -> dict[str, str]:
                return {**OpenCodeClient.environment(self, folder), **environment}

        client = Client(program, home, model)
        session = client.ask(project, PROMPT).session
        ours = client.environment(project)

        def compacted() -> dict[str, Any]:
            since = len(model.requests)
            with client.serving(project) as post:
                post(f"/session/{session}/summarize", {"providerID": "grove", "modelID": "pear-1"})
            assert any("Mind the bees." in text for text in texts(model.requests[since:]))
            return client.ask(project, AFTER, "-s", session).first

        leafward(ours, "install", "opencode")
        # Before 1.2 a session is a tree of files.
        path = client.database / session
        if not client.database.exists():
            path = next(one for one in home.rglob(f"{session}.json") if one.parent.name != "session_diff")
        text = leafward(ours, "inject", str(path))
        assert "</leafward-context>" in text
        sent = compacted()
        assert (held(sent, text), marks(sent)) == (1, 1)
        assert marks(compacted()) == 1
        leafward(ours, "uninstall", "opencode")
        assert [path.name for path in plugins.iterdir()] == ["other.js"]
        assert marks(compacted()) == 0


@pytest.mark.slow
@needs_opencode
def test_opencode_asks_for_a_session_that_is_taken_up_again(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    project, home = painted(tmp_path / "orchard"), tmp_path / "home"
    asked = tmp_path / "asked"
    with scripted(steps(project, OPENCODE)) as model:
        client = OpenCodeClient(installed_agents.OPENCODE[0], home, model)
        leafward({**client.environment(project), **environment}, "install", "opencode")
        (plugin,) = (home / "config" / "opencode" / "plugin").iterdir()
        script = plugin.read_text()
        ours = next(line for line in script.splitlines() if line.startswith("const command = "))
        other = json.dumps(["/bin/sh", "-c", f"cat >> '{asked}'; echo >> '{asked}'"])
        plugin.write_text(script.replace(ours, f"const command = {other};"))

        def say(post: Callable[[str, dict[str, Any] | None], Any], session: str, text: str) -> None:
            grove = {"providerID": "grove", "modelID": "pear-1"}
            post(f"/session/{session}/message", {"model": grove, "parts": [{"type": "text", "text": text}]})

        with client.serving(project) as post:
            session = post("/session", {})["id"]
            say(post, session, PROMPT)
        assert not asked.exists()
        with client.serving(project) as post:
            say(post, session, AFTER)
            say(post, session, AFTER)
    assert [json.loads(line) for line in asked.read_text().splitlines()] == [
        {"session": session, "wanted": "resumed"}
    ]


@pytest.mark.slow
@needs_pi
def test_pi_carries_the_text_over_its_own_compaction(tmp_path: Path, environment: dict[str, str]) -> None:
    package, node = Path(installed_agents.PI), NODE
    project, home = painted(tmp_path / "orchard"), tmp_path / "home"
    with scripted({"ummar": [Step(SUMMARY)], **steps(project, PI)}) as model:
        ours = pi_surroundings(home, model.url) | environment

        @contextmanager
        def open_(path: Path | None, *options: str) -> Iterator[OpenPi]:
            named = [*options, *(["--session", str(path)] if path is not None else [])]
            argv = [node, str(package / "dist" / "bundle" / "cli.js"), "--mode", "rpc", *named]
            with running(argv, project, ours) as process:
                yield OpenPi(process, Path(), model.requests)

        def prompted(pi: OpenPi, text: str) -> dict[str, Any]:
            return {"messages": pi.say(text)}

        with open_(None) as pi:
            for number in range(3):
                prompted(pi, f"{PROMPT} {number} " + "leaves and branches " * 40)
        (path,) = home.rglob("*.jsonl")
        leafward(ours, "install", "pi")
        assert list(home.rglob("leafward-context.js"))
        text = leafward(ours, "inject", str(path))
        assert "</leafward-context>" in text
        with open_(path) as pi:
            pi.command("compact")
            sent = prompted(pi, AFTER + " and more of it" * 80)
            assert (held(sent, text), marks(sent)) == (1, 1)
            pi.command("compact")
            assert marks(prompted(pi, AFTER)) == 1
        # A compaction of ours with the text in its summary, which keeps the message with the earlier one.
        told = [
            one for one in map(json.loads, path.read_text().splitlines()) if one["type"] == "custom_message"
        ]
        kept = "--cut", told[-1]["id"], "--larger", "--accept-loss"
        leafward(ours, "compact", str(path), "--inject", *kept)
        with open_(path) as pi:
            sent = prompted(pi, AFTER)
            assert (marks(sent), held(sent, told[-1]["content"])) == (1, 0)
        leafward(ours, "install", "pi", "--summary")
        asked = len(model.requests)
        with open_(path) as pi:
            prompted(pi, "Never push to main." + " Go on with the plums." * 80)
            prompted(pi, AFTER + " and more of it" * 80)
            pi.command("compact")
            assert len(model.requests) == asked + 2, "the summary was made without the model"
            sent = prompted(pi, AFTER)
            assert marks(sent) == 1
        made = [one for one in map(json.loads, path.read_text().splitlines()) if one["type"] == "compaction"][
            -1
        ]
        assert made["fromHook"]
        assert "Never push to main." in made["summary"]
        assert held(sent, made["summary"]) == 1
        # pi's own move in its tree, with a summary by the model, then with one of ours.
        move = tmp_path / "move.js"
        move.write_text(MOVE, "utf-8")
        kinds = [json.loads(line) for line in path.read_text().splitlines()]
        target = next(one["id"] for one in kinds if one.get("message", {}).get("role") == "user")
        for options in ((), ("--summary",)):
            leafward(ours, "uninstall", "pi")
            leafward(ours, "install", "pi", *options)
            text, asked = leafward(ours, "inject", str(path)), len(model.requests)
            with open_(path, "--extension", str(move)) as pi:
                pi.command("prompt", message=f"/go {target}")
                sent = prompted(pi, AFTER)
            assert (held(sent, text), marks(sent)) == (1, 1)
            assert len(model.requests) == asked + (1 if options else 2)
        leafward(ours, "uninstall", "pi")
        with open_(path, "--extension", str(move)) as pi:
            pi.command("prompt", message=f"/go {target}")
            assert marks(prompted(pi, AFTER)) == 0
        assert not (home / "agent" / "extensions").exists()
