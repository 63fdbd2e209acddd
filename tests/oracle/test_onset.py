"""Where opencode, pi and Codex compact by themselves, by limits in their own settings: at the size that Leafward tells."""

from __future__ import annotations

import json
import os
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.model_window import context_window
from leafward.agents.recognition import agent_of
from leafward.base.config import Config
from leafward.compaction.plan.onset import Onset, onset
from leafward.context.model_context import context_at
from tests.oracle import installed_agents, scripted_model
from tests.oracle.codex import Codex, Script, endpoint
from tests.oracle.installed_agents import CODEX, NODE, needs_codex, needs_opencode, needs_pi, pi_surroundings
from tests.oracle.open_pi import OpenPi, running
from tests.oracle.real_agents import OpenCodeClient
from tests.oracle.scripted_model import Model, Step, scripted

if TYPE_CHECKING:
    from collections.abc import Iterator

HELLO = "Hello there."
SUMMARY = "Somebody was greeted."
USED = "Used so many tokens: "
_GROVE: dict[str, Any] = {"id": "grove", "name": "Grove", "env": [], "npm": "@ai-sdk/openai-compatible"}
_PEAR: dict[str, Any] = {
    "id": "pear-1",
    "name": "Pear",
    "release_date": "2026-01-01",
    "attachment": False,
    "reasoning": False,
    "temperature": True,
    "tool_call": True,
}


@pytest.fixture(autouse=True)
def _usage(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply that says how many tokens it used used so many. Requests without tools, as for a title, say nothing of it."""
    chat, step = scripted_model._chat, Model.step

    def used(model: str, made: Step) -> Iterator[dict[str, Any]]:
        for chunk in chat(model, made):
            if made.text.startswith(USED) and "usage" in chunk:
                total = int(made.text.removeprefix(USED))
                usage = {"prompt_tokens": total - 20, "completion_tokens": 20, "total_tokens": total}
                yield {**chunk, "usage": usage}
            else:
                yield chunk

    def answered(model: Model, body: dict[str, Any]) -> Step:
        made = step(model, body)
        return made if body.get("tools") or not made.text.startswith(USED) else Step("A greeting")

    monkeypatch.setattr(scripted_model, "_chat", used)
    monkeypatch.setattr(Model, "step", answered)


def _told(path: Path) -> Onset:
    with closing(agent_of(path).open(path)) as session:
        context = context_at(session)
        found = onset(context, context_window(session, context, Config()), Config())
    assert found is not None
    return found


@pytest.mark.slow
@needs_opencode
@pytest.mark.parametrize(
    ("limit", "reserved", "listed", "size"),
    [
        ({"context": 100_000, "output": 8_000}, None, False, 92_000),
        ({"context": 50_000, "output": 40_000}, None, False, 18_000),
        ({"context": 100_000, "input": 60_000, "output": 8_000}, None, False, 52_000),
        ({"context": 100_000, "input": 60_000, "output": 8_000}, 3_000, False, 57_000),
        ({"context": 100_000, "input": 60_000, "output": 30_000}, None, True, 40_000),
    ],
)
def test_opencode_compacts_at_the_size_that_its_limits_give(
    limit: dict[str, int],
    reserved: int | None,
    listed: bool,
    size: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Limits that its settings give the model, or where it is `listed` the list of models that opencode keeps."""
    models = tmp_path / "models.json"
    models.write_text(json.dumps({"grove": _GROVE | {"models": {"pear-1": _PEAR | {"limit": limit}}}}))
    for total in (size - 1, size):
        project, home = tmp_path / f"project-{total}", tmp_path / f"home-{total}"
        project.mkdir()
        said: dict[str, Any] = (
            {"$schema": ""} if listed else {"provider": {"grove": {"models": {"pear-1": {"limit": limit}}}}}
        )
        said |= {"compaction": {"reserved": reserved}} if reserved is not None else {}
        (project / "opencode.jsonc").write_text(f"// Ours.\n{json.dumps(said)[:-1]},}}")

        @dataclass(frozen=True, slots=True)
        class Client(OpenCodeClient):
            def environment(self, folder: Path) -> dict[str, str]:
                made = OpenCodeClient.environment(self, folder)
                config = json.loads(made["OPENCODE_CONFIG_CONTENT"])
                del config["provider"]["grove"]["models"]["pear-1"]["limit"]
                own = {"OPENCODE_MODELS_PATH": str(models)} if listed else {}
                return {**made, **own, "OPENCODE_CONFIG_CONTENT": json.dumps(config)}

        with scripted({"ummar": [Step(SUMMARY)], HELLO: [Step(f"{USED}{total}")]}) as model:
            client = Client(installed_agents.OPENCODE[0], home, model, compacts=True)
            session = client.ask(project, HELLO).session
            since = len(model.requests)
            client.ask(project, "And now?", "-s", session)
            compacted = any(SUMMARY in json.dumps(body) for body in model.requests[since:])
            assert compacted == (total == size)
        with monkeypatch.context() as patch:
            for name, value in client.environment(project).items():
                patch.setenv(name, value)
            told = _told(client.database / session)
        assert (told.tokens, told.source) == (size, str(models if listed else project / "opencode.jsonc"))


@pytest.mark.slow
@needs_pi
def test_pi_compacts_beyond_the_window_of_its_models_file(tmp_path: Path) -> None:
    size = 100_000 - 7_000
    for total in (size - 200, size + 1):
        home, project = tmp_path / f"home-{total}", tmp_path / f"project-{total}"
        project.mkdir()
        with scripted({"ummar": [Step(SUMMARY)], HELLO: [Step(f"{USED}{total}")]}) as model:
            ours = pi_surroundings(home, model.url)
            settings = home / "agent" / "settings.json"
            said = json.loads(settings.read_text())
            said["compaction"]["modelOverrides"] = {"grove/pear-1": {"reserveTokens": 7_000}}
            settings.write_text(json.dumps(said))
            argv = [NODE, str(Path(installed_agents.PI) / "dist" / "bundle" / "cli.js"), "--mode", "rpc"]
            with running(argv, project, {**os.environ, **ours}) as process:
                pi = OpenPi(process, Path(), model.requests)
                for _ in range(2):
                    pi.say(f"{HELLO} " + "Leaves and branches. " * 40)
            (path,) = home.rglob("*.jsonl")
        told = _told(path)
        assert (told.tokens, told.source) == (size, str(settings))
        assert ('"type":"compaction"' in path.read_text()) == (total > size)


@pytest.mark.slow
@needs_codex
@pytest.mark.parametrize(
    ("own", "project", "size"),
    [
        ("", "", 90_000),
        ("model_post_turn_compact_threshold_percent = 33", "", 31_350),
        (
            "model_post_turn_compact_threshold_percent = 50\nmodel_auto_compact_token_limit = 30000",
            "",
            30_000,
        ),
        ("model_auto_compact_token_limit = 20000", "model_auto_compact_token_limit = 40000", 40_000),
    ],
)
def test_codex_compacts_at_the_size_that_its_configuration_gives(
    own: str, project: str, size: int, tmp_path: Path
) -> None:
    for used in (size - 1, size):
        script = Script(used=used)
        codex = Codex(tmp_path / f"home-{used}" / ".codex", tmp_path / f"project-{used}", script, CODEX)
        with endpoint(script) as url:
            codex.configure(url)
            config = codex.home / "config.toml"
            config.write_text(f"model_context_window = 100000\n{own}\n{config.read_text()}")
            if project:
                (codex.folder / ".codex").mkdir()
                (codex.folder / ".codex" / "config.toml").write_text(project)
            codex.run(HELLO)
            script.used = 110
            codex.run("resume", "--last", "And now?")
        (path,) = codex.rollouts()
        assert _told(path).tokens == size
        assert ('"type":"compacted"' in path.read_text()) == (used == size)
